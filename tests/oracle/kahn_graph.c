/* SPDX-License-Identifier: MIT */
/*
 * Items and constants by their names; pipelines to nodes and channels.  Each node has a copy of its kernel's tree, in
 * which names have one type.  Types that are left out follow from what is bound, in-ports first.
 */
#include "tests/oracle/kahn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- items ---- */

static struct tree *program;

struct constant {
    struct binding binding;
    struct tree *declarator;
    struct constant *next;
};
static struct constant *constants;

/* The program's own first; the library never sees the program's. */
struct tree *kahn_item(const char *name, bool from_library)
{
    for (int library = from_library; library < 2; library++)
        for (struct tree *item = program; item; item = item->next)
            if (item->name == name && item->library == library) return item;
    return NULL;
}

static struct binding *made_constant(struct tree *item, struct tree *declarator)
{
    struct frame frame = {.library = item->library};
    for (struct constant *c = constants; c; c = c->next)
        if (c->declarator == declarator) return &c->binding;
    struct constant *c = kahn_alloc(sizeof *c);
    c->declarator = declarator;
    c->binding.name = declarator->name;
    if (strcmp(item->d->name, "int") == 0) {
        c->binding.kind = B_EXACT;
        c->binding.exact = eval_exact(&frame, declarator->b);
    } else {
        c->binding.type = kahn_type(&frame, item->d, declarator->a);
        c->binding.at = kahn_alloc(c->binding.type->size);
        eval_into(&frame, declarator->b, c->binding.type, c->binding.at);
    }
    c->next = constants;
    constants = c;
    return &c->binding;
}

struct binding *kahn_constant(const char *name, bool from_library)
{
    for (int library = from_library; library < 2; library++)
        for (struct tree *item = program; item; item = item->next)
            for (struct tree *d = item->kind == S_DECLARE && item->library == library ? item->a
                                                                                      : NULL;
                 d; d = d->next)
                if (d->name == name) return made_constant(item, d);
    return NULL;
}

/* ---- types ---- */

static const struct type *struct_type(struct tree *item)
{
    uint64_t count = 0;
    struct frame frame = {.library = item->library};
    if (item->known) return item->known;
    for (struct tree *s = item->a; s; s = s->next)
        for (struct tree *d = s->a; d; d = d->next)
            count++;
    struct field *fields = kahn_alloc(count * sizeof *fields);
    count = 0;
    for (struct tree *s = item->a; s; s = s->next)
        for (struct tree *d = s->a; d; d = d->next)
            fields[count++] =
                (struct field){.name = d->name, .type = kahn_type(&frame, s->d, d->a)};
    return item->known = type_struct(item->name, fields, count);
}

static const struct type *named_type(struct frame *frame, const struct tree *t)
{
    const struct type *type;
    if (type_builtin(t->name, &type)) return type;
    if (strcmp(t->name, "void") == 0) return type_void();
    struct binding *b = frame_find(frame, t->name);
    if (b && b->kind == B_TYPE) return b->type;
    struct tree *item = kahn_item(t->name, frame->library);
    if (!item || item->kind != I_STRUCT) kahn_refuse(t->line, "there is no type '%s'", t->name);
    return struct_type(item);
}

/* The first dimension is the outermost. */
static const struct type *dimensioned(struct frame *frame, const struct type *type,
                                      const struct tree *dims)
{
    if (!dims) return type;
    __int128 length = eval_exact(frame, (struct tree *)(uintptr_t)dims);
    if (length < 1 || length > INT32_MAX) kahn_refuse(dims->line, "an array of that length");
    return type_array(dimensioned(frame, type, dims->next), (uint64_t)length);
}

const struct type *kahn_type(struct frame *frame, const struct tree *type, const struct tree *dims)
{
    return dimensioned(frame, dimensioned(frame, named_type(frame, type), type->a), dims);
}

/* ---- what stands between < and >, and what follows from what is bound ---- */

static const struct type *type_argument(struct frame *frame, const struct tree *t)
{
    struct tree named = *t;
    named.kind = T_TYPE;
    if (t->kind == T_NAME) named.a = NULL;
    return kahn_type(frame, &named, NULL);
}

