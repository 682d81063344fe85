/* SPDX-License-Identifier: MIT */
/*
 * Joins loops of a composite that have the same rounds, for example the filters of a bank over the same packets.
 * One loop shares their loads and computes several sums at a time.
 *
 * A loop joins an earlier one with the same head if no statement between them writes a variable that the loop
 * reads or writes, or reads one that it writes.  Declarations that it needs move with it.  Such loops write only
 * locals and append nothing, so no visible effect changes its order.
 *
 * Times: item i of a list has the time 2 i + 1; a declaration that moved in front of it has 2 i.
 */
#include "compiler/optimize/compose/compose_internal.h"

#include "compiler/bodies/cost_regions.h"

enum { TOGETHER_MAX = 12 }; /* loops in one: the registers hold so many sums */

/* Variables times statements, summed over the lists.  A list beyond the limit stays as it is. */
#define WORK_MAX (UINT64_C(1) << 24)

struct item {
    struct ks *s;            /* NULL: a declaration that has moved */
    bool plain;              /* is_plain_loop, for it and for each loop joined in it */
    VEC(struct ks *) before; /* declarations that moved here, in order */
    uint32_t together;       /* loops that are joined in this one, itself included */
};

struct zipper {
    struct composer *c;
    struct arena *scratch;
    uint64_t *written, *read; /* by index of a local: last time; 0: not in this list */
    uint32_t *writers;        /* by index of a local: number of items that write it */
    uint64_t kept_written;    /* last time that a variable other than a local was written */
    VEC(struct item) items;
    VEC(const struct ks *) loops; /* the plain ones of the list, as they were */
};

/* ---- effects of statements ---- */

struct effects {
    bool *reads, *writes; /* by index of a local */
    uint32_t count;
    bool reads_kept, writes_kept, appends;
};

static bool see_expression(const struct kx *x, void *data)
{
    struct effects *effects = data;
    if (x->kind == KX_VARIABLE) {
        const struct variable *v = x->variable;
        if (v->kind == VARIABLE_LOCAL) effects->reads[v->index] = true;
        if (v->kind == VARIABLE_STATE) effects->reads_kept = true;
    }
    if (x->kind != KX_ASSIGN) return false;
    const struct variable *root = kx_root_variable(x->left);
    if (root != NULL && root->kind == VARIABLE_LOCAL)
        effects->writes[root->index] = true;
    else
        effects->writes_kept = true;
    return false;
}

static bool see_statement(const struct ks *s, void *data)
{
    struct effects *effects = data;
    if (s->kind == KS_DECLARE) effects->writes[s->variable->index] = true;
    if (s->kind == KS_EMIT || s->kind == KS_STORE) effects->appends = true;
    return false;
}

/* The effects of this statement only, not of those after it. */
static struct effects effects_of(struct zipper *z, struct ks *s)
{
    struct effects effects = {.count = z->c->kernel->local_count};
    struct ks *next = s->next;
    effects.reads = ARENA_ARRAY(z->scratch, bool, effects.count + 1u);
    effects.writes = ARENA_ARRAY(z->scratch, bool, effects.count + 1u);
    s->next = NULL;
    ks_any(s, see_statement, see_expression, &effects);
    s->next = next;
    return effects;
}

static void note_effects(struct zipper *z, const struct effects *effects, uint64_t time)
{
    for (uint32_t i = 0; i < effects->count; i++) {
        if (effects->reads[i] && z->read[i] < time) z->read[i] = time;
        if (effects->writes[i] && z->written[i] < time) z->written[i] = time;
        z->writers[i] += effects->writes[i];
    }
    if (effects->writes_kept) z->kept_written = time;
}

/* ---- heads of loops ---- */

/* Test and step name the counter itself, so the constants in the head determine the rounds. */
static bool is_plain_loop(const struct ks *s)
{
    uint64_t rounds;
    if (s->kind != KS_LOOP || !cost_known_rounds(s, &rounds) || compose_continues(s->body))
        return false;
    const struct ks *counter = compose_counter_of(s);
    return counter != NULL && s->expr->left->kind == KX_VARIABLE &&
           s->expr->left->variable == counter->variable &&
           s->step->left->variable == counter->variable;
}

static bool same_constant(const struct kx *a, const struct kx *b)
{
    return a->value.type == b->value.type && a->value.bits == b->value.bits;
}

