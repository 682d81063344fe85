/* SPDX-License-Identifier: MIT */
#include "tests/unit/failing_calls.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct faults faults;

void arm(enum fault fault, uint64_t call)
{
    faults.bytewise = faults.hit = false;
    faults.blocks = 0;
    faults.fault = fault;
    faults.calls_left = (int_fast64_t)call;
    faults.armed = true;
}

bool disarm(void)
{
    faults.armed = false;
    return faults.hit;
}

bool is_hit(void)
{
    if (!faults.armed || atomic_fetch_sub(&faults.calls_left, 1) != 0) return false;
    faults.hit = true;
    return true;
}

bool fails(int why)
{
    if (faults.fault != FAULT_FAILS || !is_hit()) return false;
    errno = why;
    return true;
}

void *counted(void *block)
{
    if (faults.armed && block != NULL) faults.blocks++;
    return block;
}

/* NOLINTBEGIN(bugprone-reserved-identifier,misc-use-internal-linkage): the linker's names */
REAL(void *, malloc, size_t size)
{
    return fails(ENOMEM) ? NULL : counted(__real_malloc(size));
}

REAL(void *, calloc, size_t count, size_t size)
{
    return fails(ENOMEM) ? NULL : counted(__real_calloc(count, size));
}

REAL(void *, realloc, void *block, size_t size)
{
    if (fails(ENOMEM)) return NULL;
    void *moved = __real_realloc(block, size);
    return block == NULL ? counted(moved) : moved;
}

REAL(void *, aligned_alloc, size_t alignment, size_t size)
{
    return fails(ENOMEM) ? NULL : counted(__real_aligned_alloc(alignment, size));
}

REAL(int, posix_memalign, void **block, size_t alignment, size_t size)
{
    if (fails(ENOMEM)) return ENOMEM;
    int status = __real_posix_memalign(block, alignment, size);
    if (status == 0) counted(*block);
    return status;
}

REAL(char *, strdup, const char *text)
{
    return fails(ENOMEM) ? NULL : counted(__real_strdup(text));
}

REAL(char *, strndup, const char *text, size_t length)
{
    return fails(ENOMEM) ? NULL : counted(__real_strndup(text, length));
}

__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **text, const char *format, ...);
__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list more;
    va_start(more, format);
    int length = fails(ENOMEM) ? -1 : vasprintf(text, format, more);
    va_end(more);
    if (length >= 0) (void)counted(*text);
    return length;
}

REAL(void, free, void *block)
{
    if (faults.armed && block != NULL) faults.blocks--;
    __real_free(block);
}
/* NOLINTEND(bugprone-reserved-identifier,misc-use-internal-linkage) */
