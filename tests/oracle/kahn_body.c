/* SPDX-License-Identifier: MIT */
/* Statements, functions, and the firings of kernels: work-items, launches, windows. */
#include "tests/oracle/kahn.h"

#include <stdlib.h>
#include <string.h>

enum flow { NEXT, BREAK, CONTINUE, RETURN, STOP };
enum { DEPTH_MAX = 256 };

static enum flow execute(struct frame *frame, struct tree *s);

/* ---- names ---- */

void frame_bind(struct frame *frame, struct binding binding)
{
    if (frame->count == frame->room) {
        frame->room = 2 * frame->room + 16;
        frame->bindings = realloc(frame->bindings, frame->room * sizeof *frame->bindings);
        if (!frame->bindings) abort();
    }
    frame->bindings[frame->count++] = binding;
}

struct binding *frame_find(struct frame *frame, const char *name)
{
    for (size_t i = frame->count; i-- > 0;)
        if (frame->bindings[i].name == name) return &frame->bindings[i];
    return NULL;
}

void frame_drop(struct frame *frame, size_t count)
{
    while (frame->count > count) {
        struct binding *b = &frame->bindings[--frame->count];
        if (b->owned) free(b->at);
    }
}

static void frame_free(struct frame *frame)
{
    frame_drop(frame, 0);
    free(frame->bindings);
}

static unsigned char *declare(struct frame *frame, const char *name, const struct type *type)
{
    unsigned char *at = kahn_alloc(type->size);
    frame_bind(frame, (struct binding){
                          .kind = B_VARIABLE, .name = name, .type = type, .at = at, .owned = true});
    return at;
}

/* ---- functions ---- */

static void bind_arguments(struct frame *callee, struct frame *caller, struct tree *parameters,
                           struct tree *arguments, uint64_t lanes, unsigned char **storage)
{
    struct frame outside = {.library = callee->library};
    size_t n = 0;
    for (struct tree *p = parameters; p; p = p->next, n++) {
        if (!arguments) kahn_refuse(p->line, "too few arguments");
        const struct type *type = kahn_type(&outside, p->d, p->a->a);
        const struct type *wanted = lanes ? type_vector(type, lanes) : type;
        storage[n] = scratch(wanted->size);
        eval_into(caller, arguments, wanted, storage[n]);
        arguments = arguments->next;
    }
}

struct value call_function(struct frame *frame, struct tree *item, struct tree *arguments,
                           const struct type *lanes)
{
    enum { PARAMETERS_MAX = 16 };
    unsigned char *storage[PARAMETERS_MAX];
    struct frame outside = {.library = item->library};
    const struct type *type = kahn_type(&outside, item->d, NULL);
    uint64_t count = lanes ? lanes->length : 1;
    if (frame->depth == DEPTH_MAX) kahn_refuse(item->line, "calls too deep");
    bind_arguments(&outside, frame, item->a, arguments, lanes ? count : 0, storage);
    struct value v = {.type = lanes ? lanes : type};
    unsigned char *result = scratch(type->size * count + 1);
    for (uint64_t i = 0; i < count; i++) {
        struct frame inner = {.library = item->library,
                              .depth = frame->depth + 1,
                              .result_type = type,
                              .result = result + i * type->size};
        size_t n = 0;
        for (struct tree *p = item->a; p; p = p->next, n++) {
            const struct type *own = kahn_type(&outside, p->d, p->a->a);
            memcpy(declare(&inner, p->a->name, own), storage[n] + i * own->size, own->size);
        }
        execute(&inner, item->b);
        frame_free(&inner);
    }
    v.at = result;
    if (v.type->kind == SCALAR) v.bits = scalar_load(type->scalar, result);
    return v;
}

/* ---- packets ---- */

void bytes_append(struct bytes *bytes, size_t width, const unsigned char *packet)
{
    if (bytes->count == bytes->room) {
        bytes->room = 2 * bytes->room + 64;
        bytes->at = realloc(bytes->at, bytes->room * width);
        if (!bytes->at) abort();
    }
    if (packet)
        memcpy(bytes->at + bytes->count * width, packet, width);
    else
        memset(bytes->at + bytes->count * width, 0, width);
    bytes->count++;
}

