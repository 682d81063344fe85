/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "compiler/diagnostics/diag_lsp.h"
#include "compiler/driver/passes.h"
#include "compiler/editor/editor_answers.h"
#include "compiler/editor/editor_view.h"
#include "compiler/sema/sema.h"
#include "compiler/syntax/token_stream.h"
#include "base/words.h"

/* ---- the graphs of a document ---- */

typedef void visit_graph(struct editor_view *view, const struct graph *graph, void *data);

/* Calls `visit` for each pipeline of the document that has depths. */
static void each_graph(struct editor_view *view, visit_graph *visit, void *data)
{
    struct compile *cx = &view->cx;
    cx->options.pipeline_optional = cx->options.definitions_shared = true;
    struct passes first = passes_of_source(cx, view->source);
    bool sound = passes_run(&first, PASS_DEPTHS) && first.written != NULL;
    if (sound) visit(view, first.written, data);
    if (first.program == NULL) return;
    cx->options.pipeline_alone = true;
    for (const struct ast_item *i = first.program->files->items; i != NULL; i = i->next) {
        if (i->kind != AST_ITEM_PIPELINE || !sema_all_defined(cx, &i->signature)) continue;
        if (sound && strcmp(first.written->name, i->signature.name.text) == 0) continue;
        struct diags *all = cx->diags;
        cx->diags = diags_fork(cx->arena, all);
        cx->options.pipeline = i->signature.name.text;
        struct passes passes = passes_of_program(cx, first.program);
        if (passes_run(&passes, PASS_DEPTHS) && passes.written != NULL)
            visit(view, passes.written, data);
        cx->diags = all;
    }
}

/* ---- what is known at a place ---- */

struct fact {
    uint32_t at;      /* the end of the name that it belongs to */
    bool is_unnamed;  /* of a buffer without a name: shown before the arrow that follows */
    const char *text; /* "pop 1 peek 4" */
};

struct facts {
    uint32_t source;
    VEC(struct fact) items;
};

static const char *written_rates(struct arena *arena, uint32_t phases, const char *word,
                                 const uint64_t *leasts, const uint64_t *mosts)
{
    struct memory_text text;
    arena_text_begin(&text);
    fprintf(text.file, "%s ", word);
    graph_print_rate(text.file, phases, leasts, mosts);
    return arena_text_end(arena, &text, NULL);
}

/* Several instances may give one place several texts: "push 1 or push 2". */
static void add_fact(struct editor_view *view, struct facts *facts, struct span span,
                     bool is_unnamed, const char *text)
{
    if (span.source != facts->source) return;
    for (size_t i = 0; i < facts->items.count; i++) {
        struct fact *fact = &facts->items.items[i];
        if (fact->at != span.end || fact->is_unnamed != is_unnamed) continue;
        const char *found = strstr(fact->text, text);
        size_t length = strlen(text);
        bool is_known = found != NULL && (found[length] == '\0' || found[length] == ' ') &&
                        (found == fact->text || found[-1] == ' ');
        if (!is_known) fact->text = arena_printf(view->cx.arena, "%s or %s", fact->text, text);
        return;
    }
    vec_push(view->cx.arena, &facts->items, (struct fact){span.end, is_unnamed, text});
}

static void add_in_port(struct editor_view *view, struct facts *facts, const struct kernel *kernel,
                        const struct kernel_port *port)
{
    struct arena *arena = view->cx.arena;
    const uint64_t *pops = port->pops != NULL ? port->pops : &port->pop;
    const uint64_t *peeks = port->peeks != NULL ? port->peeks : &port->peek;
    uint32_t phases = port->pops != NULL ? kernel->phases : 1;
    bool peeks_more = memcmp(pops, peeks, phases * sizeof *pops) != 0;
    const char *text = written_rates(arena, phases, "pop", pops, pops);
    if (port->window_width > 0)
        text =
            arena_printf(arena, "%s window %ux%u", text, port->window_width, port->window_height);
    else if (peeks_more)
        text =
            arena_printf(arena, "%s %s", text, written_rates(arena, phases, "peek", peeks, peeks));
    add_fact(view, facts, port->span, false, text);
}

