/* SPDX-License-Identifier: MIT */
#include "compiler/editor/edit_operations.h"

#include <jansson.h>
#include <string.h>

#include "base/words.h"

enum { TEXT_MAX_BYTES = 4096 };

struct work {
    const struct edit_subject *subject;
    struct source_edit *edit;
    json_t *request;
    struct edit_refusal refusal;
};

/* ---- the request ---- */

/* Keeps the first reason. */
static bool refuse_at(struct work *work, uint32_t at, const char *reason)
{
    if (work->refusal.reason == NULL)
        work->refusal = (struct edit_refusal){.reason = reason, .has_place = true, .at = at};
    return false;
}

static bool refuse_request(struct work *work, const char *reason)
{
    if (work->refusal.reason == NULL) work->refusal.reason = reason;
    return false;
}

static const char *text_member(struct work *work, const char *key)
{
    const json_t *value = json_object_get(work->request, key);
    const char *text = json_string_value(value);
    if (text == NULL || json_string_length(value) > TEXT_MAX_BYTES ||
        strlen(text) != json_string_length(value)) {
        refuse_request(work,
                       arena_printf(work->subject->arena, "'%s' is a text of at most %d bytes", key,
                                    TEXT_MAX_BYTES));
        return NULL;
    }
    return text;
}

/* A number from 0 on. */
static bool number_member(struct work *work, const char *key, uint32_t *number)
{
    const json_t *value = json_object_get(work->request, key);
    json_int_t given = json_integer_value(value);
    if (!json_is_integer(value) || given < 0 || given > UINT32_MAX)
        return refuse_request(work,
                              arena_printf(work->subject->arena, "'%s' is a whole number", key));
    *number = (uint32_t)given;
    return true;
}

static const struct net_part *part_member(struct work *work, const char *key)
{
    uint32_t at;
    if (!number_member(work, key, &at)) return NULL;
    const struct net_part *part = net_part_at(work->subject->parts, at);
    if (part == NULL)
        refuse_request(work,
                       arena_printf(work->subject->arena,
                                    "'%s': no part of a pipeline begins at byte %u", key, at));
    return part;
}

/* True: after, false: before. */
static bool side_member(struct work *work, bool *after)
{
    const char *side = text_member(work, "side");
    if (side == NULL) return false;
    *after = strcmp(side, "after") == 0;
    if (*after || strcmp(side, "before") == 0) return true;
    return refuse_request(work, "'side' is before or after");
}

/* The text of an element, or of a list without its brackets; "" only where `may_be_empty`. */
static const char *part_text_member(struct work *work, bool may_be_empty)
{
    const char *text = text_member(work, "text");
    if (text == NULL || source_is_part(text) || (may_be_empty && *text == '\0')) return text;
    refuse_request(work, "the text is no single part: it is blank, its brackets do not match, or "
                         "it has a ';', a '->', a string, a comment or a line feed");
    return NULL;
}

/* ---- statements ---- */

/* False, refused: a second statement has no room there. */
static bool needs_block(struct work *work, const struct net_part *part)
{
    if (part->block != NULL) return true;
    return refuse_at(work, part->statement->span.begin,
                     "the body of 'for' or 'if' is this one statement: put braces around it");
}

static bool needs_gap(struct work *work, uint32_t begin, uint32_t end, const char *separators)
{
    if (source_is_gap(work->subject->source, begin, end, separators)) return true;
    return refuse_at(work, begin, "a comment stands here: edit the text");
}

static const char *line_break(const struct work *work, const struct net_part *part)
{
    const struct source *source = work->subject->source;
    return arena_printf(work->subject->arena, "%s%s", source_newline(source),
                        source_indent(work->subject->arena, source, part->statement->span.begin));
}

static void remove_statement(struct work *work, const struct net_part *part)
{
    const struct source *source = work->subject->source;
    struct span span = part->statement->span;
    struct source_lines lines;
    if (part->block == NULL)
        source_edit_put(work->edit, span.begin, span.end, ";");
    else if (source_own_lines(source, span.begin, span.end, &lines) && !lines.has_comment)
        source_edit_put(work->edit, lines.begin, lines.end, "");
    else
        source_edit_put(work->edit, span.begin, span.end, "");
}