static bool same_head(const struct ks *a, const struct ks *b)
{
    const struct ks *from = compose_counter_of(a), *to = compose_counter_of(b);
    return from->variable->type == to->variable->type && same_constant(from->expr, to->expr) &&
           a->expr->op == b->expr->op && same_constant(a->expr->right, b->expr->right) &&
           a->step->op == b->step->op && same_constant(a->step->right, b->step->right);
}

/* ---- moving ---- */

struct renaming {
    const struct variable *from, *to;
};

static void rename_kx(struct kx *x, const struct renaming *r)
{
    if (x == NULL) return;
    if (x->kind == KX_VARIABLE && x->variable == r->from) x->variable = r->to;
    for (uint32_t i = 0; i < kx_child_count(x); i++)
        rename_kx(kx_child(x, i), r);
}

static void rename_ks(struct ks *s, const struct renaming *r)
{
    for (; s != NULL; s = s->next) {
        struct kx *parts[] = {s->expr, s->step, s->element, s->index};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            rename_kx(parts[i], r);
        rename_ks(s->init, r);
        rename_ks(s->body, r);
        rename_ks(s->otherwise, r);
    }
}

/* The item that declares the local and is the only one that writes it; or NULL. */
static struct item *late_declaration(const struct zipper *z, uint32_t local)
{
    struct item *item = &z->items.items[z->written[local] / 2];
    bool declared = z->written[local] % 2 == 1 && item->s != NULL && item->s->kind == KS_DECLARE &&
                    item->s->variable->index == local;
    return declared && z->writers[local] == 1 ? item : NULL;
}

/* May the declaration move in front of item `to`, with the declarations that it needs?  `changes`: the loop writes the
 * variable, so no statement may have read it since. */
static bool may_move(struct zipper *z, uint32_t local, bool changes, size_t to, uint32_t depth)
{
    enum { DEPTH_MAX = 8 };
    const struct item *item = late_declaration(z, local);
    if (item == NULL || depth == DEPTH_MAX || (changes && z->read[local] > 0)) return false;
    struct effects effects = effects_of(z, item->s);
    if (effects.reads_kept || effects.writes_kept) return false;
    for (uint32_t i = 0; i < effects.count; i++) {
        if (effects.writes[i] && i != local) return false;
        if (effects.reads[i] && z->written[i] > 2 * to && !may_move(z, i, false, to, depth + 1))
            return false;
    }
    return true;
}

static void move_declaration(struct zipper *z, uint32_t local, size_t to)
{
    struct item *item = late_declaration(z, local);
    struct effects effects = effects_of(z, item->s);
    for (uint32_t i = 0; i < effects.count; i++) {
        if (!effects.reads[i]) continue;
        if (z->written[i] > 2 * to) move_declaration(z, i, to);
        if (z->read[i] < 2 * to) z->read[i] = 2 * to;
    }
    vec_push(z->scratch, &z->items.items[to].before, item->s);
    z->written[local] = 2 * to;
    item->s = NULL;
}

/* May the loop's body move into the rounds of item `to`? */
static bool may_join(struct zipper *z, const struct effects *effects, size_t to)
{
    if (effects->reads_kept && z->kept_written > 2 * to) return false;
    for (uint32_t i = 0; i < effects->count; i++) {
        if (!effects->reads[i] && !effects->writes[i]) continue;
        if (z->written[i] > 2 * to + 1) {
            if (!may_move(z, i, effects->writes[i], to, 0)) return false;
        } else if (z->written[i] == 2 * to + 1 || (effects->writes[i] && z->read[i] > 2 * to)) {
            return false;
        }
    }
    return true;
}

static void join_loop(struct zipper *z, struct ks *loop, const struct effects *effects, size_t to)
{
    for (uint32_t i = 0; i < effects->count; i++)
        if ((effects->reads[i] || effects->writes[i]) && z->written[i] > 2 * to + 1)
            move_declaration(z, i, to);
    struct item *target = &z->items.items[to];
    const struct renaming renaming = {compose_counter_of(loop)->variable,
                                      compose_counter_of(target->s)->variable};
    struct ks **end = &target->s->body;
    rename_ks(loop->body, &renaming);
    while (*end != NULL)
        end = &(*end)->next;
    *end = loop->body;
    target->together++;
    note_effects(z, effects, 2 * to + 1);
}