/* T in `T[2] x` from the type of the packets. */
static const struct type *base_of(const struct type *type, const struct tree *dims)
{
    for (; dims && type; dims = dims->next)
        type = type->kind == ARRAY ? type->element : NULL;
    return type;
}

/* `bound`: the packets' types of the ports, in order of the list, NULL where they are not known. */
static const struct type *inferred(const struct tree *signature, const char *name,
                                   const struct type **bound)
{
    for (unsigned out = 0; out < 2; out++) {
        size_t i = 0;
        for (const struct tree *port = signature->b; port; port = port->next, i++)
            if (port->flags == out && port->d->name == name && bound[i])
                return base_of(bound[i], port->d->a);
    }
    return NULL;
}

/* Binds the parameters of `signature` in `inner`; `given` are evaluated in `outer`. */
static void bind_parameters(struct frame *outer, struct frame *inner, const struct tree *signature,
                            struct tree *given, const struct type **bound)
{
    size_t wanted = 0, types = 0, count = 0;
    for (const struct tree *p = signature->a; p; p = p->next) {
        wanted++;
        types += p->flags;
    }
    for (const struct tree *g = given; g; g = g->next)
        count++;
    bool skip_types = count + types == wanted && types > 0;
    for (const struct tree *p = signature->a; p; p = p->next) {
        struct binding b = {.kind = p->flags ? B_TYPE : B_EXACT, .name = p->name};
        bool take = given && !(p->flags && skip_types);
        if (take && !p->flags) b.exact = eval_exact(outer, given);
        if (take && p->flags) b.type = type_argument(outer, given);
        if (!take && p->flags) b.type = inferred(signature, p->name, bound);
        if (!take && (!p->flags || !b.type))
            kahn_refuse(signature->line, "parameter '%s' is not known", p->name);
        if (take) given = given->next;
        frame_bind(inner, b);
    }
}

/* ---- kernels ---- */

static struct tree *attribute_of(struct tree *attributes, const char *name)
{
    while (attributes && strcmp(attributes->name, name) != 0)
        attributes = attributes->next;
    return attributes ? attributes->a : NULL;
}

static struct tree *of_phase(struct tree *t, uint64_t phase)
{
    if (!t || t->kind != T_BRACES) return t;
    struct tree *item = t->a;
    while (phase-- > 0)
        item = item->next;
    return item;
}

static uint64_t counted(struct frame *frame, struct tree *t)
{
    __int128 value = eval_exact(frame, t);
    if (value < 0 || value > INT64_MAX) kahn_refuse(t->line, "a rate below 0");
    return (uint64_t)value;
}

static uint64_t phases_of(struct tree *signature)
{
    for (struct tree *port = signature->b; port; port = port->next)
        for (struct tree *a = port->b; a; a = a->next) {
            uint64_t count = 0;
            for (struct tree *item = a->a->kind == T_BRACES ? a->a->a : NULL; item;
                 item = item->next)
                count++;
            if (count > 0) return count;
        }
    return 1;
}

static void pair_of(struct frame *frame, struct tree *t, uint32_t into[2])
{
    into[0] = (uint32_t)eval_exact(frame, t->a);
    into[1] = (uint32_t)eval_exact(frame, t->kind == T_REPEAT ? t->b : t->a->next);
}

static void in_port(struct frame *frame, struct port *port, struct tree *t, uint64_t phases)
{
    static const char *const borders[] = {"clamp", "mirror", "wrap", "zero"};
    struct tree *pop = attribute_of(t->b, "pop"), *peek = attribute_of(t->b, "peek"),
                *window = attribute_of(t->b, "window");
    struct tree *border = attribute_of(t->b, "border");
    port->pop = kahn_alloc(phases * sizeof *port->pop);
    port->peek = kahn_alloc(phases * sizeof *port->peek);
    for (uint64_t i = 0; i < phases; i++) {
        port->pop[i] = pop ? counted(frame, of_phase(pop, i)) : 1;
        port->peek[i] = peek ? counted(frame, of_phase(peek, i)) : port->pop[i];
    }
    if (window) {
        uint32_t sides[2];
        pair_of(frame, window, sides);
        port->window_width = sides[0];
        port->window_height = sides[1];
    }
    for (int i = 0; border && i < 4; i++)
        if (strcmp(border->name, borders[i]) == 0) port->border = i;
}