const unsigned char *firing_packet(struct frame *frame, uint32_t port, uint64_t element, int line,
                                   __int128 index)
{
    const struct firing *firing = frame->firing;
    const struct port *p = &firing->ports[port];
    const struct end *end = &firing->node->ends[firing->node->ports[port].first + element];
    __int128 seen = (__int128)p->peek[firing->phase];
    if (firing->finishing)
        seen = firing->node->stopped ? 0 : (__int128)(end->channel->packets.count - end->at);
    if (index < 0 || index >= seen) kahn_fault(line, "index-out-of-range");
    return end->channel->packets.at + (end->at + (size_t)index) * p->type->size;
}

/* A place beyond the edge: -1 for none. */
static __int128 inside(__int128 at, __int128 length, int border)
{
    if (at >= 0 && at < length) return at;
    switch (border) {
    case BORDER_CLAMP: return at < 0 ? 0 : length - 1;
    case BORDER_WRAP: return ((at % length) + length) % length;
    case BORDER_MIRROR: {
        if (length == 1) return 0;
        __int128 period = 2 * (length - 1), folded = ((at % period) + period) % period;
        return folded < length ? folded : period - folded;
    }
    default: return -1;
    }
}

const unsigned char *firing_window(struct frame *frame, uint32_t port, uint64_t element, int line,
                                   __int128 row, __int128 column)
{
    const struct firing *firing = frame->firing;
    const struct port *p = &firing->ports[port];
    const struct end *end = &firing->node->ends[firing->node->ports[port].first + element];
    const struct channel *channel = end->channel;
    uint64_t rows;
    if (row < -(__int128)(p->window_height / 2) || row > p->window_height / 2 ||
        column < -(__int128)(p->window_width / 2) || column > p->window_width / 2)
        kahn_fault(line, "index-out-of-range");
    window_ahead(firing->node, p, end, &rows);
    size_t frame_packets = channel->height ? channel->row * channel->height : 0;
    size_t start = frame_packets ? end->at / frame_packets * frame_packets : 0,
           centre = end->at - start;
    __int128 r = inside((__int128)(centre / channel->row) + row, rows, p->border);
    __int128 c = inside((__int128)(centre % channel->row) + column, channel->row, p->border);
    if (r < 0 || c < 0) return scratch(p->type->size);
    size_t index = start + (size_t)r * channel->row + (size_t)c;
    if (index >= channel->packets.count)
        kahn_refuse(line, "a window that looks at what is not there yet");
    return channel->packets.at + index * p->type->size;
}

/* y, y[p], y[j], y[p][j]: the bytes of the element, and the index of the packet if there is one. */
static struct bytes *out_element(struct frame *frame, struct tree *e, const struct type **type,
                                 struct tree **packet)
{
    struct tree *indices[3];
    int count = 0;
    for (; e->kind == T_INDEX && count < 3; e = e->a)
        indices[count++] = e->b;
    struct binding *b = frame_find(frame, e->name);
    const struct port *port = &frame->firing->ports[b->port];
    uint64_t which = 0;
    *type = port->type;
    if (port->is_array) {
        struct value v = eval_to(frame, indices[--count], type_scalar(I64));
        if (v.bits >= port->arity) kahn_fault(e->line, "index-out-of-range");
        which = v.bits;
    }
    *packet = count > 0 ? indices[0] : NULL;
    const struct firing *firing = frame->firing;
    return &firing->outs[firing->node->ports[firing->node->in_count + b->port - firing->in_count]
                             .first +
                         which];
}

bool body_is_out(struct frame *frame, const struct tree *e)
{
    while (e->kind == T_INDEX)
        e = e->a;
    if (e->kind != T_NAME) return false;
    struct binding *b = frame_find(frame, e->name);
    return b && b->kind == B_OUT;
}

void body_set_packet(struct frame *frame, struct tree *e)
{
    const struct type *type;
    struct tree *index;
    struct bytes *out = out_element(frame, e->a, &type, &index);
    struct value at = eval_to(frame, index, type_scalar(I64));
    unsigned char *packet = scratch(type->size);
    eval_into(frame, e->b, type, packet);
    if (at.bits >= out->count) kahn_fault(e->line, "index-out-of-range");
    memcpy(out->at + at.bits * type->size, packet, type->size);
}