static void add_out_port(struct editor_view *view, struct facts *facts, const struct kernel *kernel,
                         const struct kernel_port *port)
{
    bool listed = port->pushes != NULL;
    add_fact(view, facts, port->span, false,
             written_rates(view->cx.arena, listed ? kernel->phases : 1, "push",
                           listed ? port->push_leasts : &port->push_least,
                           listed ? port->pushes : &port->push));
}

static void add_graph(struct editor_view *view, const struct graph *graph, void *data)
{
    struct facts *facts = data;
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *kernel = graph->kernels.items[i];
        for (uint32_t p = 0; p < kernel->in_count; p++)
            add_in_port(view, facts, kernel, &kernel->in[p]);
        for (uint32_t p = 0; p < kernel->out_count; p++)
            add_out_port(view, facts, kernel, &kernel->out[p]);
    }
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->outer != GRAPH_INNER) continue;
        add_fact(view, facts, buffer->span, strstr(buffer->name, "->") != NULL,
                 arena_printf(view->cx.arena, "depth %" PRIu64, buffer->depth_packets));
    }
}

static struct facts facts_of(struct editor_view *view)
{
    struct facts facts = {.source = view->source};
    each_graph(view, add_graph, &facts);
    return facts;
}

/* ---- hints ---- */

struct hints {
    struct editor_view *view;
    struct token_list tokens;
};

