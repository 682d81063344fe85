/* SPDX-License-Identifier: MIT */
/*
 * header_print: the C declarations of extern kernels, and the beginning of their code (lang/reference.md, "Extern
 * kernels"; codegen/common/kernel_foreign.c calls the functions).
 */
#ifndef PIPEC_HEADER_PRINT_H
#define PIPEC_HEADER_PRINT_H

#include <stdio.h>

#include "compiler/ir/kernel.h"
#include "compiler/context/context.h"

/* The header of all extern kernels that the compilation has met (cx->foreign_kernels), for C and C++.  `source`: the
 * name of the program, for comments and guards. */
void header_print(FILE *to, const struct compile *cx, const char *source);
/* A C file with functions that compile and write zeros.  It includes the header by the name of the program. */
void skeleton_print(FILE *to, const struct compile *cx, const char *source);

#endif
