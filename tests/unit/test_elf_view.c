/* SPDX-License-Identifier: MIT */
/* elf_view on a shared object of its own making, whole, cut off and damaged: nothing outside of it is read. */
#include "compiler/codegen/common/elf_view.h"

#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

/* Sections: none, names of symbols, symbols, data, the dynamic section. */
enum { NAMES = 1, SYMBOLS, DATA, DYNAMIC, SECTIONS, ENTRIES = 3 };

struct object {
    Elf64_Ehdr header;
    Elf64_Phdr segments[1];
    Elf64_Shdr sections[SECTIONS];
    Elf64_Sym symbols[3];
    Elf64_Dyn dynamic[ENTRIES];
    char names[32];
    char data[16];
};

static Elf64_Shdr section(uint32_t type, size_t at, size_t bytes)
{
    return (Elf64_Shdr){.sh_type = type,
                        .sh_addr = 0x1000 + at,
                        .sh_offset = at,
                        .sh_size = bytes,
                        .sh_link = NAMES};
}

#define SECTION(type, member)                                                                      \
    section((type), offsetof(struct object, member), sizeof((struct object *)0)->member)

static struct object make(void)
{
    struct object o = {.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, 1},
                                  .e_type = ET_DYN,
                                  .e_machine = EM_X86_64,
                                  .e_phoff = offsetof(struct object, segments),
                                  .e_shoff = offsetof(struct object, sections),
                                  .e_phentsize = sizeof(Elf64_Phdr),
                                  .e_phnum = 1,
                                  .e_shentsize = sizeof(Elf64_Shdr),
                                  .e_shnum = SECTIONS}};
    memcpy(o.names, "\0libk.so.1\0k_signature\0k_run", 29);
    memcpy(o.data, "k(out i32 y)", 13);
    o.sections[NAMES] = SECTION(SHT_STRTAB, names);
    o.sections[SYMBOLS] = SECTION(SHT_DYNSYM, symbols);
    o.sections[DATA] = SECTION(SHT_PROGBITS, data);
    o.sections[DYNAMIC] = SECTION(SHT_DYNAMIC, dynamic);
    o.symbols[1] =
        (Elf64_Sym){.st_name = 11, .st_shndx = DATA, .st_value = o.sections[DATA].sh_addr};
    o.symbols[2] = (Elf64_Sym){.st_name = 23, .st_shndx = SHN_UNDEF};
    o.dynamic[0] = (Elf64_Dyn){DT_SONAME, {1}};
    return o;
}

static bool opens(const struct object *o, struct elf_view *elf)
{
    return elf_view_open((const unsigned char *)o, sizeof *o, elf);
}

static void names_and_texts_are_found(void **unused)
{
    (void)unused;
    struct object o = make();
    struct elf_view elf;
    assert_true(opens(&o, &elf));
    assert_string_equal(elf_view_soname(&elf), "libk.so.1");
    assert_string_equal(elf_view_text(&elf, "k_signature"), "k(out i32 y)");
    assert_null(elf_view_text(&elf, "k_run"));
    assert_null(elf_view_text(&elf, "k"));
    assert_null(elf_view_loading(&elf));
    o.dynamic[0].d_un.d_val = 0;
    assert_null(elf_view_soname(&elf));
    o.dynamic[0].d_un.d_val = sizeof o.names;
    assert_null(elf_view_soname(&elf));
    o.sections[DATA].sh_type = SHT_NOBITS;
    assert_null(elf_view_text(&elf, "k_signature"));
    o = make();
    o.symbols[1].st_value--;
    assert_null(elf_view_text(&elf, "k_signature"));
    o = make();
    memset(o.data, 'k', sizeof o.data); /* without an end */
    assert_null(elf_view_text(&elf, "k_signature"));
}

static void code_that_loading_executes_is_seen(void **unused)
{
    (void)unused;
    static const int64_t tags[] = {DT_INIT, DT_INIT_ARRAY, DT_PREINIT_ARRAY, DT_FINI,
                                   DT_FINI_ARRAY};
    struct elf_view elf;
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        struct object o = make();
        o.dynamic[1].d_tag = tags[i];
        assert_true(opens(&o, &elf));
        assert_non_null(strstr(elf_view_loading(&elf), "constructors"));
        o.dynamic[0].d_tag = DT_NULL; /* the end is before it */
        assert_null(elf_view_loading(&elf));
    }
    struct object o = make();
    o.segments[0].p_type = PT_TLS;
    assert_true(opens(&o, &elf));
    assert_string_equal(elf_view_loading(&elf), "has thread-local variables");
}

static void other_files_do_not_open(void **unused)
{
    (void)unused;
    struct elf_view elf;
#define REFUSED(field, value)                                                                      \
    do {                                                                                           \
        struct object o = make();                                                                  \
        o.field = (value);                                                                         \
        assert_false(opens(&o, &elf));                                                             \
    } while (0)
    REFUSED(header.e_ident[0], 0);
    REFUSED(header.e_ident[EI_CLASS], ELFCLASS32);
    REFUSED(header.e_ident[EI_DATA], ELFDATA2MSB);
    REFUSED(header.e_shentsize, 63);
    REFUSED(header.e_phentsize, 55);
    REFUSED(header.e_shoff, UINT64_MAX);
    REFUSED(header.e_shnum, UINT16_MAX);
    REFUSED(header.e_phoff, sizeof(struct object));
}

static void look_at_all(const unsigned char *bytes, size_t size_bytes)
{
    struct elf_view elf;
    if (!elf_view_open(bytes, size_bytes, &elf)) return;
    (void)elf_view_soname(&elf);
    (void)elf_view_text(&elf, "k_signature");
    (void)elf_view_loading(&elf);
}

/* Each in a block of its size, so that a sanitizer sees reads past its end. */
static void damage_does_no_harm(void **unused)
{
    (void)unused;
    struct object o = make();
    static const unsigned char changes[] = {0x01, 0x80, 0xff, 0x7f};
    for (size_t size = 0; size <= sizeof o; size++) {
        unsigned char *bytes = malloc(size > 0 ? size : 1);
        assert_non_null(bytes);
        memcpy(bytes, &o, size);
        look_at_all(bytes, size);
        for (size_t at = 0; size == sizeof o && at < size; at++)
            for (size_t i = 0; i < sizeof changes; i++) {
                bytes[at] ^= changes[i];
                look_at_all(bytes, size);
                bytes[at] ^= changes[i];
            }
        free(bytes);
    }
}

TEST_MAIN("elf_view", cmocka_unit_test(names_and_texts_are_found),
          cmocka_unit_test(code_that_loading_executes_is_seen),
          cmocka_unit_test(other_files_do_not_open), cmocka_unit_test(damage_does_no_harm))
