/* SPDX-License-Identifier: MIT */
#include "tools/piperun/io/io_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A list that only grows until it is destroyed, so a signal handler may walk it at any time: a
 * record is complete before it is linked, and never freed while it can be seen. */

struct prt_temporary {
    struct prt_temporary *next; /* constant once linked */
    atomic_bool active;
    char path[];
};

struct prt_temporaries {
    _Atomic(struct prt_temporary *) head;
};

enum prt_status prt_temporaries_create(struct prt_temporaries **registry)
{
    struct prt_temporaries *made = malloc(sizeof *made);
    if (made == NULL) return PRT_E_NOMEM;
    atomic_init(&made->head, NULL);
    *registry = made;
    return PRT_OK;
}

void prt_temporaries_destroy(struct prt_temporaries *registry)
{
    if (registry == NULL) return;
    struct prt_temporary *record = atomic_load(&registry->head);
    while (record != NULL) {
        struct prt_temporary *next = record->next;
        free(record);
        record = next;
    }
    free(registry);
}

void prt_temporaries_remove(struct prt_temporaries *registry)
{
    int saved_errno = errno;
    for (struct prt_temporary *record = atomic_load(&registry->head); record != NULL;
         record = record->next)
        if (atomic_exchange(&record->active, false)) (void)unlink(record->path);
    errno = saved_errno;
}

enum prt_status prt_temporary_add(struct prt_temporaries *registry, const char *path,
                                  struct prt_temporary **record)
{
    size_t length = strlen(path);
    struct prt_temporary *made = malloc(sizeof *made + length + 1);
    if (made == NULL) return PRT_E_NOMEM;
    memcpy(made->path, path, length + 1);
    atomic_init(&made->active, true);
    made->next = atomic_load(&registry->head);
    /* uncovered: only if another thread adds one at the same time */
    while (!atomic_compare_exchange_weak(&registry->head, &made->next, made)) {
    }
    *record = made;
    return PRT_OK;
}

void prt_temporary_forget(struct prt_temporary *record)
{
    if (record != NULL) atomic_store(&record->active, false);
}
