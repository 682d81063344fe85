/* SPDX-License-Identifier: MIT */
/* image_elf: a small image that is accepted, and for each rule a change of it that breaks only that rule. */
#include "tests/test.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/load/image_elf.h"

enum { PAGE = 4096, SEGMENTS = 7, ENTRIES = 24, RELOCATIONS = 3, SYMBOLS = 4 };
enum { HEADERS, CODE, DATA, DYNAMIC, STACK, RELRO, OTHER };

/* memcpy, which is not its own, then two that the hash table knows. */
enum { NONE, MEMCPY, RUN, TABLE };

/* As it lies in the file and in memory: three pages. */
struct tiny {
    Elf64_Ehdr header;
    Elf64_Phdr segments[SEGMENTS];
    struct {
        uint32_t buckets, first, filters, shift;
        uint64_t filter;
        uint32_t starts[1], links[2];
    } hash;
    Elf64_Sym symbols[SYMBOLS];
    Elf64_Rela relocations[RELOCATIONS], calls[1];
    char names[64];
    struct {
        Elf64_Nhdr head;
        char name[4];
        uint32_t text[2];
    } note;
    _Alignas(PAGE) uint8_t code[PAGE];
    _Alignas(PAGE) Elf64_Dyn dynamic[ENTRIES];
    uint64_t words[8];
    _Alignas(PAGE) uint8_t end[PAGE];
};

#define AT(member) offsetof(struct tiny, member)

static struct tiny tiny;

static Elf64_Phdr segment(uint32_t type, uint32_t flags, uint64_t at, uint64_t bytes,
                          uint64_t align)
{
    return (Elf64_Phdr){type, flags, at, at, at, bytes, bytes, align};
}

static void make(void)
{
    memset(&tiny, 0, sizeof tiny);
    tiny.header = (Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                               .e_type = ET_DYN,
                               .e_machine = EM_X86_64,
                               .e_version = 1,
                               .e_phoff = AT(segments),
                               .e_ehsize = sizeof tiny.header,
                               .e_phentsize = sizeof tiny.segments[0],
                               .e_phnum = SEGMENTS};
    const Elf64_Phdr segments[SEGMENTS] = {
        [HEADERS] = segment(PT_LOAD, PF_R, 0, AT(code), PAGE),
        [CODE] = segment(PT_LOAD, PF_R | PF_X, AT(code), PAGE, PAGE),
        [DATA] = segment(PT_LOAD, PF_R | PF_W, AT(dynamic), AT(end) - AT(dynamic), PAGE),
        [DYNAMIC] = segment(PT_DYNAMIC, PF_R | PF_W, AT(dynamic), sizeof tiny.dynamic, 8),
        [STACK] = segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 16),
        [RELRO] = segment(PT_GNU_RELRO, PF_R, AT(dynamic), AT(end) - AT(dynamic), 1),
        [OTHER] = segment(PT_NULL, 0, 0, 0, 0)};
    memcpy(tiny.segments, segments, sizeof segments);
    memcpy(tiny.names, "\0memcpy\0pipe_k0_run\0table", 26);
    tiny.symbols[MEMCPY] =
        (Elf64_Sym){.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)};
    tiny.symbols[RUN] = (Elf64_Sym){.st_name = 8,
                                    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                    .st_shndx = 1,
                                    .st_value = AT(code)};
    tiny.symbols[TABLE] = (Elf64_Sym){.st_name = 20,
                                      .st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT),
                                      .st_shndx = 2,
                                      .st_value = AT(words)};
    tiny.hash.buckets = tiny.hash.filters = 1;
    tiny.hash.first = RUN;
    tiny.hash.filter = UINT64_MAX;
    tiny.hash.shift = 5;
    tiny.hash.starts[0] = RUN;
    uint32_t hash = 5381;
    for (const char *at = "pipe_k0_run"; *at != '\0'; at++)
        hash = 33 * hash + (uint8_t)*at;
    tiny.hash.links[0] = hash & ~1u;
    tiny.hash.links[1] = 1;
    tiny.relocations[0] =
        (Elf64_Rela){AT(words), ELF64_R_INFO(0, R_X86_64_RELATIVE), (int64_t)AT(code)};
    tiny.relocations[1] = (Elf64_Rela){AT(words[1]), ELF64_R_INFO(TABLE, R_X86_64_64), 8};
    tiny.relocations[2] = (Elf64_Rela){AT(words[2]), ELF64_R_INFO(RUN, R_X86_64_GLOB_DAT), 0};
    tiny.calls[0] = (Elf64_Rela){AT(words[3]), ELF64_R_INFO(MEMCPY, R_X86_64_JUMP_SLOT), 0};
    memset(tiny.code, 0xc3, sizeof tiny.code);
    const Elf64_Dyn dynamic[] = {{DT_GNU_HASH, {AT(hash)}},
                                 {DT_STRTAB, {AT(names)}},
                                 {DT_SYMTAB, {AT(symbols)}},
                                 {DT_STRSZ, {sizeof tiny.names}},
                                 {DT_SYMENT, {sizeof(Elf64_Sym)}},
                                 {DT_RELA, {AT(relocations)}},
                                 {DT_RELASZ, {sizeof tiny.relocations}},
                                 {DT_RELAENT, {sizeof(Elf64_Rela)}},
                                 {DT_RELACOUNT, {1}},
                                 {DT_JMPREL, {AT(calls)}},
                                 {DT_PLTRELSZ, {sizeof tiny.calls}},
                                 {DT_PLTREL, {DT_RELA}},
                                 {DT_PLTGOT, {AT(words[4])}},
                                 {DT_FLAGS, {DF_BIND_NOW}},
                                 {DT_FLAGS_1, {DF_1_NOW}}};
    memcpy(tiny.dynamic, dynamic, sizeof dynamic);
}