/* Of declared rates; `amplify` is left to the compiler's own proofs and checks. */
static void out_port(struct frame *frame, struct port *port, struct tree *t, uint64_t phases)
{
    struct tree *push = attribute_of(t->b, "push");
    if (!push) return;
    port->push = kahn_alloc(phases * sizeof *port->push);
    for (uint64_t i = 0; i < phases; i++) {
        struct tree *one = of_phase(push, i);
        bool is_range = one->kind == T_RANGE;
        port->push[i].low = counted(frame, is_range ? one->a : one);
        port->push[i].high = counted(frame, is_range ? one->b : one);
        port->push[i].declared = true;
    }
}

static void set_ports(struct frame *frame, struct node *node)
{
    for (struct tree *t = node->signature->b; t; t = t->next) {
        node->port_count++;
        node->in_count += !t->flags;
    }
    node->out_count = node->port_count - node->in_count;
    node->ports = kahn_alloc((node->port_count + 1) * sizeof *node->ports);
    uint32_t in = 0, out = node->in_count;
    for (struct tree *t = node->signature->b; t; t = t->next) {
        struct port *port = &node->ports[t->flags ? out++ : in++];
        *port = (struct port){.name = t->name,
                              .out = t->flags,
                              .type = kahn_type(frame, t->d, NULL),
                              .is_array = t->a,
                              .arity = 1};
        if (t->a) port->arity = counted(frame, t->a);
        if (t->flags)
            out_port(frame, port, t, node->phases);
        else
            in_port(frame, port, t, node->phases);
    }
    for (uint32_t i = 0; i < node->port_count; i++) {
        uint32_t *elements = node->ports[i].out ? &node->out_elements : &node->in_elements;
        node->ports[i].first = *elements;
        *elements += (uint32_t)node->ports[i].arity;
    }
}

static void set_group(struct frame *frame, struct node *node)
{
    struct tree *group = attribute_of(node->signature->d, "group"), *sides[3] = {NULL};
    int count = 0;
    for (int i = 0; i < 3; i++)
        node->group[i] = 1;
    if (!group) return;
    if (group->kind == T_DIMENSIONS)
        for (struct tree *t = group->a; t && count < 3; t = t->next)
            sides[count++] = t;
    else if (group->kind != T_REPEAT)
        sides[count++] = group;
    else {
        bool three = group->a->kind == T_REPEAT;
        if (three) sides[count++] = group->a->a;
        sides[count++] = three ? group->a->b : group->a;
        sides[count++] = group->b;
    }
    for (int i = 0; i < count; i++)
        node->group[i] = (uint32_t)counted(frame, sides[i]);
    if ((uint64_t)node->group[0] * node->group[1] * node->group[2] > 1024)
        kahn_refuse(node->signature->line, "too many work-items");
}

static uint64_t bound(struct frame *frame, struct node *node, const char *name)
{
    struct tree *t = attribute_of(node->signature->d, name);
    return t ? counted(frame, t) : UINT64_MAX;
}

/* A kernel with its parameters, which are bound in `inner`; its arguments are not. */
static struct node *made_kernel(struct tree *item, struct frame *inner)
{
    struct node *node = kahn_alloc(sizeof *node);
    node->name = item->name;
    node->library = item->library;
    node->signature = kahn_clone(item->a);
    node->body = kahn_clone(item->b);
    node->phases = phases_of(node->signature);
    set_ports(inner, node);
    set_group(inner, node);
    node->launches = bound(inner, node, "launches");
    node->groups = bound(inner, node, "groups");
    node->nesting = bound(inner, node, "nesting");
    node->total = bound(inner, node, "total");
    node->name_count = inner->count;
    node->names = inner->bindings;
    return node;
}

