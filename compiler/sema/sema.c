/* SPDX-License-Identifier: MIT */
#include "compiler/sema/sema.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/diagnostics/diag_set.h"
#include "compiler/sema/sema_internal.h"
#include "compiler/sema/test_internal.h"
#include "base/nearest.h"

/* ---- the program's scope ---- */

static struct symbol item_symbol(enum symbol_kind kind, const struct ast_item *item,
                                 struct ast_name name)
{
    return (struct symbol){.kind = kind, .name = name.text, .span = name.span, .item = item};
}

static void declare_constants(struct scope *globals, const struct ast_item *item)
{
    for (const struct ast_declarator *d = item->declarators; d != NULL; d = d->next) {
        struct symbol symbol = item_symbol(SYMBOL_LAZY_CONSTANT, item, d->name);
        symbol.declarator = d;
        scope_declare(globals, symbol);
    }
}

static void declare_global_item(struct scope *globals, const struct ast_item *item)
{
    switch (item->kind) {
    case AST_ITEM_CONST: declare_constants(globals, item); break;
    case AST_ITEM_STRUCT:
        scope_declare(globals, item_symbol(SYMBOL_STRUCT, item, item->name));
        break;
    case AST_ITEM_FN: scope_declare(globals, item_symbol(SYMBOL_FN, item, item->name)); break;
    case AST_ITEM_KERNEL:
        scope_declare(globals, item_symbol(SYMBOL_KERNEL, item, item->signature.name));
        break;
    case AST_ITEM_PIPELINE:
        scope_declare(globals, item_symbol(SYMBOL_PIPELINE, item, item->signature.name));
        break;
    case AST_ITEM_IMPORT:
    case AST_ITEM_TEST: break;
    }
}

static bool is_library_source(const struct compile *cx, uint32_t source)
{
    const struct source *file = source_get(cx->sources, source);
    return file != NULL && strncmp(file->name, "std/", 4) == 0;
}

struct scope *sema_scope_at(struct sema *sema, struct span span)
{
    return is_library_source(sema->cx, span.source) ? sema->library : sema->globals;
}

/* ---- the choice of the pipeline ---- */

struct chooser {
    struct sema *sema;
    VEC(const struct ast_item *) pipelines;
    VEC(const char *) used;    /* names in chains */
    VEC(const char *) refused; /* pipelines that a test expects to be refused */
    const struct ast_item
        *kernel; /* the first kernel of the program that a chain can use as it is */
};

static bool is_plain_port(const struct ast_port *port)
{
    for (const struct ast_attribute *a = port->attributes; a != NULL; a = a->next)
        if (strcmp(a->name.text, "window") == 0) return false;
    return port->dims == NULL && port->type->dims == NULL;
}

/* True for a kernel with one in-port, one out-port, and neither parameters nor arguments. */
static bool is_simple_kernel(const struct ast_item *item)
{
    const struct ast_port *first = item->signature.ports;
    const struct ast_port *second = first != NULL ? first->next : NULL;
    return item->kind == AST_ITEM_KERNEL && item->kernel_kind == AST_KERNEL_PLAIN &&
           item->signature.type_params == NULL && item->signature.params == NULL &&
           second != NULL && second->next == NULL && !first->is_out && second->is_out &&
           is_plain_port(first) && is_plain_port(second);
}

static bool expects_error(const struct ast_item *test)
{
    for (const struct ast_check *c = test->checks; c != NULL; c = c->next)
        if (c->kind == AST_CHECK_EXPECT_NAMED && strcmp(c->name.text, "error") == 0) return true;
    return false;
}

static void note_used(struct chooser *chooser, const struct ast_net *net)
{
    for (; net != NULL; net = net->next) {
        for (const struct ast_node *n = net->chain; n != NULL; n = n->next)
            vec_push(chooser->sema->cx->arena, &chooser->used, n->name.text);
        note_used(chooser, net->body);
        note_used(chooser, net->otherwise);
    }
}

static void note_fallback(struct chooser *chooser, const struct ast_item *item)
{
    if (item->fallback != NULL)
        vec_push(chooser->sema->cx->arena, &chooser->used, item->fallback->name.text);
}

