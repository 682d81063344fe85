/* SPDX-License-Identifier: MIT */
/*
 * elf_view: looks into 64-bit ELF files: the shared objects that users name, and what the linker has written.
 *
 * Nothing that the file says is trusted: what lies outside of it does not exist.  A view borrows the bytes.
 */
#ifndef COMPILER_CODEGEN_COMMON_ELF_VIEW_H
#define COMPILER_CODEGEN_COMMON_ELF_VIEW_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_view {
    const unsigned char *bytes;
    uint64_t size_bytes;
    Elf64_Ehdr header;
};

/* False: it is no little-endian 64-bit ELF file, or its tables of headers lie outside of it. */
bool elf_view_open(const unsigned char *bytes, size_t size_bytes, struct elf_view *elf);
/* The name in the dynamic section; NULL: there is none. */
const char *elf_view_soname(const struct elf_view *elf);
/* The string that the dynamic symbol of that name is; NULL: there is none. */
const char *elf_view_text(const struct elf_view *elf, const char *symbol);
/* A clause if loading the shared object needs more than mapping it, else NULL. */
const char *elf_view_loading(const struct elf_view *elf);

#endif