struct node *kahn_child(struct frame *frame, struct tree *named)
{
    static struct child {
        struct tree *item;
        struct node *node;
        struct child *next;
    } *children;
    enum { PORTS_MAX = 64 };
    const struct type *bound_types[PORTS_MAX] = {NULL};
    const struct firing *firing = frame->firing;
    struct tree *item = kahn_item(named->name, frame->library);
    struct frame inner = {.library = item->library};
    uint32_t in = 0, out = 0, i = 0, launcher_ins = firing->in_count;
    for (struct tree *t = item->a->b; t && i < PORTS_MAX; t = t->next)
        bound_types[i++] = firing->ports[t->flags ? launcher_ins + out++ : in++].type;
    bind_parameters(frame, &inner, item->a, named->a, bound_types);
    for (struct child *c = children; c; c = c->next) {
        bool same = c->item == item;
        for (size_t n = 0; n < inner.count && same; n++)
            same = c->node->names[n].exact == inner.bindings[n].exact &&
                   c->node->names[n].type == inner.bindings[n].type;
        if (same) return c->node;
    }
    struct child *c = kahn_alloc(sizeof *c);
    *c = (struct child){item, made_kernel(item, &inner), children};
    children = c;
    return c->node;
}

/* ---- pipelines ---- */

static struct graph *graph;

struct bundle { /* what a buffer's name stands for: channels, the last index fastest */
    const char *name;
    struct channel **channels;
    uint64_t dims[16];
    int dim_count;
};

struct net { /* a pipeline, with its names */
    struct frame frame;
    struct bundle *bundles;
    size_t count, room;
    const char *path;
};

static struct channel *new_channel(const char *name, const struct type *type)
{
    struct channel *c = kahn_alloc(sizeof *c);
    c->name = name;
    c->type = type;
    if (graph->channel_count == graph->channel_room) {
        graph->channel_room = 2 * graph->channel_room + 64;
        graph->channels = realloc(graph->channels, graph->channel_room * sizeof *graph->channels);
        if (!graph->channels) abort();
    }
    return graph->channels[graph->channel_count++] = c;
}

static void add_bundle(struct net *net, struct bundle bundle)
{
    if (net->count == net->room) {
        net->room = 2 * net->room + 16;
        net->bundles = realloc(net->bundles, net->room * sizeof *net->bundles);
        if (!net->bundles) abort();
    }
    net->bundles[net->count++] = bundle;
}

static struct bundle *find_bundle(struct net *net, const char *name)
{
    for (size_t i = net->count; i-- > 0;)
        if (net->bundles[i].name == name) return &net->bundles[i];
    return NULL;
}

static uint64_t bundle_size(const struct bundle *bundle)
{
    uint64_t size = 1;
    for (int i = 0; i < bundle->dim_count; i++)
        size *= bundle->dims[i];
    return size;
}

struct list { /* of channels */
    struct channel **items;
    size_t count;
};

static void list_add(struct list *list, struct channel *channel)
{
    list->items = realloc(list->items, (list->count + 1) * sizeof *list->items);
    if (!list->items) abort();
    list->items[list->count++] = channel;
}

/* Adds the channels that b, b[i], b[i][j] stand for. */
static void add_reference(struct net *net, struct tree *t, struct list *list)
{
    struct tree *indices[16];
    int count = 0;
    for (; t->kind == T_INDEX && count < 16; t = t->a)
        indices[count++] = t->b;
    struct bundle *b = t->kind == T_NAME ? find_bundle(net, t->name) : NULL;
    if (!b) kahn_refuse(t->line, "'%s' is no buffer", t->name ? t->name : "");
    uint64_t at = 0, size = bundle_size(b);
    for (int i = 0; i < count; i++) {
        uint64_t index = counted(&net->frame, indices[count - 1 - i]);
        if (index >= b->dims[i])
            kahn_refuse(t->line, "'%s' has no element %llu", t->name, (unsigned long long)index);
        size /= b->dims[i];
        at += index * size;
    }
    for (uint64_t i = 0; i < size; i++)
        list_add(list, b->channels[at + i]);
}

static void set_shape(struct frame *frame, struct channel *channel, struct tree *attributes)
{
    struct tree *rows = attribute_of(attributes, "rows"),
                *picture = attribute_of(attributes, "frame");
    uint32_t sides[2];
    if (rows) channel->row = counted(frame, rows);
    if (!picture) return;
    pair_of(frame, picture, sides);
    channel->row = sides[0];
    channel->height = sides[1];
}