/* The entry of that tag; where there is none, a new one. */
static Elf64_Dyn *entry(int64_t tag)
{
    Elf64_Dyn *at = tiny.dynamic;
    while (at->d_tag != DT_NULL && at->d_tag != tag)
        at++;
    at->d_tag = tag;
    return at;
}

/* Leaves an entry out; the one after it takes its place. */
static void leave_out(int64_t tag)
{
    Elf64_Dyn *at = entry(tag);
    memmove(at, at + 1, (size_t)(tiny.dynamic + ENTRIES - at - 1) * sizeof *at);
}

/* Of a container with foreign code, which names one library; NULL: of one without. */
static const struct prt_container *foreign;

static void refused_of(uint64_t size_bytes, enum prt_status expected, const char *why)
{
    struct prt_error error = {0};
    /* In a block of its own size, so that a sanitizer sees reads past its end. */
    uint8_t *bytes = malloc(size_bytes > 0 ? size_bytes : 1);
    assert_non_null(bytes);
    memcpy(bytes, &tiny, size_bytes);
    enum prt_status status = prt_image_elf_verify(bytes, size_bytes, 77, foreign, &error);
    free(bytes);
    if (status != expected) fail_msg("status %d, '%s': not '%s'", (int)status, error.message, why);
    if (strstr(error.message, why) == NULL) fail_msg("'%s' is not '%s'", error.message, why);
    assert_int_equal(error.offset, 77);
    make();
}

static void refused(const char *why)
{
    refused_of(sizeof tiny, PRT_E_FORMAT, why);
}

static void accepted(void)
{
    struct prt_error error = {0};
    if (prt_image_elf_verify((const uint8_t *)&tiny, sizeof tiny, 0, foreign, &error) != PRT_OK)
        fail_msg("%s", error.message);
    make();
}

static void an_image_that_the_linker_loads_is_accepted(void **unused)
{
    (void)unused;
    char path[64];
    make();
    int file = memfd_create("tiny", MFD_CLOEXEC);
    assert_int_equal(write(file, &tiny, sizeof tiny), sizeof tiny);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail_msg("%s", dlerror());
    assert_non_null(dlsym(library, "pipe_k0_run"));
    dlclose(library);
    close(file);
    accepted();
    static const int64_t of_calls[] = {DT_JMPREL, DT_PLTREL, DT_PLTRELSZ, DT_PLTGOT};
    for (size_t i = 0; i < sizeof of_calls / sizeof *of_calls; i++)
        leave_out(of_calls[i]);
    accepted();
    tiny.hash.starts[0] = 0; /* no name can be found */
    tiny.hash.first = SYMBOLS;
    accepted();
    tiny.segments[OTHER] = segment(PT_PHDR, PF_R, AT(segments), sizeof tiny.segments, 8);
    accepted();
    tiny.segments[OTHER] = segment(PT_GNU_EH_FRAME, PF_R, AT(names), 8, 8);
    accepted();
    tiny.note.head = (Elf64_Nhdr){4, 8, 5};
    tiny.segments[OTHER] = segment(PT_NOTE, PF_R, AT(note), sizeof tiny.note, 4);
    accepted();
}

