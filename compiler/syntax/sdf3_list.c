/* SPDX-License-Identifier: MIT */
/*
 * A graph as a command list. Each actor has a kernel of its own, with the actor's rates, whose packets are bytes of
 * value 0: a packet stands for a token, and takes 1 byte of memory.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/diagnostics/diag.h"
#include "compiler/syntax/sdf3_graph.h"
#include "compiler/support/arena_text.h"
#include "base/quote.h"

struct list {
    struct compile *cx;
    struct memory_text text;
    VEC(struct span) origins; /* by line */
};

/* ---- lines ---- */

static bool is_too_large(struct list *list)
{
    return memory_text_bytes(&list->text) > SOURCE_MAX_BYTES;
}

/* Ends a line that was made from `origin`. */
static void end_list_line(struct list *list, struct span origin)
{
    fputc('\n', list->text.file);
    vec_push(list->cx->arena, &list->origins, origin);
}

static void write_list_line(struct list *list, struct span origin, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void write_list_line(struct list *list, struct span origin, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(list->text.file, format, args);
    va_end(args);
    end_list_line(list, origin);
}

static void write_quoted(struct list *list, const char *before, const char *name, const char *after)
{
    fputs(before, list->text.file);
    quote_print(list->text.file, name, strlen(name));
    fputs(after, list->text.file);
}

/* ---- kernels ---- */

/* `{3, 1, 3, 1}`: of so many phases, beginning again after the last one that is written. */
static void write_phases(struct list *list, const struct sdf3_rates *rates, uint32_t phases)
{
    size_t run = 0;
    uint32_t done = 0;
    fputc('{', list->text.file);
    for (uint32_t phase = 0; phase < phases && !is_too_large(list); phase++) {
        fprintf(list->text.file, "%s%" PRIu64, phase > 0 ? ", " : "", rates->runs.items[run].value);
        if (++done < rates->runs.items[run].phases) continue;
        done = 0;
        run = run + 1 < rates->runs.count ? run + 1 : 0;
    }
    fputc('}', list->text.file);
}

/* A number; a list if the port has phases. */
static void write_rate(struct list *list, const struct sdf3_actor *actor,
                       const struct sdf3_port *port)
{
    if (port->rates.phases > 1)
        write_phases(list, &port->rates, actor->phases);
    else
        fprintf(list->text.file, "%" PRIu64, port->rates.runs.items[0].value);
}

static void write_ports(struct list *list, const struct sdf3_actor *actor)
{
    size_t last = 0;
    for (size_t i = 0; i < actor->ports.count; i++)
        if (actor->ports.items[i].channel != SDF3_NONE) last = i;
    for (size_t i = 0; i <= last; i++) {
        const struct sdf3_port *port = &actor->ports.items[i];
        if (port->channel == SDF3_NONE) continue;
        fprintf(list->text.file, "    %s u8 %s %s ", port->is_out ? "out" : "in", port->word,
                port->is_out ? "push" : "pop");
        write_rate(list, actor, port);
        write_list_line(list, port->rates.span, i < last ? "," : "");
    }
}

static void write_pushes(struct list *list, const struct sdf3_actor *actor)
{
    for (size_t i = 0; i < actor->ports.count; i++) {
        const struct sdf3_port *port = &actor->ports.items[i];
        if (port->channel == SDF3_NONE || !port->is_out) continue;
        if (port->rates.phases > 1) {
            fprintf(list->text.file, "    { const i64 rates[%" PRIu32 "] = ", actor->phases);
            write_phases(list, &port->rates, actor->phases);
            write_list_line(list, port->rates.span,
                            "; for (i64 token = 0; token < rates[phase]; token++) %s <- 0; }",
                            port->word);
        } else {
            fputs("    for (i64 token = 0; token < ", list->text.file);
            write_rate(list, actor, port);
            write_list_line(list, port->rates.span, "; token++) %s <- 0;", port->word);
        }
    }
}

static void write_actor(struct list *list, const struct sdf3_actor *actor)
{
    struct span span = actor->name.span;
    write_list_line(list, span, "/// The rates of an actor, without its work.");
    write_list_line(list, span, "kernel %s(", actor->word);
    write_ports(list, actor);
    write_list_line(list, span, ") {");
    if (actor->stateful) write_list_line(list, span, "    state u8 fired; fired++;");
    write_pushes(list, actor);
    write_list_line(list, span, "}");
    write_quoted(list, "create kernel ", actor->name.text, " ");
    write_list_line(list, span, "%s;", actor->word);
    write_quoted(list, "set ", actor->name.text, " ");
    write_list_line(list, actor->cycles_span, "cost %" PRIu64 ";", actor->cycles);
}

/* ---- channels ---- */

static const char *end_word(const struct sdf3_graph *graph, const struct sdf3_end *end)
{
    return graph->actors.items[end->actor].ports.items[end->port].word;
}

static void write_channel(struct list *list, const struct sdf3_graph *graph,
                          const struct sdf3_channel *channel)
{
    struct span span = channel->name.span;
    write_quoted(list, "create buffer ", channel->name.text, " u8;");
    end_list_line(list, span);
    if (channel->tokens > 0) {
        write_quoted(list, "set ", channel->name.text, " ");
        write_list_line(list, channel->tokens_span, "init %" PRIu64 " x 0;", channel->tokens);
    }
    write_quoted(list, "connect ", channel->from.actor_name.text, ".");
    fputs(end_word(graph, &channel->from), list->text.file);
    write_quoted(list, " -> ", channel->name.text, ";");
    end_list_line(list, span);
    write_quoted(list, "connect ", channel->name.text, " -> ");
    write_quoted(list, "", channel->to.actor_name.text, ".");
    write_list_line(list, span, "%s;", end_word(graph, &channel->to));
}

/* ---- the list ---- */

static uint32_t add_list(struct list *list, uint32_t id)
{
    size_t size_bytes;
    struct compile *cx = list->cx;
    bool too_large = is_too_large(list);
    char *bytes = memory_text_end(&list->text, &size_bytes);
    if (bytes == NULL) arena_out_of_memory();
    uint32_t made = 0;
    if (too_large) {
        diag_report(cx->diags, RULE_TOO_LARGE, (struct span){id, 0, 0},
                    "as a command list, the graph is larger than %u MiB", SOURCE_MAX_BYTES >> 20);
    } else {
        vec_push(cx->arena, &list->origins, (struct span){id, 0, 0}); /* after the last line */
        made = source_add(cx->sources, source_get(cx->sources, id)->name, bytes, size_bytes);
        source_set_origins(cx->sources, made, list->origins.items);
    }
    free(bytes);
    return made;
}

uint32_t sdf3_list(struct compile *cx, uint32_t id, const struct sdf3_graph *graph)
{
    struct list list = {.cx = cx};
    struct span whole = {id, 0, 0};
    arena_text_begin(&list.text);
    write_list_line(&list, whole, "// pipec commands 1");
    write_quoted(&list, "pipeline ", graph->name, ";");
    end_list_line(&list, whole);
    for (size_t i = 0; i < graph->actors.count && !is_too_large(&list); i++)
        write_actor(&list, &graph->actors.items[i]);
    for (size_t i = 0; i < graph->channels.count && !is_too_large(&list); i++)
        if (!graph->channels.items[i].left_out)
            write_channel(&list, graph, &graph->channels.items[i]);
    return add_list(&list, id);
}