static void emit(struct frame *frame, struct tree *s)
{
    const struct type *type;
    struct tree *index;
    struct bytes *out = out_element(frame, s->a, &type, &index);
    unsigned char *packet = scratch(type->size);
    eval_into(frame, s->b, type, packet);
    bytes_append(out, type->size, packet);
}

/* ---- launches ---- */

static void start_outs(struct firing *firing, const struct node *kernel);
static void run_firing(struct firing *firing, const struct node *kernel,
                       const struct binding *names, size_t count);
static void free_outs(const struct node *node, struct firing *firing);

/* One work-group of a launch: a firing whose packets follow those of the groups before. */
static void run_group(const struct firing *launched, const struct node *child,
                      const struct frame *names, int line, struct launch *made)
{
    struct firing firing = *launched;
    const struct node *node = firing.node;
    if (++*firing.total > node->total) kahn_fault(line, "launches-exceeded");
    start_outs(&firing, child);
    run_firing(&firing, child, names->bindings, names->count);
    for (uint32_t i = node->in_count; i < node->port_count; i++) {
        const struct port *port = &node->ports[i];
        for (uint64_t n = port->first; n < port->first + port->arity; n++)
            for (size_t k = 0; k < firing.outs[n].count; k++)
                bytes_append(&made->outs[n], port->type->size,
                             firing.outs[n].at + k * port->type->size);
    }
    free_outs(node, &firing);
}

/* The numbers of the work-groups: [first, end). */
static void set_groups(struct frame *frame, const struct tree *numbers, const struct node *child,
                       int line, struct firing *firing)
{
    int64_t most = child->groups == UINT64_MAX ? 1 : (int64_t)child->groups, groups = 1, first = 0;
    if (numbers->a) groups = (int32_t)eval_to(frame, numbers->a, type_scalar(I32)).bits;
    if (numbers->b) first = (int32_t)eval_to(frame, numbers->b, type_scalar(I32)).bits;
    if (first < 0 || first >= most) kahn_fault(line, "index-out-of-range");
    if (groups < 1 || groups > most - first) kahn_fault(line, "groups-out-of-range");
    firing->work_group = (int32_t)first;
    firing->work_groups = (int32_t)groups;
}

static void launch(struct frame *frame, struct tree *s)
{
    struct firing *parent = frame->firing;
    struct tree *named = s->a;
    while (!named->name)
        named = eval_truth(frame, named->b) ? named->c : named->d;
    struct node *child = kahn_child(frame, named);
    struct firing firing = {.node = parent->node,
                            .ports = child->ports,
                            .in_count = child->in_count,
                            .level = parent->level + 1,
                            .total = parent->total,
                            .group = child->group,
                            .most_launches = child->launches};
    if (++parent->launched > parent->most_launches) kahn_fault(s->line, "launches-exceeded");
    if (firing.level > parent->node->nesting) kahn_fault(s->line, "nesting-exceeded");
    struct frame names = {.library = child->library};
    for (size_t i = 0; i < child->name_count; i++)
        frame_bind(&names, child->names[i]);
    struct tree *argument = s->b;
    for (struct tree *p = child->signature->c; p; p = p->next) {
        const struct type *type = kahn_type(&names, p->d, p->a->a);
        unsigned char *at = kahn_alloc(type->size);
        if (argument)
            eval_into(frame, argument, type, at);
        else
            eval_into(&names, p->a->b, type, at);
        frame_bind(
            &names,
            (struct binding){
                .kind = B_VARIABLE, .name = p->a->name, .type = type, .at = at, .owned = true});
        if (argument) argument = argument->next;
    }
    set_groups(frame, s->c, child, s->line, &firing);
    struct launch *made = kahn_alloc(sizeof *made);
    made->outs = kahn_alloc((parent->node->out_elements + 1) * sizeof *made->outs);
    for (int32_t i = 0; i < firing.work_groups; i++, firing.work_group++)
        run_group(&firing, child, &names, s->line, made);
    for (uint32_t i = 0; i < parent->node->out_elements; i++)
        made->appended |= made->outs[i].count > 0;
    *parent->last_launch = made;
    parent->last_launch = &made->next;
    if (s->d)
        frame_bind(frame, (struct binding){.kind = B_EVENT, .name = s->d->name, .event = made});
    frame_free(&names);
}