static void headers_are_those_of_a_shared_object(void **unused)
{
    (void)unused;
    make();
    refused_of(0, PRT_E_FORMAT, "too small");
    refused_of(sizeof tiny.header - 1, PRT_E_FORMAT, "too small");
    tiny.header.e_ident[0]++;
    refused("not a 64-bit shared object");
    tiny.header.e_ident[EI_CLASS] = ELFCLASS32;
    refused("not a 64-bit shared object");
    tiny.header.e_ident[EI_DATA] = ELFDATA2MSB;
    refused("not a 64-bit shared object");
    tiny.header.e_type = ET_EXEC;
    refused("not a 64-bit shared object");
    tiny.header.e_machine = EM_AARCH64;
    refused_of(sizeof tiny, PRT_E_DEVICE, "not for x86-64");
    tiny.header.e_phentsize++;
    refused("has program headers outside of it");
    tiny.header.e_phnum = 65;
    refused("or more than 64");
    tiny.header.e_phoff = sizeof tiny - sizeof tiny.segments + 1;
    refused("has program headers outside of it");
    tiny.header.e_phoff = sizeof tiny + 1;
    refused("has program headers outside of it");
    tiny.header.e_phoff = UINT64_MAX;
    refused("has program headers outside of it");
}

static void segments_lie_in_the_file_and_in_pages_of_their_own(void **unused)
{
    (void)unused;
    make();
    Elf64_Phdr *data = &tiny.segments[DATA];
    data->p_memsz--;
    refused("a segment outside of it");
    data->p_offset = sizeof tiny + PAGE;
    refused("a segment outside of it");
    data->p_filesz = data->p_memsz = 3 * PAGE;
    refused("a segment outside of it");
    data->p_vaddr = UINT64_MAX - PAGE + 1;
    refused("an address that is too large");
    data->p_memsz = UINT64_MAX;
    refused("an address that is too large");
    data->p_align = 8;
    refused("not aligned");
    data->p_align = 3 * PAGE;
    refused("not aligned");
    data->p_align = UINT64_C(1) << 22;
    refused("not aligned");
    data->p_vaddr++;
    refused("not aligned");
    data->p_flags |= PF_X;
    refused("writable and executable");
    data->p_vaddr -= PAGE;
    refused("overlap or are out of order");
    tiny.segments[HEADERS].p_memsz++;
    refused("overlap or are out of order");
    for (uint16_t loads = 15; loads <= 17;
         loads++) { /* 64 headers: empty segments after the code */
        Elf64_Phdr many[64] = {[0] = tiny.segments[HEADERS], tiny.segments[CODE],
                               tiny.segments[DATA],          tiny.segments[DYNAMIC],
                               tiny.segments[STACK],         tiny.segments[RELRO]};
        for (uint16_t i = 3; i < loads; i++)
            many[3 + i] = segment(PT_LOAD, PF_R, (i + 8) * (uint64_t)PAGE, 0, PAGE);
        for (uint16_t i = 3; i < loads; i++)
            many[3 + i].p_offset = 0;
        memcpy(tiny.code, many, sizeof many);
        tiny.header.e_phoff = AT(code);
        tiny.header.e_phnum = 64;
        if (loads < 17) accepted();
    }
    refused("more than 16 segments");
}

static void other_segments_say_what_holds(void **unused)
{
    (void)unused;
    make();
    Elf64_Phdr *other = &tiny.segments[OTHER];
    *other = segment(PT_INTERP, PF_R, AT(names), 8, 1);
    refused("a segment of type 0x3");
    *other = segment(PT_TLS, PF_R, AT(words), 8, 8);
    refused("a segment of type 0x7");
    *other = tiny.segments[DYNAMIC];
    refused("two dynamic sections");
    tiny.segments[DYNAMIC].p_type = PT_NULL;
    refused("no dynamic section");
    tiny.segments[STACK].p_flags |= PF_X;
    refused("asks for an executable stack");
    tiny.segments[STACK].p_type = PT_NULL;
    refused("does not say that its stack is not executable");
    *other = segment(PT_PHDR, PF_R, AT(segments[1]), sizeof tiny.segments, 8);
    refused("program headers somewhere else");
    tiny.segments[RELRO].p_memsz++;
    refused("protects memory outside of its data");
    tiny.segments[RELRO].p_vaddr = AT(code);
    refused("protects memory outside of its data");
    tiny.segments[RELRO].p_vaddr = 64 * PAGE;
    refused("protects memory outside of its data");
    *other = segment(PT_GNU_EH_FRAME, PF_R, AT(code) - 8, 16, 8);
    refused("unwinding outside of its constant segments");
}