/* ---- lists ---- */

/* Divides the loops with this head evenly: the fewest parts of at most TOGETHER_MAX. */
static uint32_t most_together(const struct zipper *z, const struct ks *loop)
{
    uint32_t alike = 0;
    for (size_t i = 0; i < z->loops.count; i++)
        alike += same_head(z->loops.items[i], loop);
    uint32_t parts = (alike + TOGETHER_MAX - 1) / TOGETHER_MAX;
    return parts > 0 ? (alike + parts - 1) / parts : 1;
}

static bool joins_earlier(struct zipper *z, struct ks *loop, struct effects *effects)
{
    enum { TRIES = 8 };
    uint32_t most = most_together(z, loop), tries = 0;
    const struct variable *counter = compose_counter_of(loop)->variable;
    if (effects->appends || effects->writes_kept) return false;
    effects->reads[counter->index] = effects->writes[counter->index] = false;
    for (size_t i = z->items.count; i-- > 0 && tries < TRIES;) {
        const struct item *item = &z->items.items[i];
        if (!item->plain || !same_head(item->s, loop)) continue;
        tries++;
        if (item->together >= most || !may_join(z, effects, i)) continue;
        join_loop(z, loop, effects, i);
        return true;
    }
    return false;
}

static void zip_items(struct zipper *z, struct ks *first)
{
    size_t next_loop = 0;
    for (struct ks *s = first; s != NULL; s = s->next) {
        struct effects effects = effects_of(z, s);
        bool plain = next_loop < z->loops.count && s == z->loops.items[next_loop];
        next_loop += plain;
        if (plain && joins_earlier(z, s, &effects)) continue;
        struct item item = {.s = s, .plain = plain, .together = 1};
        note_effects(z, &effects, 2 * vec_push(z->scratch, &z->items, item) + 1);
    }
}

/* Replaces blocks in the list by their statements. */
static struct ks *flatten_blocks(struct ks *first)
{
    struct ks *flat = NULL, **end = &flat;
    for (struct ks *s = first, *next; s != NULL; s = next) {
        next = s->next;
        s->next = NULL;
        *end = s->kind == KS_BLOCK ? flatten_blocks(s->body) : s;
        while (*end != NULL)
            end = &(*end)->next;
    }
    return flat;
}

static size_t count_statements(const struct ks *first)
{
    size_t count = 0;
    for (const struct ks *s = first; s != NULL; s = s->next)
        count++;
    return count;
}

static void append_statement(struct ks ***end, struct ks *s)
{
    **end = s;
    s->next = NULL;
    *end = &s->next;
}

static struct ks *rebuild_list(const struct zipper *z)
{
    struct ks *first = NULL, **end = &first;
    for (size_t i = 0; i < z->items.count; i++) {
        const struct item *item = &z->items.items[i];
        for (size_t n = 0; n < item->before.count; n++)
            append_statement(&end, item->before.items[n]);
        if (item->s != NULL) append_statement(&end, item->s);
    }
    return first;
}

static struct ks *zip_list(struct composer *c, struct ks *first, uint64_t *work)
{
    struct zipper z = {.c = c, .scratch = arena_create()};
    uint32_t locals = c->kernel->local_count + 1;
    first = flatten_blocks(first);
    uint64_t cost = (uint64_t)count_statements(first) * locals;
    for (const struct ks *s = first; s != NULL; s = s->next)
        if (is_plain_loop(s)) vec_push(z.scratch, &z.loops, s);
    if (z.loops.count >= 2 && cost <= *work) {
        *work -= cost;
        z.written = ARENA_ARRAY(z.scratch, uint64_t, locals);
        z.read = ARENA_ARRAY(z.scratch, uint64_t, locals);
        z.writers = ARENA_ARRAY(z.scratch, uint32_t, locals);
        zip_items(&z, first);
        first = rebuild_list(&z);
    }
    arena_destroy(z.scratch);
    for (struct ks *s = first; s != NULL; s = s->next)
        if (s->kind == KS_LOOP) s->body = zip_list(c, s->body, work);
    return first;
}

void compose_zip(struct composer *c)
{
    uint64_t work = WORK_MAX;
    c->kernel->body = zip_list(c, c->kernel->body, &work);
}