static bool is_refused(const struct chooser *chooser, const char *name)
{
    for (size_t i = 0; i < chooser->refused.count; i++)
        if (chooser->refused.items[i] == name) return true;
    return false;
}

/* True if another pipeline uses it, or if only a test does. */
static bool is_used(const struct chooser *chooser, const char *name)
{
    for (size_t i = 0; i < chooser->used.count; i++)
        if (chooser->used.items[i] == name) return true;
    return is_refused(chooser, name);
}

static const struct ast_item *find_pipeline(const struct chooser *chooser, const char *name)
{
    for (size_t i = 0; i < chooser->pipelines.count; i++)
        if (strcmp(chooser->pipelines.items[i]->signature.name.text, name) == 0)
            return chooser->pipelines.items[i];
    return NULL;
}

static struct span program_start(const struct ast_program *program)
{
    uint32_t source = program->files != NULL ? program->files->source : 0;
    return (struct span){source, 0, 0};
}

/* Shows an example of a pipeline, with a kernel of the program. */
static void help_pipeline(const struct chooser *chooser, struct diag *d)
{
    if (chooser->kernel == NULL) {
        diag_help(
            d,
            "kernels are joined in 'pipeline main(in TYPE x, out TYPE y) { x -> KERNEL -> y; }'");
        return;
    }
    const struct ast_port *in = chooser->kernel->signature.ports;
    diag_help(d, "join the kernels: 'pipeline main(in %s %s, out %s %s) { %s -> %s -> %s; }'",
              in->type->name.text, in->name.text, in->next->type->name.text, in->next->name.text,
              in->name.text, chooser->kernel->signature.name.text, in->next->name.text);
}

const char *sema_list_names(struct compile *cx, const char *const *names, size_t count)
{
    enum { LISTED_MAX = 8 };
    size_t listed = count <= LISTED_MAX ? count : LISTED_MAX;
    const char *list = arena_quoted_list(cx->arena, names, listed);
    if (listed == count) return list;
    return arena_printf(cx->arena, "%s and %zu more", list, count - listed);
}

static const struct ast_item *named_pipeline(struct chooser *chooser, struct span start)
{
    struct compile *cx = chooser->sema->cx;
    const char *wanted = cx->options.pipeline;
    const struct ast_item *found = find_pipeline(chooser, wanted);
    if (found != NULL) return found;
    struct diag *d =
        diag_report(cx->diags, RULE_NO_PIPELINE, start, "there is no pipeline '%s'", wanted);
    size_t count = chooser->pipelines.count;
    const char **names = ARENA_ARRAY(cx->arena, const char *, count + 1);
    for (size_t i = 0; i < count; i++)
        names[i] = chooser->pipelines.items[i]->signature.name.text;
    if (count == 0)
        help_pipeline(chooser, d);
    else
        diag_note(d, "%s %s", count == 1 ? "the only pipeline is" : "the pipelines are",
                  sema_list_names(cx, names, count));
    const char *nearest = nearest_name(wanted, names, count);
    if (nearest != NULL) diag_help(d, "did you mean '-p %s'?", nearest);
    return NULL;
}

static void report_several(struct chooser *chooser, const struct ast_item *first,
                           const struct ast_item *second)
{
    struct diag *d =
        diag_report(chooser->sema->cx->diags, RULE_NO_PIPELINE, second->signature.name.span,
                    "several pipelines could be compiled, and none is called 'main'");
    diag_primary(d, "this one");
    diag_label(d, first->signature.name.span, "or this one");
    diag_help(d, "choose one: -p %s", first->signature.name.text);
}