static void notes_are_whole(void **unused)
{
    (void)unused;
    make();
    Elf64_Phdr *other = &tiny.segments[OTHER];
    for (uint64_t align = 4; align <= 8; align += 4) {
        *other = segment(PT_GNU_PROPERTY, PF_R, AT(words), 16, align);
        refused("notes outside of its constant segments");
        *other = segment(PT_NOTE, PF_R, AT(note), sizeof tiny.note, align);
        tiny.note.head = (Elf64_Nhdr){4, 17, 5};
        refused("a note that is cut off");
        *other = segment(PT_NOTE, PF_R, AT(note), sizeof tiny.note, align);
        tiny.note.head = (Elf64_Nhdr){UINT32_MAX, UINT32_MAX, 5};
        refused("a note that is cut off");
        *other = segment(PT_NOTE, PF_R, AT(note), sizeof tiny.note, align);
        tiny.note.head = (Elf64_Nhdr){4, 0, 5};
        refused("a note that is cut off");
    }
}

static void nothing_is_executed_when_it_is_loaded(void **unused)
{
    (void)unused;
    static const struct {
        int64_t tag;
        const char *why;
    } entries[] = {
        {DT_INIT, "has a constructor"},          {DT_INIT_ARRAY, "has a constructor"},
        {DT_PREINIT_ARRAY, "has a constructor"}, {DT_FINI, "has a destructor"},
        {DT_FINI_ARRAY, "has a destructor"},     {DT_NEEDED, "needs another library"},
        {DT_TEXTREL, "relocates its code"},      {DT_HASH, "an entry 0x4 in its dynamic section"},
        {DT_RUNPATH, "an entry 0x1d"},           {DT_AUDIT, "an entry 0x6ffffefc"},
        {DT_VERSYM, "an entry 0x6ffffff0"},      {DT_VERNEED, "an entry 0x6ffffffe"},
        {DT_FILTER, "an entry 0x7fffffff"},      {-1, "an entry 0xffffffffffffffff"},
    };
    make();
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        entry(entries[i].tag)->d_un.d_ptr = AT(code);
        refused(entries[i].why);
    }
    tiny.symbols[RUN].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC);
    refused("the symbol 'pipe_k0_run', whose value is computed by code");
    tiny.relocations[1].r_info = ELF64_R_INFO(0, R_X86_64_IRELATIVE);
    refused("a relocation that is computed by code");
    tiny.calls[0].r_info = ELF64_R_INFO(0, R_X86_64_IRELATIVE);
    refused("a relocation that is computed by code");
}

static void the_dynamic_section_is_whole(void **unused)
{
    (void)unused;
    make();
    tiny.segments[DYNAMIC].p_vaddr = AT(end) - 8;
    refused("a dynamic section outside of its segments");
    tiny.segments[DATA].p_filesz = 16;
    refused("a dynamic section outside of its segments");
    tiny.segments[DATA].p_flags = PF_W;
    refused("a dynamic section outside of its segments");
    tiny.segments[DYNAMIC].p_memsz = 15 * sizeof(Elf64_Dyn);
    refused("a dynamic section without an end");
    tiny.dynamic[15] = (Elf64_Dyn){DT_GNU_HASH, {AT(hash)}};
    refused("two tables of symbols");
    tiny.dynamic[15] = (Elf64_Dyn){DT_STRTAB, {AT(names)}};
    refused("two entries 0x5");
    static const int64_t symbol_tags[] = {DT_STRTAB, DT_STRSZ, DT_SYMTAB, DT_SYMENT, DT_GNU_HASH};
    for (size_t i = 0; i < sizeof symbol_tags / sizeof *symbol_tags; i++) {
        leave_out(symbol_tags[i]);
        refused("no table of symbols");
    }
    static const int64_t halves[] = {DT_RELASZ, DT_RELAENT, DT_RELA, DT_PLTREL, DT_PLTRELSZ};
    for (size_t i = 0; i < sizeof halves / sizeof *halves; i++) {
        leave_out(halves[i]);
        refused("half a table of relocations");
    }
    entry(DT_SYMENT)->d_un.d_val = 16;
    refused("symbols of another size");
    entry(DT_FLAGS)->d_un.d_val = DF_STATIC_TLS;
    refused("the flags 0x10");
    entry(DT_FLAGS_1)->d_un.d_val = DF_1_NOW | DF_1_NODELETE;
    refused("the flags 0x9");
    entry(DT_RELAENT)->d_un.d_val = 16;
    refused("relocations of another kind");
    entry(DT_PLTREL)->d_un.d_val = DT_REL;
    refused("relocations of another kind");
    entry(DT_PLTGOT)->d_un.d_ptr = AT(names);
    refused("a table of addresses outside of its data");
    entry(DT_PLTGOT)->d_un.d_ptr = AT(end) - 16;
    refused("a table of addresses outside of its data");
}