static void set_initial(struct frame *frame, struct channel *channel, struct tree *t)
{
    unsigned char *packet = scratch(channel->type->size);
    if (!t) return;
    if (t->kind == T_REPEAT) {
        uint64_t count = counted(frame, t->a);
        eval_into(frame, t->b, channel->type, packet);
        for (uint64_t i = 0; i < count; i++)
            bytes_append(&channel->packets, channel->type->size, packet);
    } else {
        for (struct tree *item = t->kind == T_BRACES ? t->a : t; item;
             item = t->kind == T_BRACES ? item->next : NULL) {
            eval_into(frame, item, channel->type, packet);
            bytes_append(&channel->packets, channel->type->size, packet);
        }
    }
    channel->initial = channel->packets.count;
}

static const char *printed(const char *path, const char *name, const uint64_t *dims, int count,
                           uint64_t element)
{
    char text[512];
    int length = snprintf(text, sizeof text, "%s%s", path, name);
    for (int i = 0; i < count; i++) {
        uint64_t below = 1;
        for (int k = i + 1; k < count; k++)
            below *= dims[k];
        length += snprintf(text + length, sizeof text - (size_t)length, "[%llu]",
                           (unsigned long long)(element / below % dims[i]));
    }
    return kahn_intern(text, (size_t)length);
}

static struct bundle declared_bundle(struct net *net, const struct type *type, const char *name,
                                     struct tree *dims)
{
    struct bundle b = {.name = name};
    for (; dims; dims = dims->next)
        b.dims[b.dim_count++] = counted(&net->frame, dims);
    uint64_t size = bundle_size(&b);
    b.channels = kahn_alloc(size * sizeof *b.channels);
    for (uint64_t i = 0; i < size; i++)
        b.channels[i] = new_channel(printed(net->path, name, b.dims, b.dim_count, i), type);
    return b;
}

static void declare_buffers(struct net *net, struct tree *t)
{
    for (struct tree *d = t->a; d; d = d->next) {
        struct bundle b = declared_bundle(net, kahn_type(&net->frame, t->d, NULL), d->name, d->a);
        struct tree *depth = attribute_of(d->c, "depth");
        for (uint64_t i = 0; i < bundle_size(&b); i++) {
            if (depth) b.channels[i]->depth = counted(&net->frame, depth);
            set_shape(&net->frame, b.channels[i], d->c);
            set_initial(&net->frame, b.channels[i], attribute_of(d->c, "init"));
        }
        add_bundle(net, b);
    }
}

/* ---- instances ---- */

static void bind_run_time(struct frame *outer, struct frame *inner, struct tree *wanted,
                          struct tree *given)
{
    for (; wanted; wanted = wanted->next) {
        const struct type *type = kahn_type(inner, wanted->d, wanted->a->a);
        unsigned char *at = kahn_alloc(type->size);
        if (given)
            eval_into(outer, given, type, at);
        else if (wanted->a->b)
            eval_into(inner, kahn_clone(wanted->a->b), type, at);
        else
            kahn_refuse(wanted->line, "'%s' has no value", wanted->a->name);
        frame_bind(inner, (struct binding){
                              .kind = B_VARIABLE, .name = wanted->a->name, .type = type, .at = at});
        if (given) given = given->next;
    }
}

static void bind_ends(struct node *node, const struct list *ins, const struct list *outs, int line)
{
    if (ins->count != node->in_elements || outs->count != node->out_elements)
        kahn_refuse(line, "'%s' has other ports", node->name);
    node->ends = kahn_alloc((node->in_elements + 1) * sizeof *node->ends);
    node->outs = kahn_alloc((node->out_elements + 1) * sizeof *node->outs);
    for (size_t i = 0; i < ins->count; i++) {
        struct end *end = &node->ends[i], **last = &ins->items[i]->readers;
        end->channel = ins->items[i];
        end->node = node;
        while (*last)
            last = &(*last)->next;
        *last = end;
    }
    for (size_t i = 0; i < outs->count; i++) {
        node->outs[i] = outs->items[i];
        node->outs[i]->writer = node;
    }
    for (uint32_t i = 0; i < node->port_count; i++)
        for (uint64_t n = 0; n < node->ports[i].arity; n++) {
            struct channel *c = node->ports[i].out ? node->outs[node->ports[i].first + n]
                                                   : node->ends[node->ports[i].first + n].channel;
            if (!c->type) c->type = node->ports[i].type;
            if (c->type != node->ports[i].type)
                kahn_refuse(line, "'%s' takes other packets than '%s' has", node->name, c->name);
        }
}

