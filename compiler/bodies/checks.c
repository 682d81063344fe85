#include "compiler/bodies/checks.h"

#include <inttypes.h>
#include <stdlib.h>

struct counter {
    struct arena *arena;
    struct kernel_checks checks;
    VEC(const struct function *) visited;
};

static void count_kx(struct counter *c, const struct kx *e);
static void count_ks(struct counter *c, const struct ks *stmt);

static void count_access(struct counter *c, const struct kx *index, enum access_check check)
{
    while (index != NULL && index->kind == KX_CONVERT)
        index = index->left;
    if (index == NULL || index->kind == KX_CONSTANT) return;
    if (check != ACCESS_CHECKED) {
        c->checks.accesses_proven++;
        return;
    }
    c->checks.accesses_checked++;
    vec_push(c->arena, &c->checks.checked, index->span);
}

static void count_call(struct counter *c, const struct function *function)
{
    for (size_t i = 0; i < c->visited.count; i++)
        if (c->visited.items[i] == function) return;
    vec_push(c->arena, &c->visited, function);
    count_ks(c, function->body);
}

static void count_kx(struct counter *c, const struct kx *e)
{
    if (e == NULL) return;
    if (e->kind == KX_INDEX || e->kind == KX_PEEK) count_access(c, e->right, e->check);
    if (e->kind == KX_PEEK) count_access(c, e->left, e->element_check);
    if (e->kind == KX_WINDOW) {
        count_access(c, e->left, e->check);
        count_access(c, e->right, e->column_check);
        count_access(c, e->third, e->element_check);
    }
    if (e->kind == KX_CALL) count_call(c, e->function);
    count_kx(c, e->left);
    count_kx(c, e->right);
    count_kx(c, e->third);
    for (uint32_t i = 0; i < e->argument_count; i++)
        count_kx(c, e->arguments[i]);
}

static void count_append(struct counter *c, const struct ks *stmt)
{
    if (stmt->count_proven) {
        c->checks.appends_proven++;
        return;
    }
    c->checks.appends_checked++;
    vec_push(c->arena, &c->checks.checked, stmt->span);
}

static void count_ks(struct counter *c, const struct ks *stmt)
{
    for (; stmt != NULL; stmt = stmt->next) {
        if (stmt->kind == KS_EMIT) count_append(c, stmt);
        if (stmt->kind == KS_STORE) count_access(c, stmt->index, stmt->check);
        count_access(c, stmt->element, stmt->element_check);
        count_kx(c, stmt->expr);
        count_kx(c, stmt->step);
        count_kx(c, stmt->element);
        count_kx(c, stmt->index);
        count_ks(c, stmt->init);
        count_ks(c, stmt->body);
        count_ks(c, stmt->otherwise);
    }
}

struct kernel_checks checks_of_kernel(struct arena *arena, const struct kernel *kernel)
{
    struct counter c = {.arena = arena};
    count_ks(&c, kernel->init);
    count_ks(&c, kernel->body);
    count_ks(&c, kernel->finish);
    return c.checks;
}

/* ---- text ---- */

enum { PLACES_SHOWN = 8 };

static int by_place(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void print_places(FILE *to, const struct sources *sources, struct kernel_checks *checks)
{
    qsort(checks->checked.items, checks->checked.count, sizeof *checks->checked.items, by_place);
    for (size_t i = 0; i < checks->checked.count; i++) {
        const struct span span = checks->checked.items[i];
        const struct source *source = source_get(sources, span.source);
        uint32_t line = 0, column = 0;
        if (source != NULL) source_locate(source, span.begin, &line, &column);
        if (i == PLACES_SHOWN) {
            fprintf(to, ", and %zu more", checks->checked.count - i);
            break;
        }
        fprintf(to, "%s%" PRIu32 ":%" PRIu32, i == 0 ? "" : ", ", line, column);
    }
}

void checks_print(FILE *to, const struct sources *sources, const struct graph *graph)
{
    struct arena *arena = arena_create();
    bool any = false;
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *k = graph->kernels.items[i];
        struct kernel_checks checks = checks_of_kernel(arena, k);
        if (checks.checked.count == 0) continue;
        if (!any) fputs("\nchecks at run time (line:column)\n", to);
        any = true;
        fprintf(to, "%s: %s, %s: ", k->title,
                arena_counted(arena, checks.appends_checked, "append"),
                checks.accesses_checked == 1
                    ? "1 index"
                    : arena_printf(arena, "%" PRIu32 " indices", checks.accesses_checked));
        print_places(to, sources, &checks);
        fputc('\n', to);
    }
    if (!any) fputs("\nno checks at run time: every append and every index is proven\n", to);
    arena_destroy(arena);
}
