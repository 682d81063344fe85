/* SPDX-License-Identifier: MIT */
/*
 * arena: memory that is freed all at once.
 *
 * A compilation allocates from one arena (`cx->arena`); a pass that needs scratch makes its own and
 * destroys it. All memory is zeroed and aligned for any object.  Nothing returned here is ever
 * NULL: when the system has no memory left, or a size overflows, the process ends with "pipec:
 * error: out of memory" and exit code 2, after the exit handlers have removed temporary files.  Not
 * thread-safe: one arena belongs to one thread.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* Ends the process as above, for memory that does not come from an arena. */
_Noreturn void arena_out_of_memory(void);

struct arena *arena_create(void);
void arena_destroy(struct arena *arena);
/* Frees all objects, and keeps the memory for reuse. */
void arena_reset(struct arena *arena);
void *arena_alloc(struct arena *arena, size_t size_bytes);
/* `count` objects of `size_bytes` each; the product is overflow-checked. */
void *arena_array(struct arena *arena, size_t count, size_t size_bytes);
void *arena_copy(struct arena *arena, const void *from, size_t size_bytes);
char *arena_string(struct arena *arena, const char *from, size_t length);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "1 packet", "3 packets": a count and its noun. */
const char *arena_counted(struct arena *arena, uint64_t count, const char *noun);
/* "'a', 'b'" */
const char *arena_quoted_list(struct arena *arena, const char *const *names, size_t count);
char *arena_vprintf(struct arena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) ((type *)arena_array((arena), (count), sizeof(type)))

#endif
