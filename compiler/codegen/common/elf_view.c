/* SPDX-License-Identifier: MIT */
/* elf_view: the contract is in elf_view.h. */
#include "compiler/codegen/common/elf_view.h"

#include <string.h>

/* ---- headers ---- */

static bool lies_inside(const struct elf_view *elf, uint64_t offset, uint64_t size_bytes)
{
    return offset <= elf->size_bytes && size_bytes <= elf->size_bytes - offset;
}

bool elf_view_open(const unsigned char *bytes, size_t size_bytes, struct elf_view *elf)
{
    *elf = (struct elf_view){.bytes = bytes, .size_bytes = size_bytes};
    if (size_bytes < sizeof elf->header) return false;
    memcpy(&elf->header, bytes, sizeof elf->header);
    const Elf64_Ehdr *h = &elf->header;
    return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
           h->e_ident[EI_DATA] == ELFDATA2LSB &&
           (h->e_shnum == 0 || h->e_shentsize == sizeof(Elf64_Shdr)) &&
           (h->e_phnum == 0 || h->e_phentsize == sizeof(Elf64_Phdr)) &&
           lies_inside(elf, h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr)) &&
           lies_inside(elf, h->e_phoff, (uint64_t)h->e_phnum * sizeof(Elf64_Phdr));
}

/* False: there is no such section, or its bytes are not in the file. */
static bool section_at(const struct elf_view *elf, uint32_t index, Elf64_Shdr *section)
{
    if (index >= elf->header.e_shnum) return false;
    memcpy(section, elf->bytes + elf->header.e_shoff + index * sizeof *section, sizeof *section);
    return section->sh_type != SHT_NOBITS && lies_inside(elf, section->sh_offset, section->sh_size);
}

static bool find_section(const struct elf_view *elf, uint32_t type, Elf64_Shdr *section)
{
    for (uint32_t i = 0; i < elf->header.e_shnum; i++)
        if (section_at(elf, i, section) && section->sh_type == type) return true;
    return false;
}

/* The string at `offset` of the section; NULL: it has no end there. */
static const char *text_at(const struct elf_view *elf, const Elf64_Shdr *section, uint64_t offset)
{
    if (offset >= section->sh_size) return NULL;
    const unsigned char *text = elf->bytes + section->sh_offset + offset;
    return memchr(text, '\0', section->sh_size - offset) != NULL ? (const char *)text : NULL;
}

/* ---- the dynamic section ---- */

/* Whether there is an entry with that tag; *value: its value. */
static bool find_dynamic_entry(const struct elf_view *elf, const Elf64_Shdr *dynamic, int64_t tag,
                               uint64_t *value)
{
    for (uint64_t at = 0; dynamic->sh_size - at >= sizeof(Elf64_Dyn); at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, elf->bytes + dynamic->sh_offset + at, sizeof entry);
        if (entry.d_tag == DT_NULL) return false;
        *value = entry.d_un.d_val;
        if (entry.d_tag == tag) return true;
    }
    return false;
}

const char *elf_view_soname(const struct elf_view *elf)
{
    Elf64_Shdr dynamic, names;
    uint64_t name;
    if (!find_section(elf, SHT_DYNAMIC, &dynamic) || !section_at(elf, dynamic.sh_link, &names) ||
        !find_dynamic_entry(elf, &dynamic, DT_SONAME, &name))
        return NULL;
    const char *text = text_at(elf, &names, name);
    return text != NULL && *text != '\0' ? text : NULL;
}

const char *elf_view_loading(const struct elf_view *elf)
{
    static const int64_t code[] = {DT_INIT, DT_INIT_ARRAY, DT_PREINIT_ARRAY, DT_FINI,
                                   DT_FINI_ARRAY};
    Elf64_Shdr dynamic;
    uint64_t value;
    for (uint32_t i = 0; i < elf->header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, elf->bytes + elf->header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_type == PT_TLS) return "has thread-local variables";
    }
    if (!find_section(elf, SHT_DYNAMIC, &dynamic)) return NULL;
    for (size_t i = 0; i < sizeof code / sizeof *code; i++)
        if (find_dynamic_entry(elf, &dynamic, code[i], &value))
            return "has constructors or destructors, which are executed when it is loaded or "
                   "unloaded";
    return NULL;
}

/* ---- symbols ---- */

const char *elf_view_text(const struct elf_view *elf, const char *symbol_name)
{
    Elf64_Shdr table, names;
    if (!find_section(elf, SHT_DYNSYM, &table) || !section_at(elf, table.sh_link, &names))
        return NULL;
    for (uint64_t at = 0; table.sh_size - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, elf->bytes + table.sh_offset + at, sizeof symbol);
        const char *name = text_at(elf, &names, symbol.st_name);
        if (symbol.st_shndx != SHN_UNDEF && name != NULL && strcmp(name, symbol_name) == 0) {
            Elf64_Shdr data;
            if (!section_at(elf, symbol.st_shndx, &data) || symbol.st_value < data.sh_addr)
                return NULL;
            return text_at(elf, &data, symbol.st_value - data.sh_addr);
        }
    }
    return NULL;
}