static void elaborate(struct net *net, struct tree *t);

/* The channels of a port of an inner pipeline, taken from those that are bound. */
static void bind_inner_port(struct net *inner, struct tree *port, struct list *list, size_t *at)
{
    struct bundle b = {.name = port->name};
    const struct type *type = kahn_type(&inner->frame, port->d, NULL);
    if (port->a) b.dims[b.dim_count++] = counted(&inner->frame, port->a);
    uint64_t size = bundle_size(&b);
    b.channels = kahn_alloc(size * sizeof *b.channels);
    for (uint64_t i = 0; i < size; i++) {
        if (*at >= list->count) kahn_refuse(port->line, "too few buffers");
        b.channels[i] = list->items[(*at)++];
        if (!b.channels[i]->type) b.channels[i]->type = type;
        set_shape(&inner->frame, b.channels[i], port->b);
    }
    add_bundle(inner, b);
}

static void instance(struct net *net, struct tree *t, struct list *ins, struct list *outs)
{
    enum { PORTS_MAX = 256 };
    const struct type *types[PORTS_MAX] = {NULL};
    struct tree *item = kahn_item(t->name, net->frame.library);
    if (!item || (item->kind != I_KERNEL && item->kind != I_PIPELINE))
        kahn_refuse(t->line, "'%s' is no kernel", t->name);
    struct net inner = {.frame = {.library = item->library}};
    size_t in = 0, out = 0, i = 0;
    for (struct tree *port = item->a->b; port && i < PORTS_MAX; port = port->next) {
        struct list *list = port->flags ? outs : ins;
        size_t *at = port->flags ? &out : &in;
        types[i++] = *at < list->count ? list->items[*at]->type : NULL;
        if (!port->a)
            ++*at;
        else
            *at = list->count; /* memory past an array is not looked at */
    }
    bind_parameters(&net->frame, &inner.frame, item->a, t->a, types);
    struct tree *arguments = t->c ? (t->c->flags & 1 ? t->c->c : t->c->a) : NULL;
    if (item->kind == I_KERNEL) {
        size_t parameters = inner.frame.count;
        struct node *node = made_kernel(item, &inner.frame);
        inner.frame.count = parameters;
        bind_run_time(&net->frame, &inner.frame, node->signature->c, arguments);
        node->names = inner.frame.bindings;
        node->name_count = inner.frame.count;
        node->name = t->d ? t->d->name : item->name;
        bind_ends(node, ins, outs, t->line);
        *graph->last = node;
        graph->last = &node->next;
        return;
    }
    struct tree *signature = kahn_clone(item->a);
    bind_run_time(&net->frame, &inner.frame, signature->c, arguments);
    char path[512];
    int length = snprintf(path, sizeof path, "%s%s.", net->path, t->d ? t->d->name : item->name);
    inner.path = kahn_intern(path, (size_t)length);
    in = out = 0;
    for (struct tree *port = signature->b; port; port = port->next)
        bind_inner_port(&inner, port, port->flags ? outs : ins, port->flags ? &out : &in);
    elaborate(&inner, kahn_clone(item->b));
}

/* Arguments in brackets without an arrow stand for run-time arguments in a chain, else for in-ports and out-ports in
 * order. */