/* `buffer TYPE NAME;` on a line before the statement. */
static void declare_new_buffer(struct work *work, const struct net_part *part, const char *type,
                               const char *name)
{
    uint32_t begin = part->statement->span.begin;
    source_edit_put(
        work->edit, begin, begin,
        arena_printf(work->subject->arena, "buffer %s %s;%s", type, name, line_break(work, part)));
}

/* ---- types of packets ---- */

static const struct graph_node *node_of_part(const struct work *work, const struct net_part *part)
{
    const struct graph *graph = work->subject->graph;
    for (size_t n = 0; graph != NULL && n < graph->nodes.count; n++) {
        struct span span = graph->nodes.items[n].span;
        if (span.source == work->subject->source_id && span.begin == part->at)
            return &graph->nodes.items[n];
    }
    return NULL;
}

/* The buffer whose name is written at `span`, of this node's ends; GRAPH_NONE: none, or several. */
static uint32_t buffer_written_at(const struct graph_node *node, bool is_out, struct span span)
{
    uint32_t found = GRAPH_NONE;
    size_t count = is_out ? node->outputs.count : node->inputs.count;
    for (size_t i = 0; i < count; i++) {
        struct span end = is_out ? node->outputs.items[i].span : node->inputs.items[i].span;
        if (end.begin < span.begin || end.begin >= span.end) continue;
        if (found != GRAPH_NONE) return GRAPH_NONE;
        found = is_out ? node->outputs.items[i].buffer : node->inputs.items[i].buffer;
    }
    return found;
}

/* The type of the packets at an end of a kernel: as the source writes it. NULL: refused. */
static const char *packet_type(struct work *work, const struct net_part *part, bool is_out,
                               const struct ast_expr *written)
{
    const struct graph_node *node = node_of_part(work, part);
    if (node == NULL) {
        refuse_at(work, part->at,
                  "the type of the packets is not known: the shown pipeline has errors, or does "
                  "not use this part; declare a buffer in the text");
        return NULL;
    }
    for (const struct ast_type_param *p = part->item->signature.type_params; p != NULL; p = p->next)
        if (p->is_type) {
            refuse_at(work, part->at,
                      "the type of the packets may depend on a type parameter: declare a buffer "
                      "in the text");
            return NULL;
        }
    uint32_t buffer = GRAPH_NONE;
    if (written != NULL)
        buffer = buffer_written_at(node, is_out, written->span);
    else if ((is_out ? node->outputs.count : node->inputs.count) == 1)
        buffer = is_out ? node->outputs.items[0].buffer : node->inputs.items[0].buffer;
    if (buffer == GRAPH_NONE) {
        refuse_at(work, written != NULL ? written->span.begin : part->at, "this is not one buffer");
        return NULL;
    }
    return type_text(work->subject->arena, work->subject->graph->buffers.items[buffer].type);
}

static const char *new_buffer_name(struct work *work, const struct ast_node *element)
{
    const char *base = element->label.text != NULL ? element->label.text : element->name.text;
    return source_new_word(work->subject->arena, work->subject->source,
                           arena_printf(work->subject->arena, "%s_out", base));
}

static const char *expr_copy(struct work *work, const struct ast_expr *e)
{
    return arena_string(work->subject->arena, work->subject->source->bytes + e->span.begin,
                        e->span.end - e->span.begin);
}

static const char *node_copy(struct work *work, const struct ast_node *node)
{
    return arena_string(work->subject->arena, work->subject->source->bytes + node->span.begin,
                        node->span.end - node->span.begin);
}

static const struct ast_expr *bound_expr(struct work *work, const struct net_part *part,
                                         bool is_out, uint32_t number)
{
    const struct ast_expr *e = is_out ? part->element->outputs : part->element->inputs;
    for (; e != NULL && number > 0; number--)
        e = e->next;
    if (e == NULL)
        refuse_at(work, part->at, is_out ? "it has no such output" : "it has no such input");
    return e;
}

static const struct ast_node *element_before(const struct net_part *part)
{
    const struct ast_node *before = part->statement->chain;
    if (before == part->element) return NULL;
    while (before->next != part->element)
        before = before->next;
    return before;
}