/* ---- statements ---- */

static void declare_variable(struct frame *frame, struct tree *s, struct tree *d)
{
    struct firing *firing = frame->firing;
    if (s->op == STORE_STATE || s->op == STORE_TABLE)
        return; /* the node's, and bound from the beginning */
    if (s->op == STORE_CONST && strcmp(s->d->name, "int") == 0) {
        frame_bind(frame, (struct binding){
                              .kind = B_EXACT, .name = d->name, .exact = eval_exact(frame, d->b)});
        return;
    }
    const struct type *type = kahn_type(frame, s->d, d->a);
    if (s->op == STORE_LOCAL) { /* one for all items */
        for (size_t i = 0; i < firing->local_count; i++)
            if (firing->locals[i].name == d->name) {
                frame_bind(frame, firing->locals[i]);
                return;
            }
        struct binding made = {
            .kind = B_VARIABLE, .name = d->name, .type = type, .at = kahn_alloc(type->size)};
        firing->locals =
            realloc(firing->locals, (firing->local_count + 1) * sizeof *firing->locals);
        if (!firing->locals) abort();
        firing->locals[firing->local_count++] = made;
        frame_bind(frame, made);
        return;
    }
    unsigned char *at = kahn_alloc(type->size);
    if (d->b) {
        unsigned char *copy = scratch(type->size);
        eval_into(frame, d->b, type, copy);
        memcpy(at, copy, type->size);
    }
    frame_bind(frame,
               (struct binding){
                   .kind = B_VARIABLE, .name = d->name, .type = type, .at = at, .owned = true});
}

static enum flow execute_list(struct frame *frame, struct tree *s)
{
    enum flow flow = NEXT;
    for (; s && flow == NEXT; s = s->next)
        flow = execute(frame, s);
    return flow;
}

static enum flow execute_block(struct frame *frame, struct tree *first)
{
    size_t count = frame->count;
    enum flow flow = execute_list(frame, first);
    frame_drop(frame, count);
    return flow;
}

static bool condition(struct frame *frame, struct tree *e)
{
    size_t mark = scratch_mark();
    bool truth = !e || eval_truth(frame, e);
    scratch_release(mark);
    return truth;
}

static void step(struct frame *frame, struct tree *e)
{
    size_t mark = scratch_mark();
    if (e) eval(frame, e);
    scratch_release(mark);
}

static enum flow execute_loop(struct frame *frame, struct tree *s)
{
    size_t count = frame->count;
    bool is_for = s->kind == S_FOR;
    struct tree *test = is_for ? s->b : s->a, *body = is_for ? s->d : s->b;
    enum flow flow = NEXT;
    if (is_for && s->a) execute(frame, s->a);
    bool go = s->kind == S_DO || condition(frame, test);
    while (go) {
        flow = execute_block(frame, body);
        if (flow == BREAK || flow == RETURN || flow == STOP) break;
        if (is_for) step(frame, s->c);
        go = condition(frame, test);
    }
    frame_drop(frame, count);
    return flow == RETURN || flow == STOP ? flow : NEXT;
}

/* The statement of a switch at which it goes on, or NULL. */
static struct tree *chosen(struct frame *frame, struct tree *s)
{
    struct tree *otherwise = NULL, *found = NULL;
    size_t mark = scratch_mark();
    struct value value = eval(frame, s->a);
    for (struct tree *at = s->b->a; at && !found; at = at->next)
        for (struct tree *label = at; label->kind == S_CASE || label->kind == S_DEFAULT;
             label = label->b) {
            if (label->kind == S_DEFAULT)
                otherwise = at;
            else if (eval_to(frame, label->a, value.type).bits == value.bits)
                found = at;
        }
    scratch_release(mark);
    return found ? found : otherwise;
}

static enum flow execute_switch(struct frame *frame, struct tree *s)
{
    enum flow flow = execute_block(frame, chosen(frame, s));
    return flow == BREAK ? NEXT : flow;
}

