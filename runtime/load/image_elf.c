/* SPDX-License-Identifier: MIT */
/* image_elf: the contract is in image_elf.h. */
#include "runtime/load/image_elf.h"

#include "base/arithmetic.h"
#include "runtime/load/verify_rule.h"

#include <elf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LOADS_MAX = 16, HEADERS_MAX = 64, NEEDED_MAX = 80 };
#define PAGE_BYTES UINT64_C(4096)
#define ALIGNMENT_MAX (UINT64_C(1) << 21)
#define ADDRESS_MAX (UINT64_C(1) << 46)

struct elf {
    const uint8_t *bytes;
    uint64_t size_bytes, offset;
    struct prt_error *error;
    Elf64_Ehdr header;
    Elf64_Phdr loads[LOADS_MAX]; /* ascending, in pages of their own */
    uint32_t load_count;
    Elf64_Phdr dynamic;
    bool has_dynamic, has_stack;
    /* Of the dynamic section: by tag where that is below DT_NUM, and whether it is there. */
    uint64_t values[DT_NUM];
    bool present[DT_NUM];
    uint64_t hash, relative_count;
    bool has_hash;
    const struct prt_container *foreign; /* NULL: there is no foreign code */
    uint64_t needed[NEEDED_MAX];         /* names of libraries */
    uint32_t needed_count;
    uint64_t versions, needs, need_count; /* tables of versions of symbols */
    bool has_versions, has_needs;
    const uint8_t *symbols, *names;
    uint64_t symbol_count;
};

static enum prt_status refuse_elf(const struct elf *elf, enum prt_status status, const char *format,
                                  ...) PRT_PRINTF(3, 4);

static enum prt_status refuse_elf(const struct elf *elf, enum prt_status status, const char *format,
                                  ...)
{
    char reason[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return prt_error_set_at(elf->error, status, elf->offset, "container: the image %s", reason);
}

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!PRT_HOLDS(condition)) return refuse_elf(elf, PRT_E_FORMAT, __VA_ARGS__);              \
    } while (0)

/* ---- segments ---- */

static enum prt_status verify_header(struct elf *elf)
{
    Elf64_Ehdr *header = &elf->header;
    CHECK(elf->size_bytes >= sizeof *header, "is too small for a shared object");
    memcpy(header, elf->bytes, sizeof *header);
    CHECK(memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
              header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
              header->e_type == ET_DYN,
          "is not a 64-bit shared object");
    if (PRT_BREAKS(header->e_machine != EM_X86_64))
        return refuse_elf(elf, PRT_E_DEVICE, "is not for x86-64");
    CHECK(header->e_phentsize == sizeof(Elf64_Phdr) && header->e_phnum <= HEADERS_MAX &&
              header->e_phoff <= elf->size_bytes &&
              header->e_phnum * sizeof(Elf64_Phdr) <= elf->size_bytes - header->e_phoff,
          "has program headers outside of it, or more than %d", HEADERS_MAX);
    return PRT_OK;
}

static Elf64_Phdr segment_at(const struct elf *elf, uint32_t index)
{
    Elf64_Phdr segment;
    memcpy(&segment, elf->bytes + elf->header.e_phoff + index * sizeof segment, sizeof segment);
    return segment;
}

static uint64_t page_end(const Elf64_Phdr *load)
{
    return align_up(load->p_vaddr + load->p_memsz, PAGE_BYTES);
}

static enum prt_status add_load(struct elf *elf, const Elf64_Phdr *load)
{
    CHECK(elf->load_count < LOADS_MAX, "has more than %d segments", LOADS_MAX);
    CHECK(load->p_filesz <= load->p_memsz && load->p_offset <= elf->size_bytes &&
              load->p_filesz <= elf->size_bytes - load->p_offset,
          "has a segment outside of it");
    CHECK(load->p_vaddr <= ADDRESS_MAX && load->p_memsz <= ADDRESS_MAX,
          "has a segment at an address that is too large");
    CHECK(load->p_align >= PAGE_BYTES && load->p_align <= ALIGNMENT_MAX &&
              (load->p_align & (load->p_align - 1)) == 0 &&
              (load->p_vaddr - load->p_offset) % load->p_align == 0,
          "has a segment that is not aligned");
    CHECK((load->p_flags & (PF_W | PF_X)) != (PF_W | PF_X),
          "has a segment that is writable and executable");
    CHECK(elf->load_count == 0 ||
              load->p_vaddr / PAGE_BYTES * PAGE_BYTES >= page_end(&elf->loads[elf->load_count - 1]),
          "has segments that overlap or are out of order");
    elf->loads[elf->load_count++] = *load;
    return PRT_OK;
}

