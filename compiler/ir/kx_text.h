/* SPDX-License-Identifier: MIT */
/*
 * kx_text: typed expressions and constants as text of the language with exactly the same meaning:
 * every conversion is written as a cast, every literal has its type.
 */
#ifndef PIPEC_KX_TEXT_H
#define PIPEC_KX_TEXT_H

#include <stdio.h>

#include "compiler/ir/kernel.h"

/* False: the language cannot write the expression (an array, a port), and the printed text is not
 * complete. */
bool kx_print(FILE *to, const struct kx *x);
/* As the initialiser of a variable of its type: arrays in braces.  An argument of an instance can always be written
 * so. */
bool kx_value_print(FILE *to, const struct kx *x);
/* A literal of the scalar's type. */
void scalar_value_print(FILE *to, struct scalar_value value);
/* The flattened scalars of one value of `type`, with braces; *values moves past them. */
void type_value_print(FILE *to, const struct type *type, const struct scalar_value **values);

#endif