static void bound_instance(struct net *net, struct tree *t)
{
    struct list ins = {0}, outs = {0};
    struct tree copy = *t, binding = *t->c;
    if (!(binding.flags & 1)) {
        struct tree *item = kahn_item(t->name, net->frame.library);
        struct tree *port = item ? item->a->b : NULL;
        for (struct tree *a = t->c->a; a; a = a->next) {
            add_reference(net, a, port && port->flags ? &outs : &ins);
            if (port) port = port->next;
        }
        binding.a = NULL;
    } else {
        for (struct tree *a = binding.a; a; a = a->next)
            add_reference(net, a, &ins);
        for (struct tree *a = binding.b; a; a = a->next)
            add_reference(net, a, &outs);
    }
    binding.flags |= 1;
    copy.c = &binding;
    instance(net, &copy, &ins, &outs);
}

static bool is_buffer(struct net *net, const struct tree *t)
{
    return t->kind == N_NODE && !t->c && !t->a && find_bundle(net, t->name);
}

static bool has_ports(struct net *net, const struct tree *t, unsigned out)
{
    struct tree *item = kahn_item(t->name, net->frame.library);
    for (struct tree *port = item ? item->a->b : NULL; port; port = port->next)
        if (port->flags == out) return true;
    return false;
}

static void chain(struct net *net, struct tree *first)
{
    struct list before = {0};
    if (!first->next) {
        bound_instance(net, first);
        return;
    }
    for (struct tree *t = first; t; t = t->next) {
        struct list after = {0};
        if (is_buffer(net, t)) {
            before = (struct list){0};
            add_reference(net, t->b, &before);
            continue;
        }
        if (t->next && is_buffer(net, t->next))
            add_reference(net, t->next->b, &after);
        else if (has_ports(net, t, 1))
            list_add(&after, new_channel("", NULL));
        if (before.count == 0 && has_ports(net, t, 0))
            kahn_refuse(t->line, "a chain begins with a buffer");
        instance(net, t, &before, &after);
        before = after;
    }
}

static void elaborate_for(struct net *net, struct tree *t)
{
    size_t names = net->frame.count, bundles = net->count;
    if (t->a && t->a->kind == S_DECLARE)
        for (struct tree *d = t->a->a; d; d = d->next)
            frame_bind(&net->frame, (struct binding){.kind = B_EXACT,
                                                     .name = d->name,
                                                     .exact = eval_exact(&net->frame, d->b)});
    while (!t->b || eval_truth(&net->frame, kahn_clone(t->b))) {
        elaborate(net, kahn_clone(t->d));
        struct tree *step = t->c;
        struct binding *b = frame_find(&net->frame, step->a->name);
        struct tree *right = kahn_clone(step->b);
        __int128 by = step->kind == T_STEP ? 1 : eval_exact(&net->frame, right);
        if (step->op == OP_NONE)
            b->exact = by;
        else if (step->op == OP_ADD)
            b->exact += by;
        else if (step->op == OP_SUB)
            b->exact -= by;
        else if (step->op == OP_MUL)
            b->exact *= by;
        else if (step->op == OP_SHL)
            b->exact <<= (int)by;
        else if (step->op == OP_SHR)
            b->exact >>= (int)by;
        else if (step->op == OP_DIV && by != 0)
            b->exact /= by;
        else
            kahn_refuse(step->line, "a step that is not covered");
    }
    frame_drop(&net->frame, names);
    net->count = bundles;
}

static void elaborate(struct net *net, struct tree *t)
{
    size_t names = net->frame.count, bundles = net->count;
    struct tree *arm;
    switch (t->kind) {
    case S_BLOCK:
        for (struct tree *inner = t->a; inner; inner = inner->next)
            elaborate(net, inner);
        frame_drop(&net->frame, names);
        net->count = bundles;
        return;
    case S_FOR: elaborate_for(net, t); return;
    case S_IF:
        arm = eval_truth(&net->frame, t->a) ? t->b : t->c;
        if (arm) elaborate(net, arm);
        return;
    case S_DECLARE:
        for (struct tree *d = t->a; d; d = d->next) {
            if (strcmp(t->d->name, "int") == 0) {
                frame_bind(&net->frame, (struct binding){.kind = B_EXACT,
                                                         .name = d->name,
                                                         .exact = eval_exact(&net->frame, d->b)});
                continue;
            }
            const struct type *type = kahn_type(&net->frame, t->d, d->a);
            struct binding b = {
                .kind = B_VARIABLE, .name = d->name, .type = type, .at = kahn_alloc(type->size)};
            eval_into(&net->frame, d->b, type, b.at);
            frame_bind(&net->frame, b);
        }
        return;
    case N_BUFFER: declare_buffers(net, t); return;
    case N_CHAIN: chain(net, t->a); return;
    default: return;
    }
}