static enum flow execute(struct frame *frame, struct tree *s)
{
    size_t mark = scratch_mark();
    switch (s->kind) {
    case S_BLOCK: return execute_block(frame, s->a);
    case S_EXPRESSION: eval(frame, s->a); break;
    case S_EMIT: emit(frame, s); break;
    case S_DECLARE:
        for (struct tree *d = s->a; d; d = d->next)
            declare_variable(frame, s, d);
        break;
    case S_IF: {
        struct tree *arm = condition(frame, s->a) ? s->b : s->c;
        if (!arm) return NEXT;
        size_t count = frame->count;
        enum flow flow = execute(frame, arm);
        frame_drop(frame, count);
        return flow;
    }
    case S_FOR:
    case S_WHILE:
    case S_DO: return execute_loop(frame, s);
    case S_SWITCH: return execute_switch(frame, s);
    case S_CASE:
    case S_DEFAULT: return execute(frame, s->b);
    case S_BREAK: return BREAK;
    case S_CONTINUE: return CONTINUE;
    case S_STOP: frame->firing->stopped = true; return STOP;
    case S_RETURN:
        if (s->a && frame->result) eval_into(frame, s->a, frame->result_type, frame->result);
        return RETURN;
    case S_LAUNCH: launch(frame, s); break;
    default: break; /* init and finish run in their turn */
    }
    scratch_release(mark);
    return NEXT;
}

/* ---- work-items: what contains a barrier is executed by all of them together ---- */

static bool is_barrier(const struct tree *s)
{
    return s->kind == S_EXPRESSION && s->a->kind == T_CALL && strcmp(s->a->name, "barrier") == 0;
}

static bool any_statement(const struct tree *s, bool (*test)(const struct tree *s))
{
    if (!s) return false;
    if (test(s)) return true;
    switch (s->kind) {
    case S_BLOCK:
        for (const struct tree *inner = s->a; inner; inner = inner->next)
            if (any_statement(inner, test)) return true;
        return false;
    case S_IF: return any_statement(s->b, test) || any_statement(s->c, test);
    case S_FOR: return any_statement(s->d, test);
    case S_WHILE:
    case S_DO:
    case S_SWITCH:
    case S_CASE:
    case S_DEFAULT: return any_statement(s->b, test);
    default: return false;
    }
}

static bool leaves(const struct tree *s)
{
    return s->kind == S_BREAK || s->kind == S_CONTINUE || s->kind == S_RETURN || s->kind == S_STOP;
}

struct items {
    struct frame *frames;
    size_t count;
    bool more; /* a barrier follows the statements that are executed now */
};

static bool is_joint(const struct items *items, const struct tree *s)
{
    return any_statement(s, is_barrier) || (items->more && any_statement(s, leaves));
}

static enum flow together(struct items *items, struct tree *s);

/* Statements without barriers, item by item. */
static enum flow separately(struct items *items, struct tree *first, const struct tree *end)
{
    enum flow flow = NEXT;
    for (size_t i = 0; i < items->count; i++) {
        if (items->frames[i].ended) continue;
        enum flow own = NEXT;
        for (struct tree *s = first; s != end && own == NEXT; s = s->next)
            own = execute(&items->frames[i], s);
        if (own == RETURN) items->frames[i].ended = true;
        if (own != NEXT && own != RETURN) flow = own;
    }
    return flow;
}

static enum flow together_list(struct items *items, struct tree *s)
{
    enum flow flow = NEXT;
    while (s && flow == NEXT) {
        bool outer = items->more;
        for (const struct tree *behind = s->next; behind && !items->more; behind = behind->next)
            items->more = any_statement(behind, is_barrier);
        struct tree *end = s;
        while (end && !is_joint(items, end))
            end = end->next;
        if (end != s) {
            flow = separately(items, s, end);
            s = end;
        } else {
            flow = together(items, s);
            s = s->next;
        }
        items->more = outer;
    }
    return flow;
}

static bool together_condition(struct items *items, struct tree *e)
{
    bool truth = false;
    for (size_t i = 0; i < items->count; i++)
        if (!items->frames[i].ended) truth = condition(&items->frames[i], e);
    return truth;
}

