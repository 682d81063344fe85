#include "tools/piperun/io/sound_library.h"

#include "tools/piperun/io/io_internal.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libsndfile.so.1" /* the interface that sndfile.h declares */

/* The address of a symbol through memcpy: ISO C has no cast from void * to a function. */
static bool find(const struct prt_sound_library *library, const char *symbol, void *function)
{
    void *address = dlsym(library->handle, symbol);
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

static bool find_all(struct prt_sound_library *library)
{
    return find(library, "sf_open_virtual", &library->open_virtual) &&
           find(library, "sf_readf_int", &library->readf_int) &&
           find(library, "sf_readf_float", &library->readf_float) &&
           find(library, "sf_readf_double", &library->readf_double) &&
           find(library, "sf_write_short", &library->write_short) &&
           find(library, "sf_write_int", &library->write_int) &&
           find(library, "sf_write_float", &library->write_float) &&
           find(library, "sf_write_double", &library->write_double) &&
           find(library, "sf_command", &library->command) &&
           find(library, "sf_error", &library->error) &&
           find(library, "sf_error_number", &library->error_number) &&
           find(library, "sf_close", &library->close);
}

/* libsndfile 1.2 does not check all of its allocations: it is not used when memory is short. */
static bool memory_left(void)
{
    void *volatile reserve = malloc((size_t)1 << 18);
    free(reserve);
    return reserve != NULL;
}

enum prt_status prt_sound_library_load(struct prt_sound_library *library, const char *file,
                                       struct prt_error *error)
{
    *library = (struct prt_sound_library){0};
    if (!memory_left()) return prt_io_no_memory(error);
    *library = (struct prt_sound_library){.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    if (library->handle != NULL && find_all(library)) return PRT_OK;
    const char *why = dlerror();
    enum prt_status status = prt_error_set(error, PRT_E_OPEN,
                                           "%s: cannot load %s, which reads sound and writes aiff "
                                           "and flac: %s (the package libsndfile1 has it; "
                                           "LD_LIBRARY_PATH may lead to another)",
                                           file, LIBRARY, why != NULL ? why : "unknown reason");
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
