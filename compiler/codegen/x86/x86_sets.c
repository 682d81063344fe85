/* SPDX-License-Identifier: MIT */
#include "compiler/codegen/x86/x86.h"

#include "lang/cpu_features.h"

#include <string.h>

static const char *const levels[] = {NULL, "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
enum { LEVEL_COUNT = sizeof levels / sizeof levels[0] };
const char *const x86_set_names[] = {"x86-64",    "x86-64-v2", "x86-64-v3",
                                     "x86-64-v4", "native",    NULL};

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

bool x86_find_set(struct arena *arena, const char *name, struct instruction_set *out)
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

unsigned x86_rank(const struct instruction_set *set)
{
    return (unsigned)__builtin_popcountll(set->features);
}
