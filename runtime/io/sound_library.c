#include "runtime/io/sound_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#define LIBRARY "libsndfile.so.1" /* the interface that sndfile.h declares */

static struct prt_sound_library loaded;
static char why[256]; /* not empty: it cannot be used */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void note_failure(void)
{
    const char *text = dlerror();
    if (why[0] == '\0') strncpy(why, text != NULL ? text : "unknown reason", sizeof why - 1);
}

/* The address of a symbol through memcpy: ISO C has no cast from void * to a function. */
static void find(void *handle, const char *symbol, void *function)
{
    void *address = dlsym(handle, symbol);
    memcpy(function, &address, sizeof address);
    if (address == NULL) note_failure();
}

static void load(void)
{
    void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        note_failure();
        return;
    }
    find(handle, "sf_open_virtual", &loaded.open_virtual);
    find(handle, "sf_readf_int", &loaded.readf_int);
    find(handle, "sf_readf_float", &loaded.readf_float);
    find(handle, "sf_readf_double", &loaded.readf_double);
    find(handle, "sf_error", &loaded.error);
    find(handle, "sf_error_number", &loaded.error_number);
    find(handle, "sf_close", &loaded.close);
}

enum prt_status prt_sound_library_load(const struct prt_sound_library **library,
                                       struct prt_error *error)
{
    pthread_once(&once, load);
    if (why[0] != '\0')
        return prt_error_set(error, PRT_E_OPEN,
                             "wav: cannot load %s, which reads it (package libsndfile1): %s",
                             LIBRARY, why);
    *library = &loaded;
    return PRT_OK;
}
