/* SPDX-License-Identifier: MIT */
/* link: an object file to a shared object. */
#ifndef COMPILER_CODEGEN_COMMON_LINK_H
#define COMPILER_CODEGEN_COMMON_LINK_H

#include "compiler/context/context.h"

/* The linkers in the order in which they are tried, ended by NULL. */
extern const char *const link_programs[];

struct link_bytes {
    const unsigned char *bytes;
    size_t size_bytes;
};
struct code_generator;
/* The shared object of an object file of that generator, with the files of extern kernels (cx->foreign), in cx->arena.
 * False after RULE_CODEGEN. */
bool link_shared_object(struct compile *cx, const struct code_generator *code,
                        struct link_bytes object, struct link_bytes *image);

#endif