static void hash_tables_reach_symbols_that_are_there(void **unused)
{
    (void)unused;
    make();
    entry(DT_GNU_HASH)->d_un.d_ptr = AT(code) - 8;
    refused("a hash table outside of its constant segments");
    entry(DT_GNU_HASH)->d_un.d_ptr = AT(words);
    refused("a hash table outside of its constant segments");
    tiny.hash.buckets = UINT32_MAX;
    refused("a hash table outside of its constant segments");
    tiny.hash.filters = UINT32_C(1) << 31;
    refused("a hash table outside of its constant segments");
    tiny.hash.buckets = 0;
    refused("a malformed hash table");
    tiny.hash.filters = 0;
    refused("a malformed hash table");
    tiny.hash.filters = 3;
    refused("a malformed hash table");
    tiny.hash.shift = 32;
    refused("a malformed hash table");
    tiny.hash.starts[0] = RUN - 1;
    refused("a malformed hash table");
    tiny.hash.starts[0] = UINT32_MAX;
    refused("a hash table without an end");
    tiny.hash.first = UINT32_MAX;
    tiny.hash.starts[0] = 0;
    refused("symbols outside of its constant segments");
    entry(DT_SYMTAB)->d_un.d_ptr = AT(words);
    refused("symbols outside of its constant segments");
    entry(DT_STRTAB)->d_un.d_ptr = AT(words);
    refused("names outside of its constant segments");
    tiny.segments[HEADERS].p_filesz = AT(names); /* zeros of the loader come after it */
    refused("names outside of its constant segments");
    tiny.segments[HEADERS].p_filesz = AT(names) - 1;
    refused("names outside of its constant segments");
    tiny.segments[HEADERS].p_filesz = AT(names[sizeof tiny.names]);
    accepted();
    entry(DT_STRSZ)->d_un.d_val = 0;
    refused("names outside of its constant segments, or without an end");
    entry(DT_STRSZ)->d_un.d_val = 3;
    refused("or without an end");
}

static void symbols_are_its_own_but_for_three(void **unused)
{
    (void)unused;
    make();
    memcpy(tiny.names + 1, "memset", 6);
    accepted();
    memcpy(tiny.names + 1, "system", 6);
    refused("uses 'system', which is not its own");
    tiny.symbols[RUN].st_shndx = SHN_UNDEF;
    refused("uses 'pipe_k0_run', which is not its own");
    tiny.symbols[RUN].st_name = sizeof tiny.names;
    refused("a symbol without a name");
    tiny.symbols[TABLE].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_TLS);
    refused("the symbol 'table' of another kind");
    tiny.symbols[TABLE].st_info = ELF64_ST_INFO(STB_GNU_UNIQUE, STT_OBJECT);
    refused("the symbol 'table' of another kind");
    tiny.symbols[TABLE].st_shndx = SHN_ABS;
    refused("the symbol 'table' outside of its segments");
    tiny.symbols[TABLE].st_value = sizeof tiny;
    refused("the symbol 'table' outside of its segments");
    tiny.symbols[TABLE].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    refused("the function 'table' outside of its code");
    tiny.symbols[RUN].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE);
    tiny.symbols[RUN].st_value = AT(words);
    refused("the function 'pipe_k0_run' outside of its code");
}

