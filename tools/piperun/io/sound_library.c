#include "tools/piperun/io/sound_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
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
           find(library, "sf_error", &library->error) &&
           find(library, "sf_error_number", &library->error_number) &&
           find(library, "sf_close", &library->close);
}

enum prt_status prt_sound_library_load(struct prt_sound_library *library, const char *file,
                                       struct prt_error *error)
{
    *library = (struct prt_sound_library){.handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL)};
    if (library->handle != NULL && find_all(library)) return PRT_OK;
    const char *why = dlerror();
    enum prt_status status =
        prt_error_set(error, PRT_E_OPEN,
                      "%s: cannot load %s, which reads wav: %s (the package libsndfile1 has it; "
                      "LD_LIBRARY_PATH may lead to another)",
                      file, LIBRARY, why != NULL ? why : "unknown reason");
    prt_sound_library_unload(library);
    return status;
}

void prt_sound_library_unload(struct prt_sound_library *library)
{
    if (library->handle != NULL) (void)dlclose(library->handle);
    library->handle = NULL;
}
