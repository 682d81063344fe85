/* SPDX-License-Identifier: MIT */
/*
 * Joins a reader that reads a block in order, `for (i32 i = 1; i < N; i++) s += x[i];`, with a writer that writes the
 * block in many firings.  Each round of the loop follows the firing that writes its packet.  So a packet is a local,
 * and there is no array.  The first firing is separate: statements of the reader before its loop may read its packets.
 *
 *     firing 0 of the writer; statements before the loop; rounds of the packets of firing 0
 *     for (r = 1; r < firings; r++) { firing r of the writer; rounds of its packets }
 *     statements after the loop
 *
 * Writer and reader share only these packets, so the order of their other statements has no effect.
 */
#include "compiler/optimize/compose/compose_internal.h"

#include "compiler/ir/arith.h"

enum {
    PUSH_MAX = 16,
    SIZE_MAX_STREAM = 512
}; /* packets of a firing; expressions of their rounds */

/* ---- where ---- */

struct place_search {
    uint32_t port;
    const struct variable *counter; /* the only admitted index; NULL: constants are admitted, */
    uint64_t below;                 /* below this */
};

/* Is this an access to the port at an index that is not admitted, or an assignment to the counter? */
static bool access_strays(const struct kx *x, void *data)
{
    const struct place_search *search = data;
    if (x->kind == KX_ASSIGN && search->counter != NULL &&
        kx_root_variable(x->left) == search->counter)
        return true;
    if (x->kind != KX_PEEK || x->port != search->port) return false;
    if (search->counter != NULL)
        return x->right->kind != KX_VARIABLE || x->right->variable != search->counter;
    return x->right->kind != KX_CONSTANT || x->right->value.bits >= search->below;
}

static bool jumps_or_appends(const struct ks *s, void *data)
{
    (void)data;
    return s->kind == KS_BREAK || s->kind == KS_CONTINUE || s->kind == KS_RETURN ||
           s->kind == KS_EMIT || s->kind == KS_STORE;
}

/* for (i = *start; i < rounds; i++) */
static bool counts_to(const struct ks *loop, uint64_t rounds, uint64_t *start)
{
    const struct ks *counter = loop->kind == KS_LOOP ? compose_counter_of(loop) : NULL;
    if (counter == NULL || loop->test_after || loop->expr == NULL || loop->step == NULL)
        return false;
    const struct variable *v = counter->variable;
    const struct kx *test = loop->expr, *step = loop->step;
    if (!type_is_scalar(v->type) || !type_is_integer(v->type) || counter->expr == NULL ||
        counter->expr->kind != KX_CONSTANT)
        return false;
    *start = counter->expr->value.bits;
    return test->kind == KX_COMPARE && test->op == OP_LT && test->left->kind == KX_VARIABLE &&
           test->left->variable == v && test->right->kind == KX_CONSTANT &&
           test->right->value.bits == rounds && step->kind == KX_ASSIGN && step->op == OP_ADD &&
           step->left->kind == KX_VARIABLE && step->left->variable == v &&
           step->right->kind == KX_CONSTANT && step->right->value.bits == 1;
}

static const struct ks *statements_of(const struct member *m)
{
    const struct ks *s = m->body;
    while (s != NULL && s->kind == KS_BLOCK && s->next == NULL)
        s = s->body;
    return s;
}

/* The loop of the reader that reads all packets from *start on.  The statements before it read only packets of the
 * writer's first firing, and the statements after it read none. */
static const struct ks *find_loop(const struct edge *edge, const struct member *m, uint32_t port,
                                  uint64_t *start)
{
    const struct ks *found = NULL;
    uint64_t all = edge->writer->firings * edge->push;
    for (const struct ks *s = statements_of(m); s != NULL; s = s->next) {
        struct place_search search = {.port = port, .below = found != NULL ? 0 : edge->push};
        struct ks alone = *s;
        alone.next = NULL;
        if (!ks_any(&alone, NULL, access_strays, &search)) continue;
        if (found != NULL || !counts_to(s, all, start) || *start > edge->push) return NULL;
        search.counter = compose_counter_of(s)->variable;
        if (ks_any(s->body, jumps_or_appends, access_strays, &search)) return NULL;
        if (compose_size_of(s->body) * edge->push > SIZE_MAX_STREAM) return NULL;
        found = s;
    }
    return found;
}