/* ---- the whole ---- */

static const char *given_value(char **values, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(values[i], name, strlen(name)) == 0 && values[i][strlen(name)] == '=')
            return values[i] + strlen(name) + 1;
    return NULL;
}

static struct tree *chosen_pipeline(const char *name)
{
    struct tree *only = NULL;
    for (struct tree *item = program; item; item = item->next) {
        if (item->kind != I_PIPELINE || item->library) continue;
        if (strcmp(item->name, name ? name : "main") == 0) return item;
        only = item;
    }
    if (!only || name) kahn_refuse(0, "there is no such pipeline");
    return only;
}

/* One number of a command line; *text moves past it and a comma. */
static void store_number(enum scalar scalar, const char **text, unsigned char *at)
{
    char word[64];
    size_t length = strcspn(*text, ",");
    if (length >= sizeof word) kahn_refuse(0, "'%s' is too long for a number", *text);
    memcpy(word, *text, length);
    word[length] = '\0';
    bool negative = word[0] == '-';
    if (scalar_is_float(scalar) || strpbrk(word, ".eE"))
        scalar_store(scalar, at, scalar_of_double(strtod(word, NULL), scalar));
    else
        scalar_store(
            scalar, at,
            scalar_convert(negative ? (uint64_t)strtoll(word, NULL, 0) : strtoull(word, NULL, 0),
                           negative ? I64 : U64, scalar));
    *text += length + ((*text)[length] == ',');
}

/* All numbers of an array, row by row. */
static void store_numbers(const struct type *type, const char **text, unsigned char *at)
{
    if (type->kind == SCALAR) {
        store_number(type->scalar, text, at);
        return;
    }
    for (uint64_t i = 0; i < type->length; i++)
        store_numbers(type->element, text, at + i * type->element->size);
}

static void outer_values(struct frame *frame, struct tree *signature, char **values, size_t count)
{
    for (struct tree *p = signature->a; p; p = p->next) {
        const char *text = given_value(values, count, p->name);
        struct binding b = {.kind = p->flags ? B_TYPE : B_EXACT, .name = p->name};
        if (!text) kahn_refuse(p->line, "'%s' has no value", p->name);
        if (p->flags && !type_builtin(text, &b.type)) kahn_refuse(p->line, "no type '%s'", text);
        if (!p->flags) b.exact = strtoll(text, NULL, 0);
        frame_bind(frame, b);
    }
    for (struct tree *a = signature->c; a; a = a->next) {
        const char *text = given_value(values, count, a->a->name);
        const struct type *type = kahn_type(frame, a->d, a->a->a);
        unsigned char *at = kahn_alloc(type->size);
        if (text)
            store_numbers(type, &text, at);
        else if (a->a->b)
            eval_into(frame, a->a->b, type, at);
        else
            kahn_refuse(a->line, "'%s' has no value", a->a->name);
        frame_bind(frame, (struct binding){
                              .kind = B_VARIABLE, .name = a->a->name, .type = type, .at = at});
    }
}

void kahn_items(struct tree *items)
{
    program = items;
}

struct graph *kahn_graph(const char *pipeline, char **values, size_t count)
{
    struct tree *item = chosen_pipeline(pipeline);
    struct net net = {.path = ""};
    graph = kahn_alloc(sizeof *graph);
    graph->last = &graph->nodes;
    outer_values(&net.frame, item->a, values, count);
    for (struct tree *port = item->a->b; port; port = port->next) {
        struct bundle b =
            declared_bundle(&net, kahn_type(&net.frame, port->d, NULL), port->name, port->a);
        for (uint64_t i = 0; i < bundle_size(&b); i++) {
            *(port->flags ? &b.channels[i]->outer_out : &b.channels[i]->outer_in) = true;
            set_shape(&net.frame, b.channels[i], port->b);
        }
        add_bundle(&net, b);
    }
    elaborate(&net, item->b);
    return graph;
}
