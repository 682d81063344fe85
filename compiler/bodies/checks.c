/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/checks.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- one access ---- */

/* A negative constant index is sign-extended, so it is beyond every bound. */
bool checks_index(bool bounds_checks, const struct kx *index, enum access_check check,
                  uint64_t bound)
{
    bool is_constant = index->kind == KX_CONSTANT;
    if (!bounds_checks || (is_constant && index->value.bits < bound)) return false;
    return is_constant || check == ACCESS_CHECKED;
}

bool checks_is_within(const struct kx *offset, uint32_t side)
{
    return offset->kind == KX_CONSTANT && offset->value.bits + side / 2 < side;
}

bool checks_offset(bool bounds_checks, const struct kx *offset, enum access_check check,
                   uint32_t side)
{
    if (!bounds_checks || checks_is_within(offset, side)) return false;
    return offset->kind == KX_CONSTANT || check == ACCESS_CHECKED;
}

bool checks_divides(const struct kx *x)
{
    if (x->kind != KX_BINARY && x->kind != KX_ASSIGN) return false;
    if (x->op != OP_DIV && x->op != OP_REM) return false;
    return type_is_integer(type_item(x->kind == KX_ASSIGN ? x->operation : x->type));
}

bool checks_divisor_varies(const struct kx *x)
{
    const struct kx *divisor = x->right->kind == KX_BROADCAST ? x->right->left : x->right;
    return divisor->kind != KX_CONSTANT || divisor->value.bits == 0;
}

bool checks_divides_by_zero(const struct kx *x)
{
    return checks_divides(x) && x->check != ACCESS_PROVEN && checks_divisor_varies(x);
}

/* ---- all of a kernel ---- */

struct counter {
    struct arena *arena;
    struct kernel_checks checks;
    VEC(const struct function *) visited;
};

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

static bool count_statement(const struct ks *s, void *data)
{
    struct counter *c = data;
    count_access(c, s->element, s->element_check);
    if (s->kind == KS_STORE) count_access(c, s->index, s->check);
    if (s->kind != KS_EMIT) return false;
    if (s->count_proven) {
        c->checks.appends_proven++;
        return false;
    }
    c->checks.appends_checked++;
    vec_push(c->arena, &c->checks.checked, s->span);
    return false;
}

/* Each function counts once. */
static bool count_checked_expression(const struct kx *x, void *data)
{
    struct counter *c = data;
    if (x->kind == KX_INDEX || x->kind == KX_PEEK) count_access(c, x->right, x->check);
    if (x->kind == KX_PEEK) count_access(c, x->left, x->element_check);
    if (x->kind == KX_WINDOW) {
        count_access(c, x->left, x->check);
        count_access(c, x->right, x->column_check);
        count_access(c, x->third, x->element_check);
    }
    if (x->kind != KX_CALL) return false;
    for (size_t i = 0; i < c->visited.count; i++)
        if (c->visited.items[i] == x->function) return false;
    vec_push(c->arena, &c->visited, x->function);
    return ks_any(x->function->body, count_statement, count_checked_expression, c);
}

struct kernel_checks checks_of_kernel(struct arena *arena, const struct kernel *kernel)
{
    struct counter c = {.arena = arena};
    ks_any(kernel->init, count_statement, count_checked_expression, &c);
    ks_any(kernel->body, count_statement, count_checked_expression, &c);
    ks_any(kernel->finish, count_statement, count_checked_expression, &c);
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

/* Extern code: the compiler knows nothing of its accesses. */
static void print_foreign_checks(FILE *to, const struct graph *graph)
{
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *kernel = graph->kernels.items[i];
        const struct foreign *foreign = kernel->foreign;
        if (foreign == NULL) continue;
        fprintf(to, "\nforeign code: '%s' from", kernel->name);
        for (uint32_t f = 0; f < foreign->file_count; f++)
            fprintf(to, "%s %s", f > 0 ? "," : "", foreign->files[f]);
        fprintf(to,
                "; %s\n  nothing proves that it stays within its windows, and it may write other "
                "bits elsewhere\n",
                foreign->pure ? "declared 'pure'" : "its firings follow one another");
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
    const char *of = graph_is_foreign(graph) ? " in pipec's own code" : "";
    if (!any)
        fprintf(to, "\nno checks at run time%s: every append and every index is proven\n", of);
    print_foreign_checks(to, graph);
    arena_destroy(arena);
}