/* ---- insert ---- */

/* On a buffer that a kernel binds by name: the kernel gets a new buffer, and the new one joins both. */
static bool insert_at_binding(struct work *work, const struct net_part *part, bool after,
                              const char *text)
{
    uint32_t number = 0;
    struct arena *arena = work->subject->arena;
    if (json_object_get(work->request, "port") != NULL && !number_member(work, "port", &number))
        return false;
    const struct ast_expr *bound = bound_expr(work, part, after, number);
    if (bound == NULL || !needs_block(work, part)) return false;
    const char *type = packet_type(work, part, after, bound);
    if (type == NULL) return false;
    const char *old = expr_copy(work, bound), *name = new_buffer_name(work, part->element);
    declare_new_buffer(work, part, type, name);
    source_edit_put(work->edit, bound->span.begin, bound->span.end, name);
    struct span span = part->statement->span;
    if (after)
        source_edit_put(
            work->edit, span.end, span.end,
            arena_printf(arena, "%s%s -> %s -> %s;", line_break(work, part), name, text, old));
    else
        source_edit_put(
            work->edit, span.begin, span.begin,
            arena_printf(arena, "%s -> %s -> %s;%s", old, text, name, line_break(work, part)));
    return true;
}

static bool operate_insert(struct work *work)
{
    bool after;
    const struct net_part *part = part_member(work, "at");
    const char *text = part_text_member(work, false);
    if (part == NULL || text == NULL || !side_member(work, &after)) return false;
    if (part->element == NULL)
        return refuse_at(work, part->at, "a kernel is inserted beside an element of a chain");
    if (part->element->has_arrow) return insert_at_binding(work, part, after, text);
    struct span span = part->element->span;
    if (after && part->element->next == NULL)
        return refuse_at(work, part->at, "the chain ends here: insert before it");
    if (!after && part->element == part->statement->chain)
        return refuse_at(work, part->at, "the chain begins here: insert after it");
    if (after)
        source_edit_put(work->edit, span.end, span.end,
                        arena_printf(work->subject->arena, " -> %s", text));
    else
        source_edit_put(work->edit, span.begin, span.begin,
                        arena_printf(work->subject->arena, "%s -> ", text));
    return true;
}

/* ---- remove ---- */

/* The gaps between the elements of a chain, from `first` to `last`. */
static bool needs_gaps(struct work *work, const struct ast_node *first, const struct ast_node *last)
{
    for (; first != last; first = first->next)
        if (!needs_gap(work, first->span.end, first->next->span.begin, "->")) return false;
    return true;
}

/* A kernel between two buffers: the chain becomes what is left on both sides. */
static bool split_chain(struct work *work, const struct net_part *part,
                        const struct ast_node *before)
{
    const struct ast_node *first = part->statement->chain, *after = part->element->next;
    const struct ast_node *last = after;
    while (last->next != NULL)
        last = last->next;
    if (!needs_gaps(work, before, after)) return false;
    if (before == first && after == last) {
        remove_statement(work, part);
    } else if (before == first) {
        source_edit_put(work->edit, first->span.begin, after->span.begin, "");
    } else if (after == last) {
        source_edit_put(work->edit, before->span.end, after->span.end, "");
    } else {
        if (!needs_block(work, part)) return false;
        source_edit_put(work->edit, before->span.end, after->span.begin,
                        arena_printf(work->subject->arena, ";%s", line_break(work, part)));
    }
    return true;
}

static bool remove_element(struct work *work, const struct net_part *part)
{
    const struct net_parts *parts = work->subject->parts;
    const struct ast_node *element = part->element, *after = element->next;
    const struct ast_node *first = part->statement->chain, *before = element_before(part);
    if (before == NULL && after == NULL) {
        remove_statement(work, part);
        return true;
    }
    if (before != NULL && after != NULL && net_part_is_use(parts, part->item, before) &&
        net_part_is_use(parts, part->item, after))
        return split_chain(work, part, before);
    /* One buffer without a kernel is no chain. */
    const struct ast_node *rest = before == NULL ? after : before;
    bool is_single = before == NULL ? after->next == NULL : after == NULL && before == first;
    if (!needs_gaps(work, before != NULL ? before : element, after != NULL ? after : element))
        return false;
    if (is_single && net_part_is_use(parts, part->item, rest))
        remove_statement(work, part);
    else if (after != NULL)
        source_edit_put(work->edit, element->span.begin, after->span.begin, "");
    else
        source_edit_put(work->edit, before->span.end, element->span.end, "");
    return true;
}