static void relocations_change_data_alone(void **unused)
{
    (void)unused;
    make();
    entry(DT_RELA)->d_un.d_ptr = AT(words);
    refused("relocations outside of its constant segments");
    entry(DT_RELASZ)->d_un.d_val--;
    refused("relocations outside of its constant segments");
    entry(DT_PLTRELSZ)->d_un.d_val = UINT64_MAX - 15;
    refused("relocations outside of its constant segments");
    tiny.relocations[1].r_info = ELF64_R_INFO(TABLE, R_X86_64_TPOFF64);
    refused("a relocation of type 18");
    tiny.relocations[1].r_info = ELF64_R_INFO(TABLE, R_X86_64_COPY);
    refused("a relocation of type 5");
    tiny.calls[0].r_info = ELF64_R_INFO(SYMBOLS, R_X86_64_JUMP_SLOT);
    refused("a symbol that is not there");
    tiny.relocations[0].r_offset = AT(code);
    refused("a relocation outside of its data");
    tiny.relocations[0].r_offset = AT(end) - 4;
    refused("a relocation outside of its data");
    tiny.relocations[0].r_offset = AT(dynamic[1]);
    refused("a relocation of its dynamic section");
    tiny.relocations[0].r_offset = AT(words) - 1;
    refused("a relocation of its dynamic section");
    for (uint64_t before = 7; before <= 8; before++) { /* data in front of the dynamic section */
        memmove(tiny.dynamic + 1, tiny.dynamic, sizeof tiny.dynamic - sizeof tiny.dynamic[0]);
        tiny.segments[DYNAMIC].p_vaddr = tiny.segments[DYNAMIC].p_offset = AT(dynamic[1]);
        tiny.segments[DYNAMIC].p_memsz -= sizeof tiny.dynamic[0];
        tiny.relocations[0].r_offset = AT(dynamic[1]) - before;
        if (before == 8)
            accepted();
        else
            refused("a relocation of its dynamic section");
    }
    entry(DT_RELACOUNT)->d_un.d_val = RELOCATIONS + 1;
    refused("fewer relocations than it says");
    entry(DT_RELACOUNT)->d_un.d_val = 2;
    refused("fewer relative relocations than it says");
}

/* The tables of versions lie past the code that is executed. */
static Elf64_Verneed *need(uint32_t index)
{
    return (Elf64_Verneed *)(void *)(tiny.code + 64 + index * 64);
}

static Elf64_Vernaux *version(uint32_t index)
{
    return (Elf64_Vernaux *)(void *)(tiny.code + 256 + index * 64);
}

static Elf64_Half *number(uint32_t symbol)
{
    return (Elf64_Half *)(void *)(tiny.code + 512) + symbol;
}

enum { LIBRARY_NAME = 26, OTHER_NAME = 36 };

/* As a linker writes it of foreign code that needs two libraries, with two versions of the first. */
static void make_foreign(void)
{
    make();
    memcpy(tiny.names + LIBRARY_NAME, "libz.so.1\0libc.so.6", 20);
    tiny.symbols[MEMCPY].st_name = LIBRARY_NAME; /* any name is used, so also this one */
    Elf64_Dyn *end = tiny.dynamic;
    while (end->d_tag != DT_NULL)
        end++;
    const Elf64_Dyn more[] = {
        {DT_NEEDED, {LIBRARY_NAME}},   {DT_NEEDED, {OTHER_NAME}},     {DT_SYMBOLIC, {0}},
        {DT_VERSYM, {AT(code) + 512}}, {DT_VERNEED, {AT(code) + 64}}, {DT_VERNEEDNUM, {2}}};
    memcpy(end, more, sizeof more);
    *need(0) = (Elf64_Verneed){
        .vn_version = 1, .vn_cnt = 2, .vn_file = LIBRARY_NAME, .vn_aux = 192, .vn_next = 64};
    *need(1) = (Elf64_Verneed){.vn_version = 1, .vn_cnt = 1, .vn_file = OTHER_NAME, .vn_aux = 256};
    *version(0) = (Elf64_Vernaux){.vna_other = 2, .vna_name = 1, .vna_next = 64};
    *version(1) = (Elf64_Vernaux){.vna_other = 3, .vna_name = 1};
    *version(2) = (Elf64_Vernaux){.vna_other = 4, .vna_name = 1};
    for (uint32_t i = 0; i < SYMBOLS; i++)
        *number(i) = 0;
    *number(MEMCPY) = 0x8004;
}

