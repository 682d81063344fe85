/* SPDX-License-Identifier: MIT */
/*
 * embedded_library: searches the text of the standard library without parsing it.
 *
 * Messages about programs that do not import the library use it for their help. library_add uses it to
 * decide whether a program needs the library's mathematics.
 */
#ifndef PIPEC_EMBEDDED_LIBRARY_H
#define PIPEC_EMBEDDED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* The file that declares a kernel or pipeline (`std/dsp.pipe`), or NULL. */
const char *library_file_of_kernel(const char *name);
/* The same for a function, also by the short name that a call uses: `sin` for sin_f32. */
const char *library_file_of_function(const char *name);
/* Visits the words that std/math.pipe declares, with numbers in declarations: `sin_f32`, and also
 * `sin`, the short name. The words are not NUL-terminated. Stops if `visit` returns false. */
void library_mathematics_each(bool (*visit)(void *data, const char *word, size_t length),
                              void *data);
/* The library file that a failed import probably means (dsp.pipe, std/sdp.pipe, std/dsp), or NULL. */
const char *library_file_meant(const char *path);

#endif