/* The segment in whose memory the range lies as a whole, or NULL. */
static const Elf64_Phdr *segment_of(const struct elf *elf, uint64_t address, uint64_t size_bytes)
{
    for (uint32_t i = 0; i < elf->load_count; i++) {
        const Elf64_Phdr *load = &elf->loads[i];
        if (address < load->p_vaddr || address - load->p_vaddr > load->p_memsz) continue;
        if (size_bytes <= load->p_memsz - (address - load->p_vaddr)) return load;
    }
    return NULL;
}

/* The bytes of the file that are in memory after loading, or NULL.  `constant`: and that nothing can change there. */
static const uint8_t *mapped_bytes(const struct elf *elf, uint64_t address, uint64_t size_bytes,
                                   bool constant)
{
    const Elf64_Phdr *load = segment_of(elf, address, size_bytes);
    if (load == NULL || !(load->p_flags & PF_R) || (constant && load->p_flags & PF_W)) return NULL;
    uint64_t at = address - load->p_vaddr;
    if (at > load->p_filesz || size_bytes > load->p_filesz - at) return NULL;
    return elf->bytes + load->p_offset + at;
}

/* The dynamic linker reads in notes which features the code supports. */
static enum prt_status verify_notes(const struct elf *elf, const Elf64_Phdr *segment)
{
    const uint8_t *notes = mapped_bytes(elf, segment->p_vaddr, segment->p_memsz, true);
    uint64_t align = segment->p_align == 8 ? 8 : 4, at = 0;
    CHECK(notes != NULL, "has notes outside of its constant segments");
    while (segment->p_memsz - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr note;
        memcpy(&note, notes + at, sizeof note);
        uint64_t left = segment->p_memsz - at;
        uint64_t bytes = align_up(sizeof note + note.n_namesz, align);
        bytes += align_up(note.n_descsz, align);
        CHECK(bytes <= left, "has a note that is cut off");
        at += bytes;
    }
    CHECK(at == segment->p_memsz, "has a note that is cut off");
    return PRT_OK;
}

static enum prt_status verify_segment(struct elf *elf, const Elf64_Phdr *segment)
{
    switch (segment->p_type) {
    case PT_NULL:
    case PT_LOAD: return PRT_OK;
    case PT_DYNAMIC:
        CHECK(!elf->has_dynamic, "has two dynamic sections");
        elf->dynamic = *segment;
        elf->has_dynamic = true;
        return PRT_OK;
    case PT_GNU_STACK:
        CHECK(!(segment->p_flags & PF_X), "asks for an executable stack");
        elf->has_stack = true;
        return PRT_OK;
    case PT_PHDR:
        CHECK(mapped_bytes(elf, segment->p_vaddr, elf->header.e_phnum * sizeof(Elf64_Phdr), true) ==
                  elf->bytes + elf->header.e_phoff,
              "has its program headers somewhere else than it says");
        return PRT_OK;
    case PT_GNU_RELRO: {
        const Elf64_Phdr *load = segment_of(elf, segment->p_vaddr, 1);
        CHECK(load != NULL && load->p_flags & PF_W &&
                  segment->p_memsz <= page_end(load) - segment->p_vaddr,
              "protects memory outside of its data");
        return PRT_OK;
    }
    case PT_GNU_EH_FRAME:
        CHECK(mapped_bytes(elf, segment->p_vaddr, segment->p_memsz, true) != NULL,
              "has tables for unwinding outside of its constant segments");
        return PRT_OK;
    case PT_NOTE:
    case PT_GNU_PROPERTY: return verify_notes(elf, segment);
    default: break;
    }
    /* uncovered: the rule is always broken here */
    CHECK(false, "has a segment of type %#" PRIx32, segment->p_type);
    return PRT_OK;
}

static enum prt_status verify_segments(struct elf *elf)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < elf->header.e_phnum && status == PRT_OK; i++) {
        Elf64_Phdr segment = segment_at(elf, i);
        if (segment.p_type == PT_LOAD) status = add_load(elf, &segment);
    }
    for (uint32_t i = 0; i < elf->header.e_phnum && status == PRT_OK; i++) {
        Elf64_Phdr segment = segment_at(elf, i);
        status = verify_segment(elf, &segment);
    }
    if (status != PRT_OK) return status;
    CHECK(elf->has_stack, "does not say that its stack is not executable");
    CHECK(elf->has_dynamic, "has no dynamic section");
    return PRT_OK;
}