static enum flow together_scoped(struct items *items, struct tree *first)
{
    size_t counts[1024];
    for (size_t i = 0; i < items->count; i++)
        counts[i] = items->frames[i].count;
    enum flow flow = together_list(items, first);
    for (size_t i = 0; i < items->count; i++)
        frame_drop(&items->frames[i], counts[i]);
    return flow;
}

static enum flow together_one(struct items *items, struct tree *s)
{
    struct tree alone = *s;
    alone.next = NULL;
    return together_scoped(items, s->kind == S_BLOCK ? s->a : &alone);
}

static enum flow together_loop(struct items *items, struct tree *s)
{
    struct tree *test = s->kind == S_FOR ? s->b : s->a, *body = s->kind == S_FOR ? s->d : s->b;
    bool outer = items->more, go = s->kind == S_DO || together_condition(items, test);
    enum flow flow = NEXT;
    items->more = true; /* in the next round */
    while (go && flow != BREAK && flow != STOP) {
        flow = together_one(items, body);
        if (flow == BREAK || flow == STOP) break;
        bool all_ended = true;
        for (size_t i = 0; i < items->count; i++) {
            if (items->frames[i].ended) continue;
            all_ended = false;
            if (s->kind == S_FOR) step(&items->frames[i], s->c);
        }
        go = !all_ended && together_condition(items, test);
    }
    items->more = outer;
    return flow == STOP ? STOP : NEXT;
}

static enum flow together(struct items *items, struct tree *s)
{
    size_t counts[1024];
    enum flow flow = NEXT;
    switch (s->kind) {
    case S_BLOCK: return together_scoped(items, s->a);
    case S_IF: {
        struct tree *arm = together_condition(items, s->a) ? s->b : s->c;
        return arm ? together_one(items, arm) : NEXT;
    }
    case S_FOR:
    case S_WHILE:
    case S_DO:
        for (size_t i = 0; i < items->count; i++) {
            counts[i] = items->frames[i].count;
            if (s->kind == S_FOR && s->a && !items->frames[i].ended)
                execute(&items->frames[i], s->a);
        }
        flow = together_loop(items, s);
        for (size_t i = 0; i < items->count; i++)
            frame_drop(&items->frames[i], counts[i]);
        return flow;
    case S_SWITCH: {
        flow = together_scoped(items, chosen(&items->frames[0], s));
        return flow == BREAK ? NEXT : flow;
    }
    case S_CASE:
    case S_DEFAULT: return together(items, s->b);
    default:
        if (is_barrier(s)) return NEXT;
        if (s->kind == S_RETURN)
            for (size_t i = 0; i < items->count; i++)
                items->frames[i].ended = true;
        if (!leaves(s)) kahn_refuse(s->line, "a barrier where it is not covered");
        return s->kind == S_BREAK      ? BREAK
               : s->kind == S_CONTINUE ? CONTINUE
               : s->kind == S_STOP     ? STOP
                                       : NEXT;
    }
}

/* ---- firings ---- */

static void bind_ports(struct frame *frame, const struct node *kernel)
{
    for (uint32_t i = 0; i < kernel->port_count; i++) {
        const struct port *port = &kernel->ports[i];
        frame_bind(frame, (struct binding){.kind = port->out ? B_OUT : B_IN,
                                           .name = port->name,
                                           .type = port->type,
                                           .port = i});
    }
}

static bool sets_packets(const struct tree *t, const char *name)
{
    if (!t) return false;
    if (t->kind == T_ASSIGN) {
        const struct tree *root = t->a;
        while (root->kind == T_INDEX)
            root = root->a;
        if (root != t->a && root->kind == T_NAME && root->name == name) return true;
    }
    return sets_packets(t->a, name) || sets_packets(t->b, name) || sets_packets(t->c, name) ||
           sets_packets(t->d, name) || sets_packets(t->next, name);
}

/* Packets that are written by index are there, as zeros, from the beginning. */
static void start_outs(struct firing *firing, const struct node *kernel)
{
    const struct node *node = firing->node;
    firing->outs = kahn_alloc((node->out_elements + 1) * sizeof *firing->outs);
    firing->last_launch = &firing->launches;
    for (uint32_t i = kernel->in_count; i < kernel->port_count; i++) {
        const struct port *port = &kernel->ports[i];
        if (firing->finishing || !port->push || !sets_packets(kernel->body, port->name)) continue;
        for (uint64_t n = 0; n < port->arity; n++)
            while (firing->outs[node->ports[i].first + n].count < port->push[firing->phase].high)
                bytes_append(&firing->outs[node->ports[i].first + n], port->type->size, NULL);
    }
}