static bool remove_buffer(struct work *work, const struct net_part *part)
{
    const struct ast_buffer *first = part->statement->buffers, *own = part->buffer, *before = first;
    if (first == own && own->next == NULL) {
        remove_statement(work, part);
        return true;
    }
    if (first == own) {
        if (!needs_gap(work, own->span.end, own->next->span.begin, ",")) return false;
        source_edit_put(work->edit, own->span.begin, own->next->span.begin, "");
        return true;
    }
    while (before->next != own)
        before = before->next;
    if (!needs_gap(work, before->span.end, own->span.begin, ",")) return false;
    source_edit_put(work->edit, before->span.end, own->span.end, "");
    return true;
}

static bool operate_remove(struct work *work)
{
    const struct net_part *part = part_member(work, "at");
    if (part == NULL) return false;
    if (part->element != NULL) return remove_element(work, part);
    if (part->buffer != NULL) return remove_buffer(work, part);
    return refuse_at(work, part->at,
                     "a port belongs to the interface of the pipeline: edit the text");
}

/* ---- connect ---- */

/* The name of the buffer at an output of a kernel. Packets of a buffer without a name get one. NULL: refused. */
static const char *name_output(struct work *work, const struct net_part *from)
{
    uint32_t number = 0;
    if (json_object_get(work->request, "output") != NULL && !number_member(work, "output", &number))
        return NULL;
    if (from->element->has_arrow) {
        const struct ast_expr *bound = bound_expr(work, from, true, number);
        return bound != NULL ? expr_copy(work, bound) : NULL;
    }
    const struct ast_node *next = from->element->next;
    if (next == NULL || number > 0) {
        refuse_at(work, from->at, "it has no such output");
        return NULL;
    }
    if (net_part_is_use(work->subject->parts, from->item, next)) return node_copy(work, next);
    const char *type = packet_type(work, from, true, NULL);
    if (type == NULL || !needs_block(work, from)) return NULL;
    const char *name = new_buffer_name(work, from->element);
    declare_new_buffer(work, from, type, name);
    source_edit_put(work->edit, from->element->span.end, from->element->span.end,
                    arena_printf(work->subject->arena, " -> %s", name));
    return name;
}

static const char *name_source(struct work *work, const struct net_part *from)
{
    if (from->element != NULL && !net_part_is_use(work->subject->parts, from->item, from->element))
        return name_output(work, from);
    if (from->element != NULL) return node_copy(work, from->element);
    bool is_array = from->buffer != NULL ? from->buffer->dims != NULL : from->port->dims != NULL;
    if (is_array) refuse_at(work, from->at, "an array of buffers: edit the text");
    if (is_array) return NULL;
    return from->buffer != NULL ? from->buffer->name.text : from->port->name.text;
}

/* In a chain, the name comes in the place of a buffer before it, or begins a chain of its own. */
static bool read_in_chain(struct work *work, const struct net_part *to, const char *name)
{
    struct arena *arena = work->subject->arena;
    const struct ast_node *before = element_before(to);
    if (before == NULL) return refuse_at(work, to->at, "it has no input");
    bool is_use = net_part_is_use(work->subject->parts, to->item, before);
    if (is_use && before == to->statement->chain) {
        source_edit_put(work->edit, before->span.begin, before->span.end, name);
        return true;
    }
    if (!needs_block(work, to) || !needs_gaps(work, before, to->element)) return false;
    source_edit_put(work->edit, before->span.end, to->element->span.begin,
                    arena_printf(arena, ";%s%s -> ", line_break(work, to), name));
    return true;
}

