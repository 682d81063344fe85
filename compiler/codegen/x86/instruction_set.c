/* SPDX-License-Identifier: MIT */
#include "compiler/codegen/x86/x86.h"

#include "compiler/diagnostics/diag.h"
#include "lang/cpu_features.h"
#include "base/nearest.h"

#include <string.h>

static const char *const levels[] = {NULL, "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
enum { LEVEL_COUNT = sizeof levels / sizeof levels[0] };
static const char *const names[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native"};
enum { NAME_COUNT = sizeof names / sizeof names[0] };

static const char *feature_list(struct arena *arena, uint64_t features)
{
    const char *list = "";
    for (unsigned bit = 0; bit < 64; bit++)
        if ((features >> bit & 1) != 0)
            list = arena_printf(arena, "%s%s+%s", list, list[0] != '\0' ? "," : "",
                                cpu_feature_name(bit));
    return list;
}

static struct instruction_set describe_set(struct arena *arena, const char *name, unsigned level,
                                           uint64_t features)
{
    uint64_t avx512 = cpu_features_of_level(4) & ~cpu_features_of_level(3);
    uint64_t avx = cpu_features_of_level(3) & ~cpu_features_of_level(2);
    bool wide = (features & avx512) == avx512;
    return (struct instruction_set){
        .name = name,
        .cpu = levels[level],
        .extra = feature_list(arena, features & ~cpu_features_of_level(level)),
        .features = features,
        .vector_bits = wide                      ? 512
                       : (features & avx) == avx ? 256
                                                 : 128,
        .vector_registers = wide ? 32 : 16,
        .live_bytes_max = wide ? 1024 : 256,
        .compresses = wide,
        .native = strcmp(name, "native") == 0,
    };
}

static bool find(struct arena *arena, const char *name, struct instruction_set *out)
{
    uint64_t host = cpu_features_of_host();
    bool native = strcmp(name, "native") == 0;
    if (native) *out = describe_set(arena, "native", cpu_features_level(host), host);
    for (unsigned level = 1; level < LEVEL_COUNT && !native; level++) {
        if (strcmp(name, levels[level]) != 0) continue;
        *out = describe_set(arena, levels[level], level, cpu_features_of_level(level));
        return true;
    }
    return native;
}

static bool has(const struct instruction_set *sets, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(sets[i].name, name) == 0) return true;
    return false;
}

/* Inserts the set after those with as many features or more. */
static void insert(struct instruction_set *sets, uint32_t count, struct instruction_set set)
{
    uint32_t at = count;
    for (; at > 0; at--) {
        if (__builtin_popcountll(sets[at - 1].features) >= __builtin_popcountll(set.features))
            break;
        sets[at] = sets[at - 1];
    }
    sets[at] = set;
}

/* "; did you mean ...?", or "": `x86-64-` may have been forgotten, or a letter be wrong. */
static const char *suggest(struct arena *arena, const char *name)
{
    struct instruction_set set;
    const char *meant = arena_printf(arena, "x86-64-%s", name);
    if (strcmp(name, "") == 0) return "";
    if (!find(arena, meant, &set)) meant = nearest_name(name, names, NAME_COUNT);
    return meant != NULL ? arena_printf(arena, "; did you mean '%s'?", meant) : "";
}

static const char *explain_unknown(struct arena *arena, const char *name)
{
    const char *known = "";
    for (unsigned i = 0; i < NAME_COUNT; i++)
        known = arena_printf(arena, "%s%s%s", known, i > 0 ? ", " : "", names[i]);
    const char *what = name[0] != '\0'
                           ? arena_printf(arena, "there is no instruction set '%s'", name)
                           : "a name is missing";
    return arena_printf(arena, "%s; there are: %s%s", what, known, suggest(arena, name));
}

uint32_t x86_read_sets(struct arena *arena, const char *list,
                       struct instruction_set sets[INSTRUCTION_SETS_MAX], const char **problem)
{
    uint32_t count = 0;
    if (list == NULL) list = "x86-64-v3";
    for (;;) {
        size_t length = strcspn(list, ",");
        struct instruction_set set;
        const char *name = arena_printf(arena, "%.*s", (int)length, list);
        if (!find(arena, name, &set)) {
            *problem = explain_unknown(arena, name);
            return 0;
        }
        if (has(sets, count, name)) {
            *problem = arena_printf(arena, "'%s' is named twice", name);
            return 0;
        }
        insert(sets, count++, set);
        if (list[length] == '\0') return count;
        list += length + 1;
    }
}
