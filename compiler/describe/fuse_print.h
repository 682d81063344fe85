/* SPDX-License-Identifier: MIT */
/*
 * fuse_print: what the fuse pass made one stage of, what it did not, and why.
 */
#ifndef PIPEC_FUSE_PRINT_H
#define PIPEC_FUSE_PRINT_H

#include <stdio.h>

#include "compiler/optimize/fuse/fuse.h"
#include "base/json_write.h"

/* Nothing where nothing was tried. */
void fuse_print(FILE *to, const struct fusion *fusion);
/* The key `fusion` of the object that is open. */
void fuse_put_json(struct json *json, const struct fusion *fusion);

#endif
