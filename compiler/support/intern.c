/* SPDX-License-Identifier: MIT */
#include "compiler/support/intern.h"

#include <stdint.h>
#include <string.h>

/* A hash trie: each level consumes two bits of the hash. Names that were chosen to collide in some
 * bits cost a few more levels, and never a long list. */
struct entry {
    struct entry *child[4];
    size_t length;
    char text[];
};

struct intern {
    struct arena *arena;
    struct entry *root;
};

struct intern *intern_create(struct arena *arena)
{
    struct intern *names = ARENA_NEW(arena, struct intern);
    names->arena = arena;
    return names;
}

/* Multiply and fold, eight bytes at a time. */
static uint64_t hash_bytes(const char *text, size_t length)
{
    uint64_t hash = 0x9e3779b97f4a7c15u ^ length;
    while (length > 0) {
        uint64_t word = 0;
        size_t taken = length < 8 ? length : 8;
        memcpy(&word, text, taken);
        unsigned __int128 product =
            (unsigned __int128)(hash ^ word) * (word ^ 0xd6e8feb86659fd93u ^ (hash << 1 | 1));
        hash = (uint64_t)product ^ (uint64_t)(product >> 64) ^ (hash << 29 | hash >> 35);
        text += taken;
        length -= taken;
    }
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

const char *intern_name(struct intern *names, const char *text, size_t length)
{
    struct entry **at = &names->root;
    for (uint64_t hash = hash_bytes(text, length); *at; hash <<= 2) {
        struct entry *entry = *at;
        if (entry->length == length && (length == 0 || memcmp(entry->text, text, length) == 0))
            return entry->text;
        at = &entry->child[hash >> 62];
    }
    *at = arena_alloc(names->arena, sizeof **at + length + 1);
    (*at)->length = length;
    if (length) memcpy((*at)->text, text, length);
    return (*at)->text;
}

const char *intern_find(const struct intern *names, const char *text, size_t length)
{
    const struct entry *entry = names->root;
    for (uint64_t hash = hash_bytes(text, length); entry; hash <<= 2) {
        if (entry->length == length && (length == 0 || memcmp(entry->text, text, length) == 0))
            return entry->text;
        entry = entry->child[hash >> 62];
    }
    return NULL;
}

const char *intern_string(struct intern *names, const char *text)
{
    return intern_name(names, text, strlen(text));
}