/* If other pipelines use each pipeline, there is a cycle: elaborating one reports it. */
static const struct ast_item *explain_none(struct chooser *chooser, struct span start)
{
    const struct ast_item *parametrised = NULL;
    size_t count = 0;
    for (size_t i = 0; i < chooser->pipelines.count; i++) {
        const struct ast_signature *signature = &chooser->pipelines.items[i]->signature;
        if (signature->type_params != NULL && !is_used(chooser, signature->name.text)) {
            parametrised = chooser->pipelines.items[i];
            count++;
        }
        if (signature->type_params == NULL && !is_refused(chooser, signature->name.text))
            return chooser->pipelines.items[i];
    }
    if (count == 1) return parametrised; /* elaborating reports the missing -D */
    struct diag *d = diag_report(
        chooser->sema->cx->diags, RULE_NO_PIPELINE, start,
        count > 0 ? "there is no pipeline to compile but those with compile-time parameters"
                  : "there is no pipeline to compile");
    if (count > 0)
        diag_help(d, "choose one and give its parameters: -p %s -D %s=...",
                  parametrised->signature.name.text,
                  parametrised->signature.type_params->name.text);
    else
        help_pipeline(chooser, d);
    return NULL;
}

/* -p NAME, else `main`, else the only one that no other uses. */
static const struct ast_item *choose_pipeline(struct chooser *chooser, struct span start)
{
    const struct compile *cx = chooser->sema->cx;
    bool optional = cx->options.pipeline_optional;
    if (cx->options.pipeline != NULL) return named_pipeline(chooser, start);
    const struct ast_item *chosen = find_pipeline(chooser, "main");
    if (chosen != NULL && optional && !sema_all_defined(cx, &chosen->signature)) chosen = NULL;
    if (chosen != NULL) return chosen;
    for (size_t i = 0; i < chooser->pipelines.count; i++) {
        const struct ast_item *candidate = chooser->pipelines.items[i];
        if (is_used(chooser, candidate->signature.name.text)) continue;
        if (!sema_all_defined(cx, &candidate->signature)) continue; /* a parameter has no value */
        if (chosen != NULL) {
            if (!optional) report_several(chooser, chosen, candidate);
            return NULL;
        }
        chosen = candidate;
    }
    if (chosen == NULL && !optional) return explain_none(chooser, start);
    return chosen;
}

/* ---- checks of unused items ---- */

static void check_unused_item(struct sema *sema, const struct ast_item *item)
{
    switch (item->kind) {
    case AST_ITEM_FN: sema_check_function(sema, item); break;
    case AST_ITEM_STRUCT: {
        struct symbol *symbol = scope_find(sema->globals, item->name.text);
        if (symbol != NULL && symbol->item == item) sema_struct(sema, symbol);
        break;
    }
    case AST_ITEM_KERNEL:
        if (item->signature.type_params == NULL) sema_kernel(sema, item, NULL, 0);
        break;
    case AST_ITEM_CONST:
        for (const struct ast_declarator *d = item->declarators; d != NULL; d = d->next) {
            struct symbol *symbol = scope_find(sema->globals, d->name.text);
            if (symbol != NULL && symbol->kind == SYMBOL_LAZY_CONSTANT)
                sema_force_constant(sema, symbol);
        }
        break;
    default: break;
    }
}

/* True for pipelines that another one uses: they were checked with it. Otherwise each level of a
 * tower of pipelines would build all levels below it again. */
static bool is_elaborated(struct sema *sema, const struct ast_item *pipeline)
{
    const struct symbol *symbol = scope_find(sema->globals, pipeline->signature.name.text);
    return symbol != NULL && symbol->item == pipeline && symbol->elaborated;
}

static void check_unused(struct chooser *chooser, const struct ast_program *program,
                         const struct ast_item *chosen)
{
    struct sema *sema = chooser->sema;
    for (const struct ast_file *file = program->files; file != NULL; file = file->next) {
        if (is_library_source(sema->cx, file->source)) continue;
        for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
            check_unused_item(sema, item);
            if (item->kind == AST_ITEM_PIPELINE && item != chosen &&
                item->signature.type_params == NULL && !is_elaborated(sema, item) &&
                !is_refused(chooser, item->signature.name.text))
                sema_elaborate_pipeline(sema, item, sema->globals, NULL, false);
        }
    }
}

/* ---- tests ---- */

static void check_test_name(struct sema *sema, const struct ast_item *first,
                            const struct ast_item *test)
{
    for (const struct ast_item *item = first; item != test; item = item->next) {
        if (item->kind != AST_ITEM_TEST || item->name.text != test->name.text) continue;
        struct diag *d = diag_report(sema->cx->diags, RULE_DUPLICATE_NAME, test->name.span,
                                     "two tests are called '%s'", test->name.text);
        diag_label(d, item->name.span, "the first one");
        return;
    }
}