/* ---- the dynamic section ---- */

static const struct {
    int64_t tag;
    const char *what;
} refused_tags[] = {
    {DT_INIT, "has a constructor"},          {DT_INIT_ARRAY, "has a constructor"},
    {DT_PREINIT_ARRAY, "has a constructor"}, {DT_FINI, "has a destructor"},
    {DT_FINI_ARRAY, "has a destructor"},     {DT_TEXTREL, "relocates its code"},
};

static bool is_plain_tag(int64_t tag)
{
    static const int64_t tags[] = {DT_STRTAB, DT_STRSZ,    DT_SYMTAB,  DT_SYMENT,
                                   DT_RELA,   DT_RELASZ,   DT_RELAENT, DT_JMPREL,
                                   DT_PLTREL, DT_PLTRELSZ, DT_PLTGOT,  DT_FLAGS};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (tags[i] == tag) return true;
    return false;
}

/* Entries that only an image with foreign code has.  *known: it is one of them. */
static enum prt_status add_foreign_entry(struct elf *elf, const Elf64_Dyn *entry, bool *known)
{
    *known = true;
    switch (entry->d_tag) {
    case DT_NEEDED:
        CHECK(elf->foreign != NULL, "needs another library");
        CHECK(elf->needed_count < NEEDED_MAX, "needs more than %d libraries", NEEDED_MAX);
        elf->needed[elf->needed_count++] = entry->d_un.d_val;
        return PRT_OK;
    case DT_SYMBOLIC: *known = elf->foreign != NULL; return PRT_OK;
    case DT_VERSYM:
        *known = elf->foreign != NULL && !elf->has_versions;
        elf->has_versions = true;
        elf->versions = entry->d_un.d_ptr;
        return PRT_OK;
    case DT_VERNEED:
        *known = elf->foreign != NULL && !elf->has_needs;
        elf->has_needs = true;
        elf->needs = entry->d_un.d_ptr;
        return PRT_OK;
    case DT_VERNEEDNUM:
        *known = elf->foreign != NULL;
        elf->need_count = entry->d_un.d_val;
        return PRT_OK;
    default: *known = false; return PRT_OK;
    }
}

static enum prt_status add_entry(struct elf *elf, const Elf64_Dyn *entry)
{
    bool known;
    enum prt_status status = add_foreign_entry(elf, entry, &known);
    if (status != PRT_OK || known) return status;
    for (size_t i = 0; i < sizeof refused_tags / sizeof *refused_tags; i++)
        CHECK(entry->d_tag != refused_tags[i].tag, "%s", refused_tags[i].what);
    switch (entry->d_tag) {
    case DT_GNU_HASH:
        CHECK(!elf->has_hash, "has two tables of symbols");
        elf->hash = entry->d_un.d_ptr;
        elf->has_hash = true;
        return PRT_OK;
    case DT_RELACOUNT: elf->relative_count = entry->d_un.d_val; return PRT_OK;
    case DT_FLAGS_1:
        CHECK(entry->d_un.d_val == DF_1_NOW, "has the flags %#" PRIx64, entry->d_un.d_val);
        return PRT_OK;
    default: break;
    }
    CHECK(is_plain_tag(entry->d_tag), "has an entry %#" PRIx64 " in its dynamic section",
          (uint64_t)entry->d_tag);
    CHECK(!elf->present[entry->d_tag], "has two entries %#" PRIx64 " in its dynamic section",
          (uint64_t)entry->d_tag);
    elf->present[entry->d_tag] = true;
    elf->values[entry->d_tag] = entry->d_un.d_val;
    return PRT_OK;
}

static enum prt_status read_dynamic(struct elf *elf)
{
    const uint8_t *at = mapped_bytes(elf, elf->dynamic.p_vaddr, elf->dynamic.p_memsz, false);
    CHECK(at != NULL, "has a dynamic section outside of its segments");
    for (uint64_t i = 0; i < elf->dynamic.p_memsz / sizeof(Elf64_Dyn); i++) {
        Elf64_Dyn entry;
        memcpy(&entry, at + i * sizeof entry, sizeof entry);
        if (entry.d_tag == DT_NULL) return PRT_OK;
        enum prt_status status = add_entry(elf, &entry);
        if (status != PRT_OK) return status;
    }
    /* uncovered: the rule is always broken here */
    CHECK(false, "has a dynamic section without an end");
    return PRT_OK;
}

