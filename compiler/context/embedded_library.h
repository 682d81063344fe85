/* SPDX-License-Identifier: MIT */
/*
 * embedded_library: looks into the text of the standard library without parsing it: for the helps of
 * messages about programs that do not import it, and to see whether they need its mathematics.
 */
#ifndef PIPEC_EMBEDDED_LIBRARY_H
#define PIPEC_EMBEDDED_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* The file that declares a kernel or pipeline (`std/dsp.pipe`), or NULL. */
const char *library_file_of_kernel(const char *name);
/* The same of a function, also of one that calls choose by its type: `sin`. */
const char *library_file_of_function(const char *name);
/* The words that std/math.pipe declares, and the numbers in their declarations: `sin_f32`, and `sin`,
 * which calls choose it by.  They are not terminated.  Stops where `visit` says false. */
void library_mathematics_each(bool (*visit)(void *data, const char *word, size_t length),
                              void *data);
/* The file that is meant by an import that finds none: dsp.pipe, std/sdp.pipe, std/dsp; or NULL. */
const char *library_file_meant(const char *path);

#endif
