/* SPDX-License-Identifier: MIT */
#include "compiler/codegen/common/instruction_set.h"

#include "base/nearest.h"
#include "base/vec.h"
#include "compiler/codegen/common/code_generator.h"
#include "compiler/target/target.h"

#include <assert.h>
#include <string.h>

static const struct code_generator *const generators[] = {&code_generator_x86, &code_generator_ptx};
enum { GENERATOR_COUNT = sizeof generators / sizeof generators[0] };

static bool find_instruction_set(struct arena *arena, const char *name, struct instruction_set *out)
{
    for (int i = 0; i < GENERATOR_COUNT; i++) {
        if (!generators[i]->find_set(arena, name, out)) continue;
        out->code = generators[i];
        return true;
    }
    return false;
}

static bool has_set(const struct instruction_set *sets, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(sets[i].name, name) == 0) return true;
    return false;
}

static int generator_place(const struct code_generator *code)
{
    int place = 0;
    while (place < GENERATOR_COUNT && generators[place] != code)
        place++;
    return place;
}

static bool set_comes_before(const struct instruction_set *a, const struct instruction_set *b)
{
    if (a->code != b->code) return generator_place(a->code) < generator_place(b->code);
    return a->code->rank(a) >= b->code->rank(b);
}

/* Inserts the set after those that are as good. */
static void insert_set(struct instruction_set *sets, uint32_t count, struct instruction_set set)
{
    uint32_t at = count;
    for (; at > 0 && !set_comes_before(&sets[at - 1], &set); at--)
        sets[at] = sets[at - 1];
    sets[at] = set;
}

struct name_list {
    VEC(const char *) names;
    const char *text; /* with commas between them */
};

const char *instruction_set_name(unsigned index)
{
    for (int i = 0; i < GENERATOR_COUNT; i++)
        for (const char *const *name = generators[i]->set_names; *name != NULL; name++)
            if (index-- == 0) return *name;
    return NULL;
}

static struct name_list list_set_names(struct arena *arena)
{
    struct name_list list = {.text = ""};
    for (int i = 0; i < GENERATOR_COUNT; i++)
        for (const char *const *name = generators[i]->set_names; *name != NULL; name++) {
            list.text =
                arena_printf(arena, "%s%s%s", list.text, list.text[0] != '\0' ? ", " : "", *name);
            vec_push(arena, &list.names, *name);
        }
    return list;
}

/* "; did you mean ...?", or "": `x86-64-` may have been forgotten, or a letter be wrong. */
static const char *suggest_name(struct arena *arena, const struct name_list *list, const char *name)
{
    struct instruction_set set;
    const char *meant = arena_printf(arena, "x86-64-%s", name);
    if (strcmp(name, "") == 0) return "";
    if (!find_instruction_set(arena, meant, &set))
        meant = nearest_name(name, list->names.items, (unsigned)list->names.count);
    return meant != NULL ? arena_printf(arena, "; did you mean '%s'?", meant) : "";
}

static const char *explain_unknown(struct arena *arena, const char *name)
{
    struct name_list list = list_set_names(arena);
    const char *what = name[0] != '\0'
                           ? arena_printf(arena, "there is no instruction set '%s'", name)
                           : "a name is missing";
    return arena_printf(arena, "%s; there are: %s%s", what, list.text,
                        suggest_name(arena, &list, name));
}

uint32_t instruction_sets_read(struct arena *arena, const char *list,
                               struct instruction_set sets[INSTRUCTION_SETS_MAX],
                               const char **problem)
{
    uint32_t count = 0;
    for (;;) {
        size_t length = strcspn(list, ",");
        struct instruction_set set;
        const char *name = arena_printf(arena, "%.*s", (int)length, list);
        if (!find_instruction_set(arena, name, &set)) {
            *problem = explain_unknown(arena, name);
            return 0;
        }
        if (has_set(sets, count, name)) {
            *problem = arena_printf(arena, "'%s' is named twice", name);
            return 0;
        }
        insert_set(sets, count++, set);
        if (list[length] == '\0') return count;
        list += length + 1;
    }
}

void instruction_set_for_threads(struct arena *arena, struct instruction_set *out)
{
    size_t i = 0;
    while (i + 1 < GENERATOR_COUNT && !generators[i]->threads)
        i++;
    bool known =
        generators[i]->threads && find_instruction_set(arena, generators[i]->set_names[0], out);
    assert(known);
    (void)known;
}
