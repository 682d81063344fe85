/* SPDX-License-Identifier: MIT */
#include "compiler/bodies/rate_path.h"

#include <inttypes.h>
#include <string.h>

enum { PLACES_MAX = 64, TEXT_MAX = 40 };

/* The steps of the execution at one statement. */
struct place {
    enum walk_step_kind kind;
    const struct ks *stmt;
    uint64_t first, last, count;          /* APPEND: numbers of packets, from 1 */
    bool gaps, many;                      /* APPEND: not in sequence; in any of many rounds */
    uint64_t taken, skipped;              /* BRANCH */
    bool undecided;                       /* BRANCH */
    uint64_t least_rounds, rounds, times; /* ROUND: of each time; LOOP: `rounds` in all */
    bool unbounded;                       /* LOOP */
};

struct route {
    struct compile *cx;
    const struct rate_path *path;
    struct place places[PLACES_MAX];
    size_t count;
    uint64_t packets; /* so far; WALK_UNBOUNDED: not known */
    const struct ks *ends_at;
};

/* ---- along the execution ---- */

static struct place *place_on_route(struct route *r, enum walk_step_kind kind,
                                    const struct ks *stmt)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->places[i].kind == kind && r->places[i].stmt == stmt) return &r->places[i];
    if (r->count == PLACES_MAX) return NULL;
    r->places[r->count] = (struct place){.kind = kind, .stmt = stmt};
    return &r->places[r->count++];
}

static void append_place(struct route *r, struct place *p, bool many)
{
    p->count++;
    p->many |= many || r->packets == WALK_UNBOUNDED;
    if (p->many) return;
    r->packets++;
    if (p->count == 1) p->first = r->packets;
    p->gaps |= p->count > 1 && r->packets != p->last + 1;
    p->last = r->packets;
}

static void begin_round(struct place *p, uint64_t round)
{
    if (round == 1) {
        if (p->times > 0 && (p->times == 1 || p->last < p->least_rounds)) p->least_rounds = p->last;
        p->times++;
    }
    p->last = round;
    if (round > p->rounds) p->rounds = round;
}

static void follow_steps(struct route *r, const struct walk_step *last,
                         const struct walk_step *until, bool many);

static void follow_step(struct route *r, const struct walk_step *step, bool many)
{
    if (step->kind == STEP_RETURN) {
        r->ends_at = step->stmt;
        return;
    }
    struct place *p = place_on_route(r, step->kind, step->stmt);
    if (p == NULL) return;
    switch (step->kind) {
    case STEP_APPEND: append_place(r, p, many); break;
    case STEP_BRANCH:
        p->taken += step->taken;
        p->skipped += !step->taken;
        p->undecided |= !step->decided;
        break;
    case STEP_ROUND: begin_round(p, step->rounds); break;
    case STEP_LOOP:
        p->unbounded |= step->rounds == WALK_UNBOUNDED;
        if (step->rounds > p->rounds) p->rounds = step->rounds;
        if (step->inside != NULL) follow_steps(r, step->inside, step->before, true);
        if (many || r->packets == WALK_UNBOUNDED) break;
        if (__builtin_add_overflow(r->packets, step->packets, &r->packets))
            r->packets = WALK_UNBOUNDED;
        break;
    case STEP_CASE:
    case STEP_RETURN: break;
    }
}

/* The steps after `until` up to `last`, in order. */
static void follow_steps(struct route *r, const struct walk_step *last,
                         const struct walk_step *until, bool many)
{
    struct arena *scratch = arena_create();
    VEC(const struct walk_step *) steps = {0};
    for (const struct walk_step *s = last; s != NULL && s != until; s = s->before)
        vec_push(scratch, &steps, s);
    for (size_t i = steps.count; i-- > 0;)
        follow_step(r, steps.items[i], many);
    arena_destroy(scratch);
}

/* ---- what matters ---- */

/* Does it append to the port that the path is about, or leave statements out? */
static bool matters_to_path(const struct ks *s, void *data)
{
    const struct route *r = data;
    return (s->kind == KS_EMIT && s->port == r->path->port) || s->kind == KS_BREAK ||
           s->kind == KS_CONTINUE || s->kind == KS_RETURN || s->kind == KS_STOP;
}

static bool place_matters(struct route *r, const struct place *p)
{
    const struct ks *s = p->stmt;
    uint32_t port = r->path->port;
    switch (p->kind) {
    case STEP_APPEND: return s->port == port;
    case STEP_ROUND:
    case STEP_LOOP: return ks_appends(s->body, port);
    case STEP_CASE: return true;
    case STEP_BRANCH:
        if (!p->undecided && (p->taken == 0 || p->skipped == 0)) return false;
        return ks_any(s->body, matters_to_path, NULL, r) ||
               ks_any(s->otherwise, matters_to_path, NULL, r);
    case STEP_RETURN: break;
    }
    return false;
}

