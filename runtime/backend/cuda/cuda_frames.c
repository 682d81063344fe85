/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cuda/cuda_frames.h"

#include "base/arithmetic.h"

#include <elf.h>
#include <string.h>

enum { WITH_VALUE = 4, FRAME_SIZE = 0x11 }; /* how an attribute is stored; its kind */

struct attribute {
    uint8_t form, kind;
    uint16_t bytes; /* of what follows, if the form is WITH_VALUE */
};

struct frame_size {
    uint32_t symbol, bytes;
};

struct program {
    const uint8_t *at;
    uint64_t bytes;
    Elf64_Ehdr header;
};

/* Copies so many bytes from that distance on.  False: the file is shorter. */
static bool copy_part(const struct program *p, uint64_t from, void *to, uint64_t bytes)
{
    if (from > p->bytes || bytes > p->bytes - from) return false;
    memcpy(to, p->at + from, (size_t)bytes);
    return true;
}

static bool find_frame_section(const struct program *p, uint64_t number, Elf64_Shdr *section)
{
    uint64_t from;
    return number < p->header.e_shnum &&
           !__builtin_add_overflow(p->header.e_shoff, number * sizeof *section, &from) &&
           copy_part(p, from, section, sizeof *section) && section->sh_offset <= p->bytes &&
           section->sh_size <= p->bytes - section->sh_offset;
}

/* The text at that distance in a section of texts; NULL: it does not end there. */
static const char *find_text(const struct program *p, uint64_t section, uint64_t distance)
{
    Elf64_Shdr texts;
    if (!find_frame_section(p, section, &texts) || distance >= texts.sh_size) return NULL;
    const uint8_t *text = p->at + texts.sh_offset + distance;
    return memchr(text, '\0', (size_t)(texts.sh_size - distance)) != NULL ? (const char *)text
                                                                          : NULL;
}

static const char *find_frame_name(const struct program *p, const Elf64_Shdr *symbols,
                                   uint32_t number)
{
    Elf64_Sym symbol;
    if (number >= symbols->sh_size / sizeof symbol) return NULL;
    if (!copy_part(p, symbols->sh_offset + number * sizeof symbol, &symbol, sizeof symbol))
        return NULL;
    return find_text(p, symbols->sh_link, symbol.st_name);
}

static bool add_frame(const struct program *p, const Elf64_Shdr *symbols, uint64_t at,
                      struct prt_cuda_frames *frames)
{
    static const char entry[] = "pipe_k";
    struct frame_size size;
    if (!copy_part(p, at, &size, sizeof size)) return false;
    const char *name = find_frame_name(p, symbols, size.symbol);
    if (name == NULL) return false;
    if (strncmp(name, entry, strlen(entry)) == 0)
        frames->body = max64(frames->body, size.bytes);
    else
        frames->others += size.bytes;
    return true;
}

/* *count: of the functions. */
static bool read_frame_sizes(const struct program *p, const Elf64_Shdr *info,
                             struct prt_cuda_frames *frames, uint64_t *count)
{
    Elf64_Shdr symbols;
    if (!find_frame_section(p, info->sh_link, &symbols)) return false;
    uint64_t at = info->sh_offset, end = at + info->sh_size;
    struct attribute attribute;
    for (; end - at >= sizeof attribute; at += sizeof attribute) {
        if (!copy_part(p, at, &attribute, sizeof attribute)) return false;
        if (attribute.form != WITH_VALUE) continue;
        uint64_t value = at + sizeof attribute;
        if (attribute.bytes > end - value) return false;
        if (attribute.kind == FRAME_SIZE) {
            if (attribute.bytes < sizeof(struct frame_size)) return false;
            if (!add_frame(p, &symbols, value, frames)) return false;
            ++*count;
        }
        at += attribute.bytes;
    }
    return true;
}

bool prt_cuda_frames_read(const void *program, size_t bytes, struct prt_cuda_frames *frames)
{
    struct program p = {.at = program, .bytes = bytes};
    uint64_t count = 0;
    *frames = (struct prt_cuda_frames){.body = 0};
    if (!copy_part(&p, 0, &p.header, sizeof p.header) ||
        memcmp(p.header.e_ident, ELFMAG, SELFMAG) != 0 ||
        p.header.e_ident[EI_CLASS] != ELFCLASS64 || p.header.e_shentsize != sizeof(Elf64_Shdr))
        return false;
    for (uint64_t i = 0; i < p.header.e_shnum; i++) {
        Elf64_Shdr section;
        if (!find_frame_section(&p, i, &section)) continue; /* one without bytes in the file */
        const char *name = find_text(&p, p.header.e_shstrndx, section.sh_name);
        if (name != NULL && strcmp(name, ".nv.info") == 0 &&
            !read_frame_sizes(&p, &section, frames, &count))
            return false;
    }
    return count > 0;
}
