#include "compiler/codegen/instruction_set.h"

#include "lang/cpu_features.h"

#include <string.h>

const char *const instruction_set_names[] = {
    INSTRUCTION_SET_DEFAULT, "x86-64", "x86-64-v2", "x86-64-v4", "native", NULL};

static const char *const levels[] = {NULL, "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
enum { LEVEL_COUNT = sizeof levels / sizeof levels[0] };

static const char *feature_list(struct arena *arena, uint64_t features)
{
    const char *list = "";
    for (unsigned bit = 0; bit < 64; bit++)
        if ((features >> bit & 1) != 0)
            list = arena_printf(arena, "%s%s+%s", list, list[0] != '\0' ? "," : "",
                                cpu_feature_name(bit));
    return list;
}

static struct instruction_set describe(struct arena *arena, const char *name, unsigned level,
                                       uint64_t features)
{
    uint64_t avx512 = cpu_features_of_level(4) & ~cpu_features_of_level(3);
    uint64_t avx = cpu_features_of_level(3) & ~cpu_features_of_level(2);
    return (struct instruction_set){
        .name = name,
        .cpu = levels[level],
        .extra = feature_list(arena, features & ~cpu_features_of_level(level)),
        .features = features,
        .vector_bits = (features & avx512) == avx512 ? 512
                       : (features & avx) == avx     ? 256
                                                     : 128,
        .native = strcmp(name, "native") == 0,
    };
}

static bool find(struct arena *arena, const char *name, struct instruction_set *out)
{
    uint64_t host = cpu_features_of_host();
    bool native = strcmp(name, "native") == 0;
    if (native) *out = describe(arena, "native", cpu_features_level(host), host);
    for (unsigned level = 1; level < LEVEL_COUNT && !native; level++) {
        if (strcmp(name, levels[level]) != 0) continue;
        *out = describe(arena, levels[level], level, cpu_features_of_level(level));
        return true;
    }
    return native;
}

/* Behind those with as many features or more, unless it is there. */
static uint32_t insert(struct instruction_set *sets, uint32_t count, struct instruction_set set)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(sets[i].name, set.name) == 0) return count;
    uint32_t at = count;
    for (; at > 0; at--) {
        if (__builtin_popcountll(sets[at - 1].features) >= __builtin_popcountll(set.features))
            break;
        sets[at] = sets[at - 1];
    }
    sets[at] = set;
    return count + 1;
}

uint32_t instruction_sets_read(struct arena *arena, const char *list,
                               struct instruction_set sets[INSTRUCTION_SETS_MAX],
                               const char **unknown)
{
    uint32_t count = 0;
    if (list == NULL) list = INSTRUCTION_SET_DEFAULT;
    for (;;) {
        size_t length = strcspn(list, ",");
        struct instruction_set set;
        const char *name = arena_printf(arena, "%.*s", (int)length, list);
        if (!find(arena, name, &set)) {
            *unknown = name;
            return 0;
        }
        count = insert(sets, count, set);
        if (list[length] == '\0') return count;
        list += length + 1;
    }
}
