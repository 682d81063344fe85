/* SPDX-License-Identifier: MIT */
/*
 * intern: one copy of each name, so that names compare by pointer.
 */
#ifndef PIPEC_INTERN_H
#define PIPEC_INTERN_H

#include "base/arena.h"

struct intern;

struct intern *intern_create(struct arena *arena);
/* The unique NUL-terminated copy of `length` bytes at `text` (which hold no NUL). */
const char *intern_name(struct intern *names, const char *text, size_t length);
/* The existing copy, or NULL. */
const char *intern_find(const struct intern *names, const char *text, size_t length);
const char *intern_string(struct intern *names, const char *text);

#endif
