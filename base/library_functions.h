/* SPDX-License-Identifier: MIT */
/* library_functions: the functions of a library that is loaded when it is needed (dlopen). */
#ifndef BASE_LIBRARY_FUNCTIONS_H
#define BASE_LIBRARY_FUNCTIONS_H

#include <stddef.h>

struct library_function {
    const char *symbol;
    void *function; /* of the pointer to a function that is filled */
};

/* Fills all pointers, and returns NULL.  Otherwise returns the first symbol that the library lacks; dlerror has the cause. */
const char *library_find_functions(void *library, const struct library_function *rows,
                                   size_t count);

#endif