/* ---- texts ---- */

/* A short piece of the source on one line, or NULL. */
static const char *source_text(const struct route *r, struct span span)
{
    const struct source *source = source_get(r->cx->sources, span.source);
    if (source == NULL || span.begin >= span.end || span.end > source->size_bytes ||
        span.end - span.begin > TEXT_MAX)
        return NULL;
    const char *text = source->bytes + span.begin;
    if (memchr(text, '\n', span.end - span.begin) != NULL) return NULL;
    return arena_string(r->cx->arena, text, span.end - span.begin);
}

static const char *limit_text(const struct route *r)
{
    const struct rate_path *p = r->path;
    if (p->most == WALK_UNBOUNDED) return "";
    return arena_printf(r->cx->arena, p->least == p->most ? " of %" PRIu64 : " of at most %" PRIu64,
                        p->most);
}

static void label_append(const struct route *r, struct diag *d, const struct place *p)
{
    struct span at = p->stmt->span;
    const char *limit = !r->path->too_few && p->last > r->path->most ? limit_text(r) : "";
    if (p->many)
        diag_label(d, at, p->count == 1 ? "appends a packet each time" : "appends packets");
    else if (p->count == 1)
        diag_label(d, at, "appends packet %" PRIu64 "%s", p->first, limit);
    else if (!p->gaps)
        diag_label(d, at, "appends packets %" PRIu64 " to %" PRIu64 "%s", p->first, p->last, limit);
    else
        diag_label(d, at, "appends %" PRIu64 " packets, the last is packet %" PRIu64 "%s", p->count,
                   p->last, limit);
}

static void label_branch(const struct route *r, struct diag *d, const struct place *p)
{
    const struct kx *condition = p->stmt->expr;
    const char *text = source_text(r, condition->span);
    uint64_t times = p->taken + p->skipped;
    if (text == NULL) text = "this";
    if (times > 1 && p->taken > 0 && p->skipped > 0)
        diag_label(d, condition->span, "taken %" PRIu64 " of %" PRIu64 " times", p->taken, times);
    else if (p->taken > 0)
        diag_label(d, condition->span, "taken when '%s'", text);
    else if (p->stmt->otherwise != NULL)
        diag_label(d, condition->span, "'else' is taken when '%s' does not hold", text);
    else
        diag_label(d, condition->span, "not taken when '%s' does not hold", text);
}

static struct span loop_place(const struct ks *loop)
{
    if (loop->expr != NULL && loop->expr->span.source != 0) return loop->expr->span;
    struct span keyword = loop->span;
    if (keyword.end > keyword.begin + 3) keyword.end = keyword.begin + 3; /* for */
    return keyword;
}

static void label_loop(struct diag *d, const struct place *p)
{
    struct span at = loop_place(p->stmt);
    if (p->kind == STEP_LOOP && p->unbounded)
        diag_label(d, at, "nothing shows how many rounds this loop makes");
    else if (p->kind == STEP_LOOP && p->rounds == 0)
        diag_label(d, at, "no round");
    else if (p->kind == STEP_LOOP)
        diag_label(d, at, "up to %" PRIu64 " round%s", p->rounds, p->rounds == 1 ? "" : "s");
    else if (p->times > 1 && p->least_rounds != p->rounds)
        diag_label(d, at, "up to %" PRIu64 " rounds, %" PRIu64 " times", p->rounds, p->times);
    else if (p->times > 1)
        diag_label(d, at, "%" PRIu64 " round%s, %" PRIu64 " times", p->rounds,
                   p->rounds == 1 ? "" : "s", p->times);
    else
        diag_label(d, at, "%" PRIu64 " round%s", p->rounds, p->rounds == 1 ? "" : "s");
}

static void label_case(const struct route *r, struct diag *d, const struct place *p)
{
    const char *text = p->stmt->is_default ? NULL : source_text(r, p->stmt->span);
    if (text != NULL)
        diag_label(d, p->stmt->span, "the case of %s", text);
    else
        diag_label(d, p->stmt->span, "this case");
}

static void label_end(const struct route *r, struct diag *d)
{
    const struct rate_path *p = r->path;
    const char *of = p->least == p->most ? "of" : "of at least";
    const char *what = p->kernel->finish == p->body ? "'finish'" : "the firing";
    struct span at = p->body->span;
    if (r->ends_at != NULL)
        at = r->ends_at->span;
    else if (at.source != 0 && at.end > at.begin)
        at.begin = at.end - 1;
    if (at.source == 0) return;
    diag_label(d, at, "%s ends here with %" PRIu64 " %s %" PRIu64, what, r->packets, of, p->least);
}