static bool has_dynamic_tag(const struct elf *elf, int64_t tag)
{
    return elf->present[tag];
}

static enum prt_status verify_entries(const struct elf *elf)
{
    CHECK(has_dynamic_tag(elf, DT_STRTAB) && has_dynamic_tag(elf, DT_STRSZ) &&
              has_dynamic_tag(elf, DT_SYMTAB) && has_dynamic_tag(elf, DT_SYMENT) && elf->has_hash,
          "has no table of symbols");
    CHECK(elf->values[DT_SYMENT] == sizeof(Elf64_Sym), "has symbols of another size");
    CHECK((elf->values[DT_FLAGS] & ~(uint64_t)(DF_BIND_NOW | DF_SYMBOLIC)) == 0,
          "has the flags %#" PRIx64, elf->values[DT_FLAGS]);
    CHECK(has_dynamic_tag(elf, DT_RELA) == has_dynamic_tag(elf, DT_RELASZ) &&
              has_dynamic_tag(elf, DT_RELA) == has_dynamic_tag(elf, DT_RELAENT) &&
              has_dynamic_tag(elf, DT_JMPREL) == has_dynamic_tag(elf, DT_PLTRELSZ) &&
              has_dynamic_tag(elf, DT_JMPREL) == has_dynamic_tag(elf, DT_PLTREL),
          "has half a table of relocations");
    CHECK((!has_dynamic_tag(elf, DT_RELA) || elf->values[DT_RELAENT] == sizeof(Elf64_Rela)) &&
              (!has_dynamic_tag(elf, DT_JMPREL) || elf->values[DT_PLTREL] == DT_RELA),
          "has relocations of another kind");
    return PRT_OK;
}

/* ---- symbols ---- */

static uint32_t hash_word_at(const uint8_t *words, uint64_t index)
{
    uint32_t word;
    memcpy(&word, words + index * sizeof word, sizeof word);
    return word;
}

/* Counts the symbols that the hash table reaches, as the dynamic linker does; every chain of it must end. */
static enum prt_status count_symbols(struct elf *elf)
{
    const uint8_t *head = mapped_bytes(elf, elf->hash, 16, true);
    CHECK(head != NULL, "has a hash table outside of its constant segments");
    uint64_t buckets = hash_word_at(head, 0), first = hash_word_at(head, 1),
             filters = hash_word_at(head, 2);
    CHECK(buckets > 0 && filters > 0 && (filters & (filters - 1)) == 0 &&
              hash_word_at(head, 3) < 32,
          "has a malformed hash table");
    uint64_t at = elf->hash + 16 + filters * 8;
    CHECK(mapped_bytes(elf, elf->hash, 16 + filters * 8 + buckets * 4, true) != NULL,
          "has a hash table outside of its constant segments");
    const uint8_t *starts = mapped_bytes(elf, at, buckets * 4, true);
    uint64_t last = 0;
    for (uint64_t i = 0; i < buckets; i++) {
        uint32_t start = hash_word_at(starts, i);
        CHECK(start == 0 || start >= first, "has a malformed hash table");
        if (start > last) last = start;
    }
    elf->symbol_count = first;
    if (last == 0) return PRT_OK;
    for (bool ends = false; !ends; last++) {
        const uint8_t *link = mapped_bytes(elf, at + buckets * 4 + (last - first) * 4, 4, true);
        CHECK(link != NULL, "has a hash table without an end");
        ends = (hash_word_at(link, 0) & 1) != 0;
    }
    elf->symbol_count = last;
    return PRT_OK;
}