static bool operate_connect(struct work *work)
{
    uint32_t number = 0;
    const struct net_part *from = part_member(work, "from"), *to = part_member(work, "to");
    if (from == NULL || to == NULL) return false;
    if (json_object_get(work->request, "input") != NULL && !number_member(work, "input", &number))
        return false;
    if (from->item != to->item)
        return refuse_at(work, to->at, "it is in another pipeline: connect it through its ports");
    if (to->element == NULL || net_part_is_use(work->subject->parts, to->item, to->element))
        return refuse_at(work, to->at, "packets are read by a kernel or a pipeline");
    if (from->element != NULL && from->element->next == to->element && !to->element->has_arrow)
        return refuse_at(work, to->at, "these are connected");
    const char *name = name_source(work, from);
    if (name == NULL) return false;
    if (!to->element->has_arrow)
        return number == 0 ? read_in_chain(work, to, name)
                           : refuse_at(work, to->at, "it has no such input");
    const struct ast_expr *bound = bound_expr(work, to, false, number);
    if (bound == NULL) return false;
    source_edit_put(work->edit, bound->span.begin, bound->span.end, name);
    return true;
}

/* ---- set ---- */

static bool bracket_at(struct work *work, uint32_t open, char bracket, struct bracket_list *list)
{
    const struct source *source = work->subject->source;
    if (open < source->size_bytes && source->bytes[open] == bracket &&
        source_match_bracket(source, open, list))
        return true;
    return refuse_at(work, open, "the brackets here are not understood: edit the text");
}

/* Replaces what is between the brackets; an empty text replaces `empty_begin` to `empty_end`. */
static bool replace_list(struct work *work, uint32_t begin, uint32_t end, uint32_t empty_begin,
                         uint32_t empty_end, const char *text)
{
    const struct source *source = work->subject->source;
    if (memmem(source->bytes + begin, end - begin, "//", 2) != NULL ||
        memmem(source->bytes + begin, end - begin, "/*", 2) != NULL)
        return refuse_at(work, begin, "a comment stands here: edit the text");
    if (*text == '\0')
        source_edit_put(work->edit, empty_begin, empty_end, "");
    else
        source_edit_put(work->edit, begin, end, text);
    return true;
}

static bool set_label(struct work *work, const struct ast_node *element, const char *text)
{
    struct span label = element->label.span, name = element->name.span;
    if (element->label.text == NULL && *text == '\0') return true;
    if (element->label.text == NULL)
        source_edit_put(work->edit, name.begin, name.begin,
                        arena_printf(work->subject->arena, "%s: ", text));
    else if (*text != '\0')
        source_edit_put(work->edit, label.begin, label.end, text);
    else if (!needs_gap(work, label.end, name.begin, ":"))
        return false;
    else
        source_edit_put(work->edit, label.begin, name.begin, "");
    return true;
}

static bool set_parameters(struct work *work, const struct ast_node *element, const char *text)
{
    struct bracket_list list;
    uint32_t open = element->name.span.end;
    if (!element->has_type_arguments) {
        if (*text != '\0')
            source_edit_put(work->edit, open, open,
                            arena_printf(work->subject->arena, "<%s>", text));
        return true;
    }
    open = source_skip_blanks(work->subject->source, open);
    return bracket_at(work, open, '<', &list) &&
           replace_list(work, open + 1, list.close, open, list.close + 1, text);
}

static bool set_arguments(struct work *work, const struct ast_node *element, const char *text)
{
    const struct source *source = work->subject->source;
    struct arena *arena = work->subject->arena;
    struct bracket_list list;
    uint32_t after = element->name.span.end;
    if (element->has_type_arguments) {
        uint32_t open = source_skip_blanks(source, after);
        if (!bracket_at(work, open, '<', &list)) return false;
        after = list.close + 1;
    }
    if (!element->has_call) {
        if (*text != '\0')
            source_edit_put(work->edit, after, after, arena_printf(arena, "(%s)", text));
        return true;
    }
    uint32_t open = source_skip_blanks(source, after);
    if (!bracket_at(work, open, '(', &list)) return false;
    if (!element->has_arrow)
        return replace_list(work, open + 1, list.close, after, list.close + 1, text);
    if (list.semicolon == 0) {
        if (*text != '\0')
            source_edit_put(work->edit, list.close, list.close, arena_printf(arena, "; %s", text));
        return true;
    }
    return replace_list(work, list.semicolon + 1, list.close, list.semicolon, list.close,
                        *text != '\0' ? arena_printf(arena, " %s", text) : "");
}