/* The tests of imported files are checked when those files are compiled. */
static void check_tests(struct sema *sema, const struct ast_program *program)
{
    struct test_case ignored;
    if (program->files == NULL) return;
    for (const struct ast_item *item = program->files->items; item != NULL; item = item->next) {
        if (item->kind != AST_ITEM_TEST) continue;
        check_test_name(sema, program->files->items, item);
        test_check_with(sema, item, &ignored);
    }
}

/* ---- completely examined items ---- */

static uint64_t place_key(struct span span)
{
    return (uint64_t)span.source << 32 | span.begin;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Items that are in no graph are not analysed further. A function counts as examined only if all
 * kernels and pipelines are, because any of them may call it. */
static void note_examined(const struct sema *sema, const struct ast_program *program,
                          const struct graph *graph, const struct ast_item *chosen)
{
    size_t count = 0;
    bool all = true;
    /* The names of the kernels and pipelines that the graph is made of, in order of place. */
    uint64_t *names =
        ARENA_ARRAY(sema->cx->arena, uint64_t, graph->kernels.count + sema->inner.count + 1);
    for (size_t i = 0; i < graph->kernels.count; i++)
        names[count++] = place_key(graph->kernels.items[i]->span);
    for (size_t i = 0; i < sema->inner.count; i++)
        names[count++] = place_key(sema->inner.items[i]->signature.name.span);
    if (chosen != NULL) names[count++] = place_key(chosen->signature.name.span);
    qsort(names, count, sizeof *names, compare_keys);
    for (const struct ast_file *file = program->files; file != NULL; file = file->next) {
        if (is_library_source(sema->cx, file->source)) continue;
        for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
            if (item->kind != AST_ITEM_KERNEL && item->kind != AST_ITEM_PIPELINE) continue;
            uint64_t key = place_key(item->signature.name.span);
            bool found = bsearch(&key, names, count, sizeof *names, compare_keys) != NULL;
            diag_examined(sema->cx->diags, item->span, found);
            all &= found;
        }
    }
    for (const struct ast_file *file = program->files; file != NULL; file = file->next)
        for (const struct ast_item *item = file->items; item != NULL; item = item->next)
            if (item->kind == AST_ITEM_FN && !is_library_source(sema->cx, file->source))
                diag_examined(sema->cx->diags, item->span, all);
}

/* ---- the pass ---- */

/* Adds the marked kernels, with the children that they launch, and all functions without errors. */
static void collect_marked_kernels(struct sema *sema, struct graph *graph, bool *seen)
{
    struct arena *arena = sema->cx->arena;
    VEC(const struct kernel *) launching = {0};
    for (size_t i = 0; i < sema->kernels.count; i++) {
        if (!seen[i]) continue;
        vec_push(arena, &launching, sema->kernels.items[i]);
        vec_push(arena, &graph->kernels, sema->kernels.items[i]);
    }
    for (size_t i = 0; i < launching.count; i++) {
        const struct kernel_launches *launches = &launching.items[i]->launches;
        for (size_t c = 0; c < launches->children.count; c++) {
            const struct kernel *child = launches->children.items[c];
            if (!seen[child->id]) vec_push(arena, &launching, child);
            seen[child->id] = true;
        }
    }
    for (size_t i = 0; i < sema->kernels.count; i++)
        if (seen[i] && sema->kernels.items[i]->is_child) {
            vec_push(arena, &graph->kernels, sema->kernels.items[i]);
            graph->child_kernels++;
        }
    for (size_t i = 0; i < sema->functions.count; i++)
        if (sema->functions.items[i]->sound)
            vec_push(arena, &graph->functions, sema->functions.items[i]);
}

void sema_collect_used(struct sema *sema, struct graph *graph)
{
    bool *seen = ARENA_ARRAY(sema->cx->arena, bool, sema->kernels.count + 1);
    for (size_t i = 0; i < graph->nodes.count; i++)
        seen[graph->nodes.items[i].kernel->id] = true;
    collect_marked_kernels(sema, graph, seen);
}

/* ---- kernels without errors in a program with errors ---- */