/* The packets of launches follow, in the order of launches. */
static void append_launches(struct firing *firing)
{
    const struct node *node = firing->node;
    for (struct launch *made = firing->launches; made; made = made->next)
        for (uint32_t i = node->in_count; i < node->port_count; i++) {
            const struct port *port = &node->ports[i];
            for (uint64_t n = port->first; n < port->first + port->arity; n++)
                for (size_t k = 0; k < made->outs[n].count; k++)
                    bytes_append(&firing->outs[n], port->type->size,
                                 made->outs[n].at + k * port->type->size);
        }
}

static void run_firing(struct firing *firing, const struct node *kernel,
                       const struct binding *names, size_t count)
{
    size_t item_count = (size_t)firing->group[0] * firing->group[1] * firing->group[2];
    struct items items = {.frames = kahn_alloc(item_count * sizeof(struct frame)),
                          .count = item_count};
    size_t mark = scratch_mark();
    for (size_t i = 0; i < item_count; i++) {
        struct frame *frame = &items.frames[i];
        *frame = (struct frame){.library = kernel->library, .firing = firing};
        frame->work_group = firing->work_group;
        frame->work_groups = firing->work_groups;
        frame->item[0] = (int32_t)(i % firing->group[0]);
        frame->item[1] = (int32_t)(i / firing->group[0] % firing->group[1]);
        frame->item[2] = (int32_t)(i / firing->group[0] / firing->group[1]);
        for (size_t n = 0; n < count; n++) {
            frame_bind(frame, names[n]);
            frame->bindings[n].owned = false;
        }
        bind_ports(frame, kernel);
    }
    if (item_count == 1)
        execute(&items.frames[0], kernel->body);
    else
        together_scoped(&items, kernel->body->a);
    for (size_t i = 0; i < item_count; i++)
        frame_free(&items.frames[i]);
    for (size_t i = 0; i < firing->local_count; i++)
        free(firing->locals[i].at);
    free(firing->locals);
    free(items.frames);
    scratch_release(mark);
    append_launches(firing);
}

/* The names that a section other than the body sees: those of the node and the constants before it. */
static void run_section(struct node *node, enum tree_kind kind, struct firing *firing)
{
    struct frame frame = {.library = node->library, .firing = firing};
    for (size_t n = 0; n < node->name_count; n++) {
        frame_bind(&frame, node->names[n]);
        frame.bindings[n].owned = false;
    }
    if (kind == S_FINISH) bind_ports(&frame, node);
    for (struct tree *s = node->body->a; s; s = s->next) {
        if (s->kind == S_DECLARE && s->op == STORE_CONST && strcmp(s->d->name, "int") == 0)
            execute(&frame, s);
        if (s->kind == kind) execute(&frame, s->a);
    }
    frame_free(&frame);
}

static void prepare_storage(struct node *node, struct frame *frame, struct tree *s)
{
    for (; s; s = s->next) {
        if (s->kind == S_DECLARE && s->op == STORE_CONST && strcmp(s->d->name, "int") == 0)
            execute(frame, s);
        if (s->kind == S_BLOCK) prepare_storage(node, frame, s->a);
        if (s->kind != S_DECLARE || (s->op != STORE_STATE && s->op != STORE_TABLE)) continue;
        for (struct tree *d = s->a; d; d = d->next) {
            const struct type *type = kahn_type(frame, s->d, d->a);
            struct binding made = {
                .kind = B_VARIABLE, .name = d->name, .type = type, .at = kahn_alloc(type->size)};
            if (d->b) eval_into(frame, d->b, type, made.at);
            frame_bind(frame, made);
            node->names = realloc(node->names, (node->name_count + 1) * sizeof *node->names);
            if (!node->names) abort();
            node->names[node->name_count++] = made;
        }
    }
}