/* The first token that begins at or after the offset. */
static size_t token_after(const struct token_list *list, uint32_t offset)
{
    size_t low = 0, high = list->tokens.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->tokens.items[middle].span.begin < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the element of a chain that contains the offset ends: before the next arrow of its level. */
static uint32_t element_end(const struct token_list *list, uint32_t offset)
{
    size_t depth = 0, first = token_after(list, offset);
    for (size_t i = first; i > 0 && i < list->tokens.count; i++) {
        int kind = list->tokens.items[i].kind;
        depth += kind == '(' || kind == '[';
        if (depth == 0 && (kind == TOKEN_ARROW || kind == ';' || kind == TOKEN_END))
            return list->tokens.items[i - 1].span.end;
        if ((kind == ')' || kind == ']') && depth > 0) depth--;
    }
    return offset;
}

/* Whether the text declares it: the words between the name and the end of the port or buffer. */
static bool is_written(const struct token_list *list, const char *bytes, const struct fact *fact)
{
    const char *blank = strchr(fact->text, ' ');
    size_t length = blank != NULL ? (size_t)(blank - fact->text) : 0, depth = 0;
    for (size_t i = token_after(list, fact->at); i < list->tokens.count; i++) {
        const struct list_token *token = &list->tokens.items[i];
        depth += token->kind == '[' || token->kind == '{' || token->kind == '(';
        bool is_end = token->kind == ',' || token->kind == ';' || token->kind == ')';
        if (depth == 0 && (is_end || token->kind == TOKEN_END)) return false;
        bool closes = token->kind == ']' || token->kind == '}' || token->kind == ')';
        if (depth > 0 && closes) depth--;
        if (token->span.end - token->span.begin == length &&
            memcmp(bytes + token->span.begin, fact->text, length) == 0)
            return true;
    }
    return false;
}

static void put_hint(struct json *json, const struct hints *hints, const struct fact *fact)
{
    const struct source *source = source_get(hints->view->cx.sources, hints->view->source);
    uint32_t at = fact->is_unnamed ? element_end(&hints->tokens, fact->at) : fact->at;
    if (!fact->is_unnamed && is_written(&hints->tokens, source->bytes, fact)) return;
    json_begin(json, NULL, '{');
    lsp_put_place(json, "position", hints->view->cx.sources,
                  (struct span){hints->view->source, at, at});
    json_text(json, "label", fact->text);
    json_boolean(json, "paddingLeft", true);
    json_end(json, '}');
}

/* Editors take the hints of a file at once, so the range of the request does not matter. */
void answer_hints(const struct editor_request *request, FILE *to)
{
    struct hints hints = {.view = editor_view_document(request)};
    struct json json = editor_json(to);
    struct facts facts = facts_of(hints.view);
    token_list_read(&hints.view->cx, hints.view->source, &hints.tokens);
    json_begin(&json, NULL, '[');
    for (size_t i = 0; i < facts.items.count; i++)
        put_hint(&json, &hints, &facts.items.items[i]);
    json_end(&json, ']');
}

/* ---- hover ---- */

struct question {
    uint32_t source, offset;
    const char *text;
};

static bool is_asked(const struct question *question, struct span span)
{
    return span.source == question->source && span.begin <= question->offset &&
           question->offset <= span.end;
}

/* The node at the place: `span` is its label, if it has one, before `: NAME`. */
static bool is_node_asked(const struct editor_view *view, const struct question *question,
                          struct span span)
{
    bool colon = false;
    if (is_asked(question, span)) return true;
    if (span.source != question->source || span.begin > question->offset) return false;
    const char *bytes = source_get(view->cx.sources, span.source)->bytes;
    for (uint32_t i = span.end; i < question->offset; i++) {
        colon |= bytes[i] == ':';
        if (bytes[i] != ':' && !byte_is_blank(bytes[i]) && !byte_is_word(bytes[i])) return false;
    }
    return colon;
}

static void add_line(struct editor_view *view, struct question *question, const char *line)
{
    const char *text = question->text != NULL ? question->text : "";
    if (strstr(text, line) == NULL)
        question->text = arena_printf(view->cx.arena, "%s%s\n", text, line);
}

static const char *node_line(struct arena *arena, const struct graph_node *node)
{
    struct memory_text text;
    arena_text_begin(&text);
    fprintf(text.file, "%s:", node->kernel->title);
    for (size_t i = 0; i < node->inputs.count; i++) {
        fprintf(text.file, "%s in %s ", i > 0 ? "," : "", node->inputs.items[i].port);
        graph_print_in_rates(text.file, node, &node->inputs.items[i]);
    }
    for (size_t i = 0; i < node->outputs.count; i++) {
        fprintf(text.file, "%s out %s ", i + node->inputs.count > 0 ? "," : "",
                node->outputs.items[i].port);
        graph_print_out_rates(text.file, node, &node->outputs.items[i]);
    }
    fprintf(text.file, "; %" PRIu64 " firing%s an iteration", node->repetitions,
            node->repetitions == 1 ? "" : "s");
    return arena_text_end(arena, &text, NULL);
}

static void ask_graph(struct editor_view *view, const struct graph *graph, void *data)
{
    struct question *question = data;
    struct arena *arena = view->cx.arena;
    for (size_t i = 0; i < graph->nodes.count; i++)
        if (is_node_asked(view, question, graph->nodes.items[i].span) ||
            is_asked(question, graph->nodes.items[i].kernel->span))
            add_line(view, question, node_line(arena, &graph->nodes.items[i]));
    for (size_t i = 0; i < graph->buffers.count; i++) {
        const struct graph_buffer *buffer = &graph->buffers.items[i];
        if (buffer->outer != GRAPH_INNER || !is_asked(question, buffer->span)) continue;
        const char *reason = buffer->depth_reason != NULL ? buffer->depth_reason : "as declared";
        add_line(view, question,
                 arena_printf(arena, "buffer %s %s: depth %" PRIu64 " (%s)",
                              type_text(arena, buffer->type), buffer->name, buffer->depth_packets,
                              reason));
    }
}

const char *rates_text(struct editor_view *view)
{
    struct question question = {.source = view->source, .offset = editor_offset(view)};
    each_graph(view, ask_graph, &question);
    return question.text;
}