static bool span_contains(struct span outer, struct span place)
{
    return outer.source == place.source && outer.begin < place.begin && place.begin <= outer.end;
}

/* True if an error lies in the span. A syntax error may have removed a part of the kernel without
 * making it unusable. */
static bool holds_error(const struct diags *diags, struct span span)
{
    for (size_t i = 0; i < diag_kept_count(diags); i++) {
        const struct diag *diag = diag_at(diags, i);
        if (diag_level(diag) == DIAG_ERROR && span_contains(span, diag_span(diag))) return true;
    }
    return false;
}

/* Collects kernels that a chain names: others are not examined in a program without errors either. */
static void collect_sound(struct chooser *chooser, const struct diags *reported)
{
    struct sema *sema = chooser->sema;
    struct arena *arena = sema->cx->arena;
    struct graph *graph = ARENA_NEW(arena, struct graph);
    bool *seen = ARENA_ARRAY(arena, bool, sema->kernels.count + 1);
    graph->types = sema->types;
    for (size_t i = 0; i < sema->kernels.count; i++) {
        const struct kernel *kernel = sema->kernels.items[i];
        seen[i] = !kernel->is_child && is_used(chooser, kernel->name) &&
                  !holds_error(reported, kernel->whole_span);
    }
    collect_marked_kernels(sema, graph, seen);
    sema->cx->sound = graph;
}

struct sema *sema_create(struct compile *cx, const struct ast_program *program)
{
    struct sema *sema = ARENA_NEW(cx->arena, struct sema);
    struct scope *library = scope_create(cx, NULL);
    *sema = (struct sema){.cx = cx,
                          .types = types_create(cx->arena),
                          .library = library,
                          .globals = scope_create(cx, library)};
    for (const struct ast_file *file = program->files; file != NULL; file = file->next)
        for (const struct ast_item *item = file->items; item != NULL; item = item->next)
            declare_global_item(sema_scope_at(sema, item->span), item);
    return sema;
}

static void note_items(struct chooser *chooser, const struct ast_program *program)
{
    struct compile *cx = chooser->sema->cx;
    for (const struct ast_file *file = program->files; file != NULL; file = file->next) {
        for (const struct ast_item *item = file->items; item != NULL; item = item->next) {
            if (item->kind == AST_ITEM_TEST && expects_error(item))
                vec_push(cx->arena, &chooser->refused, item->subject->name.text);
            if (chooser->kernel == NULL && is_simple_kernel(item) &&
                !is_library_source(cx, file->source))
                chooser->kernel = item;
            note_fallback(chooser, item);
            if (item->kind != AST_ITEM_PIPELINE) continue;
            if (!is_library_source(cx, file->source))
                vec_push(cx->arena, &chooser->pipelines, item);
            note_used(chooser, item->net);
        }
    }
}

struct graph *sema_elaborate(struct compile *cx, const struct ast_program *program)
{
    struct chooser chooser = {.sema = sema_create(cx, program)};
    note_items(&chooser, program);
    bool is_list = program->files != NULL && program->files->is_commands;
    const struct ast_item *chosen =
        is_list ? NULL : choose_pipeline(&chooser, program_start(program));
    struct graph *graph = NULL;
    if (is_list) graph = sema_elaborate_commands(chooser.sema, program->files);
    if (chosen != NULL)
        graph = sema_elaborate_pipeline(chooser.sema, chosen, chooser.sema->globals, NULL, true);
    if (graph != NULL) {
        sema_collect_used(chooser.sema, graph);
        note_examined(chooser.sema, program, graph, chosen);
    }
    if (!cx->options.pipeline_alone) {
        check_unused(&chooser, program, chosen);
        check_tests(chooser.sema, program);
    }
    if (!diag_failed(cx->diags)) return graph;
    collect_sound(&chooser, cx->diags);
    return NULL;
}

void sema_check(struct compile *cx, const struct ast_program *program, const struct diags *reported)
{
    struct chooser chooser = {.sema = sema_create(cx, program)};
    note_items(&chooser, program);
    check_unused(&chooser, program, NULL);
    check_tests(chooser.sema, program);
    if (reported != NULL) collect_sound(&chooser, reported);
}