void node_prepare(struct node *node)
{
    struct firing firing = {.node = node, .ports = node->ports, .in_count = node->in_count};
    struct frame frame = {.library = node->library, .firing = &firing};
    for (size_t n = 0; n < node->name_count; n++)
        frame_bind(&frame, node->names[n]);
    prepare_storage(node, &frame, node->body->a);
    for (size_t n = 0; n < frame.count; n++)
        frame.bindings[n].owned = false;
    frame_free(&frame);
    run_section(node, S_INIT, &firing);
}

static void publish(struct node *node, struct firing *firing)
{
    for (uint32_t i = node->in_count; i < node->port_count; i++) {
        const struct port *port = &node->ports[i];
        for (uint64_t n = port->first; n < port->first + port->arity; n++)
            for (size_t k = 0; k < firing->outs[n].count; k++)
                bytes_append(&node->outs[n]->packets, port->type->size,
                             firing->outs[n].at + k * port->type->size);
    }
}

static void free_outs(const struct node *node, struct firing *firing)
{
    while (firing->launches) {
        struct launch *next = firing->launches->next;
        for (uint32_t i = 0; i < node->out_elements; i++)
            free(firing->launches->outs[i].at);
        free(firing->launches->outs);
        free(firing->launches);
        firing->launches = next;
    }
    for (uint32_t i = 0; i < node->out_elements; i++)
        free(firing->outs[i].at);
    free(firing->outs);
}

static void check_counts(const struct node *node, const struct firing *firing)
{
    for (uint32_t i = node->in_count; i < node->port_count; i++) {
        const struct port *port = &node->ports[i];
        for (uint64_t n = port->first; port->push && n < port->first + port->arity; n++) {
            const struct rate *rate = &port->push[firing->phase];
            if (firing->outs[n].count < rate->low || firing->outs[n].count > rate->high)
                kahn_fault(node->body->line, "amplification-exceeded");
        }
    }
}

/* Of an undeclared rate the firings tell whether it is exact. */
static void count_appended(const struct node *node, const struct firing *firing)
{
    for (uint32_t i = 0; i < node->out_elements; i++) {
        struct channel *channel = node->outs[i];
        if (!channel->appended) channel->appended = kahn_alloc(node->phases * sizeof(uint64_t));
        uint64_t *known = &channel->appended[firing->phase], count = firing->outs[i].count + 1;
        channel->varies |= *known && *known != count;
        *known = count;
    }
}

void node_fire(struct node *node)
{
    uint64_t total = 0;
    struct firing firing = {.node = node,
                            .ports = node->ports,
                            .in_count = node->in_count,
                            .phase = (int)(node->firings % node->phases),
                            .total = &total,
                            .group = node->group,
                            .most_launches = node->launches};
    start_outs(&firing, node);
    run_firing(&firing, node, node->names, node->name_count);
    if (firing.stopped) {
        node->stopped = node->ended = true;
    } else {
        check_counts(node, &firing);
        count_appended(node, &firing);
        publish(node, &firing);
        for (uint32_t i = 0; i < node->in_count; i++)
            for (uint64_t n = 0; n < node->ports[i].arity; n++)
                node->ends[node->ports[i].first + n].at +=
                    node->ports[i].window_width ? 1 : node->ports[i].pop[firing.phase];
        node->firings++;
    }
    free_outs(node, &firing);
}

/* `finish push M` */
static void check_finish(const struct node *node, const struct firing *firing)
{
    for (struct tree *s = node->body->a; s; s = s->next) {
        if (s->kind != S_FINISH || !s->b) continue;
        struct frame frame = {
            .library = node->library, .bindings = node->names, .count = node->name_count};
        __int128 most = eval_exact(&frame, s->b->a);
        for (uint32_t i = 0; i < node->out_elements; i++)
            if (firing->outs[i].count > (size_t)most) kahn_fault(s->line, "amplification-exceeded");
    }
}

void node_finish(struct node *node)
{
    uint64_t total = 0;
    struct firing firing = {.node = node,
                            .ports = node->ports,
                            .in_count = node->in_count,
                            .finishing = true,
                            .total = &total};
    start_outs(&firing, node);
    run_section(node, S_FINISH, &firing);
    check_finish(node, &firing);
    publish(node, &firing);
    free_outs(node, &firing);
}