#define FOREIGN_REFUSED(edit, why)                                                                 \
    do {                                                                                           \
        make_foreign();                                                                            \
        edit;                                                                                      \
        refused(why);                                                                              \
    } while (0)

static void foreign_code_has_the_libraries_of_its_container(void **unused)
{
    (void)unused;
    struct container_library library = {1};
    struct prt_container container = {
        .strings = "\0libz.so.1", .libraries = &library, .library_count = 1};
    make_foreign();
    refused("needs another library");
    foreign = &container;
    make_foreign();
    accepted();
    make();
    accepted();
    FOREIGN_REFUSED(container.library_count = 0,
                    "needs the library 'libz.so.1', which the container");
    container.library_count = 1;
    FOREIGN_REFUSED(tiny.names[OTHER_NAME + 3] = 'd', "needs the library 'libd.so.6'");
    FOREIGN_REFUSED(entry(DT_NEEDED)->d_un.d_val = sizeof tiny.names, "a library without a name");
    FOREIGN_REFUSED(entry(DT_INIT_ARRAY), "has a constructor");
    foreign = NULL;
}

static void versions_of_symbols_lie_in_constant_tables(void **unused)
{
    (void)unused;
    struct container_library library = {1};
    struct prt_container container = {
        .strings = "\0libz.so.1", .libraries = &library, .library_count = 1};
    foreign = &container;
    FOREIGN_REFUSED(leave_out(DT_VERSYM), "half a table of versions");
    FOREIGN_REFUSED(leave_out(DT_VERNEED), "half a table of versions");
    FOREIGN_REFUSED(entry(DT_SYMBOLIC)->d_tag = DT_VERSYM, "an entry 0x6ffffff0");
    FOREIGN_REFUSED(entry(DT_SYMBOLIC)->d_tag = DT_VERNEED, "an entry 0x6ffffffe");
    FOREIGN_REFUSED(entry(DT_VERNEED)->d_un.d_ptr = AT(words), "outside of its constant segments");
    FOREIGN_REFUSED(entry(DT_VERSYM)->d_un.d_ptr = AT(words), "outside of its constant segments");
    FOREIGN_REFUSED(need(0)->vn_next = sizeof tiny, "outside of its constant segments");
    FOREIGN_REFUSED(need(0)->vn_aux = sizeof tiny, "outside of its constant segments");
    FOREIGN_REFUSED(version(0)->vna_next = sizeof tiny, "outside of its constant segments");
    FOREIGN_REFUSED(need(1)->vn_version = 2, "versions of a library without a name");
    FOREIGN_REFUSED(need(1)->vn_file = sizeof tiny.names, "versions of a library without a name");
    FOREIGN_REFUSED(version(1)->vna_name = sizeof tiny.names, "a version without a name");
    FOREIGN_REFUSED(*number(MEMCPY) = 5, "a symbol of an unknown version");
    make_foreign();
    version(0)->vna_other = 4; /* in any order */
    version(2)->vna_other = 2;
    *number(MEMCPY) = 4;
    accepted();
    foreign = NULL;
}

/* 100 times the same library, each with a part of one chain of versions: so many steps in all. */
static void make_shared_versions(uint64_t steps)
{
    enum { LIBRARIES = 100, VERSIONS = 244, NEEDS = 528, CHAIN = NEEDS + LIBRARIES * 16 };
    make_foreign();
    for (uint32_t i = 0; i <= VERSIONS; i++) { /* the end of each is the beginning of the next */
        const uint32_t name_and_next[] = {1, i < VERSIONS ? 8 : 0};
        memcpy(tiny.code + CHAIN + (uint64_t)i * 8, name_and_next, sizeof name_and_next);
    }
    for (uint32_t i = 0; i < LIBRARIES; i++) {
        uint32_t later = LIBRARIES - 1 - i, here = NEEDS + i * 16; /* two steps each, or more */
        uint64_t seen = steps - 2 * later - 1 < VERSIONS ? steps - 2 * later - 1 : VERSIONS;
        const Elf64_Verneed need = {.vn_version = 1,
                                    .vn_file = LIBRARY_NAME,
                                    .vn_aux = CHAIN + (VERSIONS - (uint32_t)seen) * 8 - here,
                                    .vn_next = later > 0 ? 16 : 0};
        memcpy(tiny.code + here, &need, sizeof need);
        steps -= seen + 1;
    }
    assert_int_equal(steps, 0);
    entry(DT_VERNEED)->d_un.d_ptr = AT(code) + NEEDS;
    *number(MEMCPY) = 0;
}

