/* SPDX-License-Identifier: MIT */
#include "base/library_functions.h"

#include <dlfcn.h>
#include <string.h>

const char *library_find_functions(void *library, const struct library_function *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, rows[i].symbol);
        if (address == NULL) return rows[i].symbol;
        /* ISO C has no cast from void * to a function. */
        memcpy(rows[i].function, &address, sizeof address);
    }
    return NULL;
}