static struct member *only_reader(struct composer *c, const struct edge *edge, uint32_t *port)
{
    const struct graph_buffer *buffer = &c->graph->buffers.items[edge->buffer];
    if (buffer->readers.count != 1 || buffer->outer == GRAPH_OUTER_OUT) return NULL;
    struct member *m = compose_member_of(c, buffer->readers.items[0].node);
    if (m == NULL) return NULL;
    *port = m->of->inputs.items[buffer->readers.items[0].input].kernel_port;
    return m;
}

/* Does no member except the reader read packets of the writer? */
static bool writes_nothing_else(const struct edge *edge)
{
    const struct member *w = edge->writer;
    for (uint32_t o = 0; o < w->output_count; o++)
        if (w->outputs[o].edge != NULL && w->outputs[o].edge != edge) return false;
    return true;
}

bool compose_find_stream(struct composer *c, struct edge *edge)
{
    struct member *w = edge->writer;
    uint32_t port;
    struct member *m = only_reader(c, edge, &port);
    uint64_t start;
    if (m == NULL || edge->initial > 0 || edge->push > PUSH_MAX || edge->zeroed) return false;
    if (w->unrolled || w->inlined || w->ahead > 0 || w->step_count != 1 || w->streams != NULL)
        return false;
    if (m->firings != 1 || m->inlined || m->ahead > 0 || m->streams != NULL) return false;
    if (m->kernel->in[port].is_array || !writes_nothing_else(edge)) return false;
    if (find_loop(edge, m, port, &start) == NULL) return false;
    w->streams = m->streams = edge;
    edge->streamed = true;
    return true;
}

/* ---- both ---- */

/* { TYPE i = value; the loop's body } */
static void put_round(struct firing *f, const struct ks *loop, uint64_t packet, struct kx *value,
                      struct ks ***at)
{
    struct composer *c = f->c;
    const struct variable *counter = compose_counter_of(loop)->variable;
    struct ks *block = compose_put(c, at, KS_BLOCK, loop->span), **body = &block->body;
    struct variable *i = compose_local(c, counter->name, counter->type, counter->span);
    compose_declare(c, &body, i, value);
    f->locals[counter->index] = i;
    f->streamed = packet;
    f->depth++;
    compose_copy(f, loop->body, &body);
    f->depth--;
    f->locals[counter->index] = NULL;
}

static void put_other_rounds(struct firing *f, const struct edge *edge, const struct ks *loop,
                             struct ks ***at)
{
    struct composer *c = f->c;
    struct firing w = {.c = c, .m = edge->writer, .number = 1, .outside = true, .depth = 1};
    const struct type *type = compose_counter_of(loop)->variable->type;
    struct ks **body;
    w.round = compose_loop(c, at, w.m->firings - 1, loop->span, &body);
    compose_firing(&w, &body);
    f->depth++;
    for (uint64_t n = 0; n < edge->push; n++) {
        struct kx *value = compose_variable(c, w.round, loop->span);
        if (edge->push != 1)
            value = compose_binary(c, OP_MUL, value, compose_integer(c, edge->push));
        value = compose_binary(c, OP_ADD, value, compose_integer(c, edge->push + n));
        put_round(f, loop, n, compose_convert(c, type, value), &body);
    }
    f->depth--;
}

void compose_stream(struct composer *c, struct edge *edge, struct ks ***at)
{
    uint32_t port = 0;
    uint64_t start = 0;
    struct firing w = {.c = c, .m = edge->writer, .outside = true};
    struct firing f = {.c = c, .m = only_reader(c, edge, &port), .outside = true};
    const struct ks *loop = find_loop(edge, f.m, port, &start);
    compose_firing(&w, at);
    compose_firing_begin(&f, at);
    for (const struct ks *s = statements_of(f.m); s != NULL; s = s->next) {
        if (s == loop) {
            enum scalar_type type = compose_counter_of(loop)->variable->type->scalar;
            for (uint64_t n = start; n < edge->push; n++)
                put_round(&f, loop, n, compose_scalar(c, arith_integer(type, n), loop->span), at);
            put_other_rounds(&f, edge, loop, at);
        } else {
            compose_statement(&f, s, at);
        }
    }
    compose_ports_end(&f, at);
}