/* ---- the fix ---- */

struct other_append {
    const struct ks *append; /* the one that is known */
    uint32_t port;
};

static bool is_other_append(const struct ks *s, void *data)
{
    const struct other_append *other = data;
    return s->kind == KS_EMIT && s->port == other->port && s != other->append;
}

static bool is_number(const struct kx *e, uint64_t number)
{
    return e != NULL && e->kind == KX_CONSTANT && type_is_integer(e->type) &&
           e->value.bits == number;
}

/* `for (i = 0; i < bound; i++) y <- v;`, and no other append: as many packets as the bound says. */
static bool counts_packets(const struct route *r, const struct ks *loop)
{
    const struct ks *start = loop->init, *body = loop->body;
    const struct kx *step = loop->step, *i = loop->expr->left;
    while (body != NULL && body->kind == KS_BLOCK && body->next == NULL)
        body = body->body;
    struct other_append other = {.append = body, .port = r->path->port};
    if (body == NULL || body->kind != KS_EMIT || body->next != NULL) return false;
    if (loop->expr->op != OP_LT || i->kind != KX_VARIABLE || r->path->kernel->grouped) return false;
    if (start == NULL || start->kind != KS_DECLARE || start->variable != i->variable ||
        !is_number(start->expr, 0))
        return false;
    return step != NULL && step->kind == KX_ASSIGN && step->op == OP_ADD &&
           step->left->kind == KX_VARIABLE && step->left->variable == i->variable &&
           is_number(step->right, 1) && !kx_assigns(body->expr, NULL) &&
           !kx_assigns(body->element, NULL) &&
           !ks_any(r->path->body, is_other_append, NULL, &other);
}

/* How to bound the loop.  The number is named where it is certainly enough. */
static void help_path_loop(const struct route *r, struct diag *d, const struct ks *loop)
{
    const struct kx *c = loop->expr;
    const char *most = "N";
    uint64_t limit = r->path->most;
    if (limit != WALK_UNBOUNDED) most = arena_printf(r->cx->arena, "%" PRIu64, limit);
    bool less = c != NULL && c->kind == KX_COMPARE && (c->op == OP_LT || c->op == OP_LE);
    const char *bound = less && c->right->kind != KX_CONSTANT && type_is_integer(c->right->type)
                            ? source_text(r, c->right->span)
                            : NULL;
    if (bound != NULL && !counts_packets(r, loop)) most = "N";
    if (r->path->least == limit) {
        const char *loop_bound = "";
        if (bound != NULL && most[0] != 'N')
            loop_bound = arena_printf(r->cx->arena, ", with 'min(%s, %s)' for '%s' in the loop",
                                      bound, most, bound);
        diag_help(d, "declare the bound of a number that varies: 'push ..%" PRIu64 "'%s", limit,
                  loop_bound);
        diag_help(d, "or append one packet in each of a constant number of rounds: where there is "
                     "nothing to append, one that stands for none");
    } else if (bound != NULL)
        diag_help(d, "make the bound a part of the loop: write 'min(%s, %s)' for '%s'", bound, most,
                  bound);
    else
        diag_help(d, "compare a counter before each packet: if (n < %s) { %s <- value; n++; }",
                  most, r->path->kernel->out[r->path->port].name);
}

/* ---- entry ---- */

void rate_path_show(struct compile *cx, struct diag *d, const struct rate_path *path)
{
    struct route *r = ARENA_NEW(cx->arena, struct route);
    const struct ks *unbounded = NULL;
    int labels = 0;
    r->cx = cx;
    r->path = path;
    follow_steps(r, path->last, NULL, false);
    for (size_t i = 0; i < r->count && labels < RATE_PATH_LABELS; i++) {
        struct place *p = &r->places[i];
        if (p->kind == STEP_ROUND && p->times > 1 && p->last < p->least_rounds)
            p->least_rounds = p->last;
        if (!place_matters(r, p)) continue;
        switch (p->kind) {
        case STEP_APPEND: label_append(r, d, p); break;
        case STEP_BRANCH: label_branch(r, d, p); break;
        case STEP_ROUND:
        case STEP_LOOP: label_loop(d, p); break;
        case STEP_CASE: label_case(r, d, p); break;
        case STEP_RETURN: break;
        }
        labels++;
        if (p->kind == STEP_LOOP && p->unbounded) unbounded = p->stmt;
    }
    if (path->too_few && r->packets != WALK_UNBOUNDED) label_end(r, d);
    if (path->kernel->grouped && path->body == path->kernel->body)
        diag_note(d, "this is what one work-item of the firing does");
    if (unbounded != NULL && !path->too_few) help_path_loop(r, d, unbounded);
}