/* The C library, which this process has loaded. */
static bool is_c_library(const char *name)
{
    static const char *const names[] = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static bool is_foreign_library(const struct prt_container *c, const char *name)
{
    for (uint32_t i = 0; i < c->library_count; i++)
        if (strcmp(name, prt_container_text(c, c->libraries[i].name)) == 0) return true;
    return is_c_library(name);
}

static enum prt_status verify_needed(const struct elf *elf)
{
    for (uint32_t i = 0; i < elf->needed_count; i++) {
        CHECK(elf->needed[i] < elf->values[DT_STRSZ], "needs a library without a name");
        const char *name = (const char *)elf->names + elf->needed[i];
        CHECK(is_foreign_library(elf->foreign, name),
              "needs the library '%s', which the container does not name", name);
    }
    return PRT_OK;
}

/* Of the symbols that are expected of one library; *most: the largest number of a version so far. */
static enum prt_status verify_versions_of(const struct elf *elf, uint64_t address, uint64_t *steps,
                                          uint32_t *most)
{
    for (bool more = true; more;) {
        Elf64_Vernaux version;
        const uint8_t *at = mapped_bytes(elf, address, sizeof version, true);
        CHECK(at != NULL && ++*steps <= elf->size_bytes,
              "has versions of symbols outside of its constant segments");
        memcpy(&version, at, sizeof version);
        CHECK(version.vna_name < elf->values[DT_STRSZ], "has a version without a name");
        if (version.vna_other > *most) *most = version.vna_other;
        more = version.vna_next != 0;
        address += version.vna_next;
    }
    return PRT_OK;
}

/* The dynamic linker follows the chains to their ends, and takes the numbers of symbols as indices of the versions. */
static enum prt_status verify_versions(const struct elf *elf)
{
    uint64_t address = elf->needs, steps = 0;
    uint32_t most = 0;
    CHECK(elf->has_needs == elf->has_versions, "has half a table of versions");
    for (bool more = elf->has_needs; more;) {
        Elf64_Verneed need;
        const uint8_t *at = mapped_bytes(elf, address, sizeof need, true);
        CHECK(at != NULL && ++steps <= elf->size_bytes,
              "has versions of symbols outside of its constant segments");
        memcpy(&need, at, sizeof need);
        CHECK(need.vn_version == 1 && need.vn_file < elf->values[DT_STRSZ],
              "has versions of a library without a name");
        enum prt_status status = verify_versions_of(elf, address + need.vn_aux, &steps, &most);
        if (status != PRT_OK) return status;
        more = need.vn_next != 0;
        address += need.vn_next;
    }
    const uint8_t *numbers =
        mapped_bytes(elf, elf->versions, elf->symbol_count * sizeof(Elf64_Half), true);
    CHECK(!elf->has_versions || numbers != NULL,
          "has versions of symbols outside of its constant segments");
    for (uint64_t i = 0; elf->has_versions && i < elf->symbol_count; i++) {
        Elf64_Half number;
        memcpy(&number, numbers + i * sizeof number, sizeof number);
        CHECK((number & 0x7fff) <= most, "has a symbol of an unknown version");
    }
    return PRT_OK;
}

static bool is_available(const char *name)
{
    static const char *const names[] = {"memcpy", "memmove", "memset"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static enum prt_status verify_symbol(const struct elf *elf, const Elf64_Sym *symbol)
{
    CHECK(symbol->st_name < elf->values[DT_STRSZ], "has a symbol without a name");
    const char *name = (const char *)elf->names + symbol->st_name;
    uint32_t type = ELF64_ST_TYPE(symbol->st_info), bind = ELF64_ST_BIND(symbol->st_info);
    CHECK(type != STT_GNU_IFUNC,
          "has the symbol '%s', whose value is computed by code when it is loaded", name);
    CHECK(type <= STT_FUNC && bind <= STB_WEAK, "has the symbol '%s' of another kind", name);
    if (symbol->st_shndx == SHN_UNDEF) {
        CHECK(elf->foreign != NULL || is_available(name), "uses '%s', which is not its own", name);
        return PRT_OK;
    }
    const Elf64_Phdr *load = segment_of(elf, symbol->st_value, 1);
    CHECK(symbol->st_shndx < SHN_LORESERVE && load != NULL,
          "has the symbol '%s' outside of its segments", name);
    CHECK((load->p_flags & PF_X) || (type != STT_FUNC && strncmp(name, "pipe_", 5) != 0),
          "has the function '%s' outside of its code", name);
    return PRT_OK;
}

static enum prt_status verify_symbols(struct elf *elf)
{
    enum prt_status status = count_symbols(elf);
    if (status != PRT_OK) return status;
    uint64_t names_bytes = elf->values[DT_STRSZ];
    elf->names = mapped_bytes(elf, elf->values[DT_STRTAB], names_bytes, true);
    CHECK(elf->names != NULL && names_bytes > 0 && elf->names[names_bytes - 1] == '\0',
          "has names outside of its constant segments, or without an end");
    elf->symbols =
        mapped_bytes(elf, elf->values[DT_SYMTAB], elf->symbol_count * sizeof(Elf64_Sym), true);
    CHECK(elf->symbols != NULL, "has symbols outside of its constant segments");
    for (uint64_t i = 1; i < elf->symbol_count && status == PRT_OK; i++) {
        Elf64_Sym symbol;
        memcpy(&symbol, elf->symbols + i * sizeof symbol, sizeof symbol);
        status = verify_symbol(elf, &symbol);
    }
    return status;
}

/* ---- relocations ---- */

static enum prt_status verify_relocation(const struct elf *elf, const Elf64_Rela *relocation)
{
    uint32_t type = ELF64_R_TYPE(relocation->r_info);
    uint64_t at = relocation->r_offset, dynamic_end = elf->dynamic.p_vaddr + elf->dynamic.p_memsz;
    CHECK(type != R_X86_64_IRELATIVE,
          "has a relocation that is computed by code when it is loaded");
    CHECK(type == R_X86_64_RELATIVE || type == R_X86_64_64 || type == R_X86_64_GLOB_DAT ||
              type == R_X86_64_JUMP_SLOT,
          "has a relocation of type %" PRIu32, type);
    CHECK(type == R_X86_64_RELATIVE || ELF64_R_SYM(relocation->r_info) < elf->symbol_count,
          "has a relocation to a symbol that is not there");
    const Elf64_Phdr *load = segment_of(elf, at, 8);
    CHECK(load != NULL && (load->p_flags & PF_W), "has a relocation outside of its data");
    CHECK(at >= dynamic_end || at + 8 <= elf->dynamic.p_vaddr,
          "has a relocation of its dynamic section");
    return PRT_OK;
}

static enum prt_status verify_relocations(const struct elf *elf, uint64_t address,
                                          uint64_t size_bytes)
{
    enum prt_status status = PRT_OK;
    const uint8_t *bytes = mapped_bytes(elf, address, size_bytes, true);
    CHECK(bytes != NULL && size_bytes % sizeof(Elf64_Rela) == 0,
          "has relocations outside of its constant segments");
    for (uint64_t at = 0; at < size_bytes && status == PRT_OK; at += sizeof(Elf64_Rela)) {
        Elf64_Rela relocation;
        memcpy(&relocation, bytes + at, sizeof relocation);
        status = verify_relocation(elf, &relocation);
    }
    return status;
}

static enum prt_status verify_all_relocations(const struct elf *elf)
{
    enum prt_status status = PRT_OK;
    if (has_dynamic_tag(elf, DT_RELA))
        status = verify_relocations(elf, elf->values[DT_RELA], elf->values[DT_RELASZ]);
    if (status == PRT_OK && has_dynamic_tag(elf, DT_JMPREL))
        status = verify_relocations(elf, elf->values[DT_JMPREL], elf->values[DT_PLTRELSZ]);
    if (status != PRT_OK) return status;
    /* The dynamic linker takes the first ones for relative ones without a look. */
    CHECK(elf->relative_count <= elf->values[DT_RELASZ] / sizeof(Elf64_Rela),
          "has fewer relocations than it says");
    for (uint64_t i = 0; i < elf->relative_count; i++) {
        Elf64_Rela relocation;
        memcpy(&relocation,
               mapped_bytes(elf, elf->values[DT_RELA], elf->values[DT_RELASZ], true) +
                   i * sizeof relocation,
               sizeof relocation);
        CHECK(ELF64_R_TYPE(relocation.r_info) == R_X86_64_RELATIVE,
              "has fewer relative relocations than it says");
    }
    const Elf64_Phdr *load =
        has_dynamic_tag(elf, DT_PLTGOT) ? segment_of(elf, elf->values[DT_PLTGOT], 24) : NULL;
    CHECK(!has_dynamic_tag(elf, DT_PLTGOT) || (load != NULL && (load->p_flags & PF_W)),
          "has a table of addresses outside of its data");
    return PRT_OK;
}

enum prt_status prt_image_elf_verify(const uint8_t *bytes, uint64_t size_bytes, uint64_t offset,
                                     const struct prt_container *foreign, struct prt_error *error)
{
    struct elf elf = {.bytes = bytes,
                      .size_bytes = size_bytes,
                      .offset = offset,
                      .foreign = foreign,
                      .error = error};
    enum prt_status status = verify_header(&elf);
    if (status == PRT_OK) status = verify_segments(&elf);
    if (status == PRT_OK) status = read_dynamic(&elf);
    if (status == PRT_OK) status = verify_entries(&elf);
    if (status == PRT_OK) status = verify_symbols(&elf);
    if (status == PRT_OK) status = verify_needed(&elf);
    if (status == PRT_OK) status = verify_versions(&elf);
    return status == PRT_OK ? verify_all_relocations(&elf) : status;
}
