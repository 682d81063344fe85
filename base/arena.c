/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONED 1
#endif
#endif

#ifdef ARENA_POISONED
#include <sanitizer/asan_interface.h>
enum { REDZONE_BYTES = 16 };
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
enum { REDZONE_BYTES = 0 };
#endif

enum { CHUNK_BYTES = 64 << 10, CHUNK_MAX_BYTES = 4 << 20, ALIGNMENT = _Alignof(max_align_t) };

struct chunk {
    struct chunk *next;
    size_t size_bytes, used_bytes;
    max_align_t bytes[];
};

/* Chunks `first`..`current` are in use, those after `current` wait for reuse. */
struct arena {
    struct chunk *first, *current;
};

void arena_out_of_memory(void)
{
    fputs("pipec: error: out of memory\n", stderr);
    exit(2);
}

struct arena *arena_create(void)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (!arena) arena_out_of_memory();
    return arena;
}

static unsigned char *chunk_bytes(struct chunk *chunk)
{
    return (unsigned char *)chunk->bytes;
}

void arena_destroy(struct arena *arena)
{
    if (!arena) return;
    for (struct chunk *chunk = arena->first, *next; chunk; chunk = next) {
        next = chunk->next;
        ASAN_UNPOISON_MEMORY_REGION(chunk_bytes(chunk), chunk->size_bytes);
        free(chunk);
    }
    free(arena);
}

void arena_reset(struct arena *arena)
{
    for (struct chunk *chunk = arena->first; chunk; chunk = chunk->next) {
        chunk->used_bytes = 0;
        ASAN_POISON_MEMORY_REGION(chunk_bytes(chunk), chunk->size_bytes);
    }
    arena->current = arena->first;
}

/* Adds a chunk with room for `size_bytes` after the current one, and makes it current. */
static struct chunk *add_chunk(struct arena *arena, size_t size_bytes)
{
    size_t room = arena->current ? arena->current->size_bytes * 2 : CHUNK_BYTES;
    if (room > CHUNK_MAX_BYTES) room = CHUNK_MAX_BYTES;
    if (room < size_bytes) room = size_bytes;
    struct chunk *chunk;
    size_t total;
    if (__builtin_add_overflow(room, sizeof *chunk, &total)) arena_out_of_memory();
    chunk = malloc(total);
    if (!chunk) arena_out_of_memory();
    chunk->size_bytes = room;
    chunk->used_bytes = 0;
    chunk->next = arena->current ? arena->current->next : NULL;
    if (arena->current)
        arena->current->next = chunk;
    else
        arena->first = chunk;
    ASAN_POISON_MEMORY_REGION(chunk_bytes(chunk), room);
    return arena->current = chunk;
}

void *arena_alloc(struct arena *arena, size_t size_bytes)
{
    size_t taken;
    if (__builtin_add_overflow(size_bytes, (size_t)ALIGNMENT - 1 + REDZONE_BYTES, &taken))
        arena_out_of_memory();
    taken &= ~((size_t)ALIGNMENT - 1);
    struct chunk *chunk = arena->current;
    while (chunk && chunk->size_bytes - chunk->used_bytes < taken && chunk->next)
        chunk = arena->current = chunk->next;
    if (!chunk || chunk->size_bytes - chunk->used_bytes < taken) chunk = add_chunk(arena, taken);
    unsigned char *memory = chunk_bytes(chunk) + chunk->used_bytes;
    chunk->used_bytes += taken;
    ASAN_UNPOISON_MEMORY_REGION(memory, size_bytes);
    return memset(memory, 0, size_bytes);
}

void *arena_array(struct arena *arena, size_t count, size_t size_bytes)
{
    size_t total;
    if (__builtin_mul_overflow(count, size_bytes, &total)) arena_out_of_memory();
    return arena_alloc(arena, total);
}

void *arena_copy(struct arena *arena, const void *from, size_t size_bytes)
{
    void *to = arena_alloc(arena, size_bytes);
    return size_bytes ? memcpy(to, from, size_bytes) : to;
}

char *arena_string(struct arena *arena, const char *from, size_t length)
{
    if (length == SIZE_MAX) arena_out_of_memory();
    char *to = arena_alloc(arena, length + 1);
    if (length) memcpy(to, from, length);
    return to;
}

char *arena_vprintf(struct arena *arena, const char *format, va_list args)
{
    char buffer[512];
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(buffer, sizeof buffer, format, args);
    char *text = NULL;
    if (length >= 0 && (size_t)length < sizeof buffer) {
        text = arena_string(arena, buffer, (size_t)length);
    } else if (length >= 0) {
        text = arena_alloc(arena, (size_t)length + 1);
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    if (!text) arena_out_of_memory();
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = arena_vprintf(arena, format, args);
    va_end(args);
    return text;
}

const char *arena_quoted_list(struct arena *arena, const char *const *names, size_t count)
{
    const char *list = "";
    for (size_t i = 0; i < count; i++)
        list = arena_printf(arena, "%s%s'%s'", list, i == 0 ? "" : ", ", names[i]);
    return list;
}

const char *arena_counted(struct arena *arena, uint64_t count, const char *noun)
{
    return arena_printf(arena, "%" PRIu64 " %s%s", count, noun, count == 1 ? "" : "s");
}
