/* SPDX-License-Identifier: MIT */
#include "tools/piperun/io/sound_library.h"

#include "base/library_functions.h"
#include "tools/piperun/io/io_internal.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libsndfile.so.1" /* the interface that sndfile.h declares */

static bool find_sound_functions(struct prt_sound_library *library)
{
    const struct library_function rows[] = {
        {"sf_open_virtual", &library->open_virtual}, {"sf_readf_int", &library->readf_int},
        {"sf_readf_float", &library->readf_float},   {"sf_readf_double", &library->readf_double},
        {"sf_write_short", &library->write_short},   {"sf_write_int", &library->write_int},
        {"sf_write_float", &library->write_float},   {"sf_write_double", &library->write_double},
        {"sf_command", &library->command},           {"sf_error", &library->error},
        {"sf_error_number", &library->error_number}, {"sf_close", &library->close}};
    return library_find_functions(library->handle, rows, sizeof rows / sizeof rows[0]) == NULL;
}

/* libsndfile 1.2 does not check all of its allocations: it is not used when memory is short. */
static bool memory_left(void)
{
    void *volatile reserve = malloc((size_t)1 << 18); /* equivalent: about so much */
    free(reserve);
    return reserve != NULL;
}

enum prt_status prt_sound_library_load(struct prt_sound_library *library, const char *file,
                                       struct prt_error *error)
{
    *library = (struct prt_sound_library){0};
    if (!memory_left()) return prt_io_no_memory(error);
    *library = (struct prt_sound_library){.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    if (library->handle != NULL && find_sound_functions(library)) return PRT_OK;
    const char *why = dlerror(); /* not NULL: a call has failed just now */
    enum prt_status status = prt_error_set(error, PRT_E_OPEN,
                                           "%s: cannot load %s, which reads sound and writes aiff "
                                           "and flac: %s (the package libsndfile1 has it; "
                                           "LD_LIBRARY_PATH may lead to another)",
                                           file, LIBRARY, why);
    prt_sound_library_unload(library);
    return status;
}

const char *prt_sound_library_reason(const struct prt_sound_library *library, int error_number)
{
    static const char prefix[] = "Error : ";
    const char *text = library->error_number(error_number);
    return strncmp(text, prefix, sizeof prefix - 1) == 0 ? text + sizeof prefix - 1 : text;
}

void prt_sound_library_unload(struct prt_sound_library *library)
{
    if (library->handle != NULL) (void)dlclose(library->handle);
    library->handle = NULL;
}
