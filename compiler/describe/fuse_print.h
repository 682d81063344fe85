/* SPDX-License-Identifier: MIT */
/*
 * fuse_print: the stages that the fuse pass made, those that it did not make, and why.
 */
#ifndef PIPEC_FUSE_PRINT_H
#define PIPEC_FUSE_PRINT_H

#include <stdio.h>

#include "compiler/optimize/fuse/fuse.h"
#include "base/json_write.h"

/* Prints nothing if nothing was tried. */
void fuse_print(FILE *to, const struct fusion *fusion);
/* Writes the key `fusion` of the open object. */
void fuse_put_json(struct json *json, const struct fusion *fusion);

#endif