/* Chains that share their ends would be followed again and again: a file is worth as many steps as it has bytes. */
static void versions_are_not_followed_without_end(void **unused)
{
    (void)unused;
    struct container_library library = {1};
    struct prt_container container = {
        .strings = "\0libz.so.1", .libraries = &library, .library_count = 1};
    foreign = &container;
    make_shared_versions(sizeof tiny);
    accepted();
    make_shared_versions(sizeof tiny + 1); /* the last version is one too many */
    refused("outside of its constant segments");
    make_shared_versions(sizeof tiny + 2); /* with its library */
    refused("outside of its constant segments");
    foreign = NULL;
}

/* Entries of one tag are counted before they are kept. */
static void more_libraries_than_there_is_room_for_are_refused(void **unused)
{
    (void)unused;
    enum { MANY = 81 };
    struct prt_container container = {.strings = ""};
    foreign = &container;
    make();
    Elf64_Dyn *many = (Elf64_Dyn *)(void *)tiny.end;
    for (uint32_t i = 0; i < MANY; i++)
        many[i] = (Elf64_Dyn){DT_NEEDED, {0}};
    tiny.segments[DATA].p_filesz = tiny.segments[DATA].p_memsz = 2 * PAGE;
    tiny.segments[DYNAMIC] = segment(PT_DYNAMIC, PF_R | PF_W, AT(end), PAGE, 8);
    tiny.segments[DYNAMIC].p_memsz = tiny.segments[DYNAMIC].p_filesz = (MANY + 1) * sizeof *many;
    refused("needs more than 80 libraries");
    foreign = NULL;
}

/* No byte of it, whatever it becomes, makes the check read outside of the file. */
static void damage_is_refused_or_harmless(void **unused)
{
    (void)unused;
    make();
    uint8_t *bytes = malloc(sizeof tiny);
    assert_non_null(bytes);
    static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x7f};
    for (size_t at = 0; at < sizeof tiny; at++) {
        if (at >= AT(code) + 8 && at < AT(dynamic)) continue;
        if (at >= AT(end)) break;
        for (size_t i = 0; i < sizeof changes; i++) {
            struct prt_error error;
            memcpy(bytes, &tiny, sizeof tiny);
            bytes[at] ^= changes[i];
            (void)prt_image_elf_verify(bytes, sizeof tiny, 0, NULL, &error);
        }
    }
    for (size_t size = 0; size < sizeof tiny; size += 7) { /* each prefix in a block of its size */
        struct prt_error error;
        uint8_t *prefix = malloc(size > 0 ? size : 1);
        assert_non_null(prefix);
        memcpy(prefix, &tiny, size);
        enum prt_status status = prt_image_elf_verify(prefix, size, 0, NULL, &error);
        free(prefix);
        if (size < AT(words)) assert_int_not_equal(status, PRT_OK);
    }
    free(bytes);
}

TEST_MAIN("image_elf", cmocka_unit_test(an_image_that_the_linker_loads_is_accepted),
          cmocka_unit_test(headers_are_those_of_a_shared_object),
          cmocka_unit_test(segments_lie_in_the_file_and_in_pages_of_their_own),
          cmocka_unit_test(other_segments_say_what_holds), cmocka_unit_test(notes_are_whole),
          cmocka_unit_test(nothing_is_executed_when_it_is_loaded),
          cmocka_unit_test(the_dynamic_section_is_whole),
          cmocka_unit_test(hash_tables_reach_symbols_that_are_there),
          cmocka_unit_test(symbols_are_its_own_but_for_three),
          cmocka_unit_test(relocations_change_data_alone),
          cmocka_unit_test(foreign_code_has_the_libraries_of_its_container),
          cmocka_unit_test(versions_of_symbols_lie_in_constant_tables),
          cmocka_unit_test(versions_are_not_followed_without_end),
          cmocka_unit_test(more_libraries_than_there_is_room_for_are_refused),
          cmocka_unit_test(damage_is_refused_or_harmless))