static bool set_attributes(struct work *work, const struct ast_attribute *first, uint32_t end,
                           const char *text)
{
    const struct source *source = work->subject->source;
    if (first == NULL) {
        if (*text != '\0')
            source_edit_put(work->edit, end, end, arena_printf(work->subject->arena, " %s", text));
        return true;
    }
    uint32_t begin = first->span.begin, blank = begin;
    while (blank > 0 && source->bytes[blank - 1] == ' ')
        blank--;
    return replace_list(work, begin, end, blank, end, text);
}

static bool operate_set(struct work *work)
{
    static const char *const kinds[] = {"label", "parameters", "arguments", "attributes"};
    const struct net_part *part = part_member(work, "at");
    const char *kind = text_member(work, "part"), *text = part_text_member(work, true);
    if (part == NULL || kind == NULL || text == NULL) return false;
    size_t number = WORD_INDEX(kind, kinds);
    if (number == sizeof kinds / sizeof *kinds)
        return refuse_request(work, "'part' is label, parameters, arguments or attributes");
    if (part->buffer != NULL && number == 3)
        return set_attributes(work, part->buffer->attributes, part->buffer->span.end, text);
    if (part->element == NULL || net_part_is_use(work->subject->parts, part->item, part->element))
        return refuse_at(work, part->at, "only kernels and pipelines have this part");
    switch (number) {
    case 0: return set_label(work, part->element, text);
    case 1: return set_parameters(work, part->element, text);
    case 2: return set_arguments(work, part->element, text);
    default: return set_attributes(work, part->element->attributes, part->element->span.end, text);
    }
}

/* ---- move ---- */

/* The statement with its lines goes before or after another one of its block. */
static bool operate_move(struct work *work)
{
    bool after;
    struct source_lines own, other;
    const struct source *source = work->subject->source;
    const struct net_part *part = part_member(work, "at"), *to = part_member(work, "to");
    if (part == NULL || to == NULL || !side_member(work, &after)) return false;
    if (part->statement == NULL || to->statement == NULL || part->block == NULL ||
        part->block != to->block)
        return refuse_at(work, to->at, "a statement moves within its block");
    if (part->statement == to->statement)
        return refuse_at(work, to->at, "both are in one statement, and stay in its order");
    struct span span = part->statement->span, target = to->statement->span;
    if (!source_own_lines(source, span.begin, span.end, &own))
        return refuse_at(work, span.begin, "something else stands on the lines of this statement");
    if (!source_own_lines(source, target.begin, target.end, &other))
        return refuse_at(work, target.begin,
                         "something else stands on the lines of this statement");
    uint32_t at = after ? other.end : other.begin;
    if (at == own.begin || at == own.end) return refuse_at(work, to->at, "it stands there");
    source_edit_put(work->edit, own.begin, own.end, "");
    source_edit_put_part(work->edit, at, own.begin, own.end);
    return true;
}

/* ---- all ---- */

static const struct {
    const char *name;
    bool (*operate)(struct work *work);
} operations[] = {
    {"connect", operate_connect}, {"insert", operate_insert}, {"move", operate_move},
    {"remove", operate_remove},   {"set", operate_set},
};

struct edit_refusal edit_operation(const struct edit_subject *subject, const char *operation,
                                   struct source_edit *edit)
{
    struct work work = {.subject = subject, .edit = edit};
    work.request = json_loads(operation, 0, NULL);
    const char *name = json_string_value(json_object_get(work.request, "op"));
    size_t i = 0, count = sizeof operations / sizeof operations[0];
    while (name != NULL && i < count && strcmp(operations[i].name, name) != 0)
        i++;
    if (name == NULL || i == count)
        refuse_request(&work, "'op' is connect, insert, move, remove or set");
    else if (operations[i].operate(&work) && edit->edits.count == 0)
        refuse_request(&work, "nothing changes");
    else if (edit->edits.count == 0)
        refuse_request(&work, "the operation is not possible");
    json_decref(work.request);
    return work.refusal;
}
