/* SPDX-License-Identifier: MIT */
/*
 * Reading the XML of a graph: the one file that knows expat. Declarations of a document type are refused, so there are
 * no entities but those of XML itself, and nothing outside of the file is read.
 */
#include <expat.h>
#include <inttypes.h>
#include <string.h>

#include "compiler/diagnostics/diag.h"
#include "compiler/syntax/sdf3_graph.h"
#include "base/words.h"

enum { ELEMENT_DEPTH_MAX = 64, PHASES_MAX = 1024, IGNORED_NAMES = 8 };

enum element {
    ELEMENT_DOCUMENT,
    ELEMENT_SDF3,
    ELEMENT_APPLICATION,
    ELEMENT_GRAPH,
    ELEMENT_ACTOR,
    ELEMENT_PORT,
    ELEMENT_CHANNEL,
    ELEMENT_PROPERTIES,
    ELEMENT_ACTOR_PROPERTIES,
    ELEMENT_PROCESSOR,
    ELEMENT_TIME,
    ELEMENT_NOTHING, /* has nothing that is used */
    ELEMENT_IGNORED  /* within such an element, or reported as such */
};

struct reader {
    struct compile *cx;
    const struct source *source;
    uint32_t id;
    XML_Parser parser;
    struct sdf3_graph *graph;
    enum element open[ELEMENT_DEPTH_MAX]; /* from the document to the present element */
    uint32_t depth;
    uint32_t graphs;
    struct sdf3_text properties_of; /* the actor's name */
    bool is_default;                /* of the present processor */
    bool stopped;
    struct span root;
    VEC(const char *) ignored;
};

typedef const XML_Char *const *attribute_list; /* name, value, name, value, NULL */

/* ---- places ---- */

static struct span tag_place(const struct reader *r)
{
    XML_Index begin = XML_GetCurrentByteIndex(r->parser);
    uint32_t at = begin < 0 || begin > r->source->size_bytes ? 0 : (uint32_t)begin, end = at;
    if (end < r->source->size_bytes && r->source->bytes[end] == '<') end++;
    while (end < r->source->size_bytes && byte_is_word(r->source->bytes[end]))
        end++;
    return (struct span){r->id, at, end};
}

static uint32_t skip_xml_blanks(const struct source *source, uint32_t at)
{
    while (at < source->size_bytes && byte_is_blank(source->bytes[at]))
        at++;
    return at;
}

/* The value of the attribute in the present tag, without its quotes; the tag, if it is not there. The tag is well
 * formed, but in another encoding it need not be found. */
static struct span attribute_place(const struct reader *r, const char *name)
{
    const struct source *source = r->source;
    struct span tag = tag_place(r);
    size_t length = strlen(name);
    for (uint32_t at = tag.end; at < source->size_bytes && source->bytes[at] != '>';) {
        uint32_t begin = at = skip_xml_blanks(source, at);
        while (at < source->size_bytes && strchr("=>\"'", source->bytes[at]) == NULL)
            at++;
        uint32_t end = at;
        while (end > begin && byte_is_blank(source->bytes[end - 1]))
            end--;
        if (at >= source->size_bytes || source->bytes[at] != '=') break;
        at = skip_xml_blanks(source, at + 1);
        if (at >= source->size_bytes || strchr("\"'", source->bytes[at]) == NULL) break;
        const char *close =
            memchr(source->bytes + at + 1, source->bytes[at], source->size_bytes - at - 1);
        if (close == NULL) break;
        struct span value = {r->id, at + 1, (uint32_t)(close - source->bytes)};
        if (end - begin == length && memcmp(source->bytes + begin, name, length) == 0) return value;
        at = value.end + 1;
    }
    return tag;
}

static const char *attribute_value(attribute_list attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

/* The value of an attribute that must be there, and not empty. */
static bool read_required(struct reader *r, attribute_list attributes, const char *name,
                          struct sdf3_text *to)
{
    const char *value = attribute_value(attributes, name);
    to->span = attribute_place(r, name);
    if (value != NULL && *value != '\0') {
        to->text = arena_string(r->cx->arena, value, strlen(value));
        return true;
    }
    diag_report(
        r->cx->diags, RULE_SDF3, to->span,
        value != NULL ? "the attribute '%s' is empty" : "this element has no attribute '%s'", name);
    return false;
}

/* ---- numbers ---- */

/* False: there is no number at *text, or it does not fit 64 bits. Advances past it and the blanks around it. */
static bool take_number(const char **text, uint64_t *number)
{
    const char *at = *text;
    *number = 0;
    while (byte_is_blank(*at))
        at++;
    if (!byte_is_digit(*at)) return false;
    for (; byte_is_digit(*at); at++)
        if (__builtin_mul_overflow(*number, 10u, number) ||
            __builtin_add_overflow(*number, (uint64_t)(*at - '0'), number))
            return false;
    while (byte_is_blank(*at))
        at++;
    *text = at;
    return true;
}

/* `3`, `1,2*3`: commas, and counts before an asterisk. */
static bool take_phase_run(const char **text, struct sdf3_run *run)
{
    uint64_t phases = 1;
    if (!take_number(text, &run->value)) return false;
    if (**text == '*') {
        ++*text;
        phases = run->value;
        if (!take_number(text, &run->value)) return false;
    }
    run->phases = phases > PHASES_MAX ? PHASES_MAX + 1 : (uint32_t)phases;
    return phases > 0 && (**text == '\0' || **text == ',');
}

static bool read_rate_list(struct reader *r, attribute_list attributes, const char *name,
                           struct sdf3_rates *to)
{
    struct sdf3_text value;
    if (!read_required(r, attributes, name, &value)) return false;
    const char *at = value.text;
    to->span = value.span;
    for (bool more = true; more;) {
        struct sdf3_run run;
        if (!take_phase_run(&at, &run)) {
            struct diag *d =
                diag_report(r->cx->diags, RULE_SDF3, value.span,
                            "'%s' is no number of 64 bits, and no list of these", name);
            diag_help(d, "a list is '1,2,2' or '1,2*2': a count, an asterisk, and the number");
            return false;
        }
        to->phases += run.phases;
        if (to->phases > PHASES_MAX) {
            diag_report(r->cx->diags, RULE_SDF3, value.span, "'%s' has more than %d phases", name,
                        PHASES_MAX);
            return false;
        }
        vec_push(r->cx->arena, &to->runs, run);
        more = *at++ == ',';
    }
    return true;
}

/* ---- elements ---- */

static void begin_root(struct reader *r, attribute_list attributes)
{
    struct sdf3_text type;
    r->root = tag_place(r);
    if (!read_required(r, attributes, "type", &type)) return;
    if (strcmp(type.text, "sdf") == 0 || strcmp(type.text, "csdf") == 0) return;
    struct diag *d =
        diag_report(r->cx->diags, RULE_SDF3, type.span,
                    "a graph of the type '%s' is not read, only 'sdf' and 'csdf'", type.text);
    diag_note(d, "its rates or times may change as it runs; pipec's phases follow a fixed order");
}

static void begin_application(struct reader *r, attribute_list attributes)
{
    const char *name = attribute_value(attributes, "name");
    if (name != NULL && *name != '\0')
        r->graph->name = arena_string(r->cx->arena, name, strlen(name));
}

static void begin_graph(struct reader *r)
{
    if (++r->graphs > 1)
        diag_report(r->cx->diags, RULE_SDF3, tag_place(r), "the file has a second graph");
}

static void begin_actor(struct reader *r, attribute_list attributes)
{
    struct sdf3_actor actor = {0};
    if (!read_required(r, attributes, "name", &actor.name)) actor.name.text = "";
    vec_push(r->cx->arena, &r->graph->actors, actor);
}

static void begin_port(struct reader *r, attribute_list attributes)
{
    struct sdf3_actor *actor = &r->graph->actors.items[r->graph->actors.count - 1];
    struct sdf3_port port = {.channel = SDF3_NONE};
    struct sdf3_text type;
    if (!read_required(r, attributes, "name", &port.name) ||
        !read_required(r, attributes, "type", &type) ||
        !read_rate_list(r, attributes, "rate", &port.rates))
        return;
    port.is_out = strcmp(type.text, "out") == 0;
    if (!port.is_out && strcmp(type.text, "in") != 0)
        diag_report(r->cx->diags, RULE_SDF3, type.span, "a port is 'in' or 'out', not '%s'",
                    type.text);
    vec_push(r->cx->arena, &actor->ports, port);
}

static void begin_channel(struct reader *r, attribute_list attributes)
{
    struct sdf3_channel channel = {0};
    const char *tokens = attribute_value(attributes, "initialTokens");
    if (!read_required(r, attributes, "name", &channel.name) ||
        !read_required(r, attributes, "srcActor", &channel.from.actor_name) ||
        !read_required(r, attributes, "srcPort", &channel.from.port_name) ||
        !read_required(r, attributes, "dstActor", &channel.to.actor_name) ||
        !read_required(r, attributes, "dstPort", &channel.to.port_name))
        return;
    channel.tokens_span = attribute_place(r, "initialTokens");
    if (tokens != NULL && (!take_number(&tokens, &channel.tokens) || *tokens != '\0'))
        diag_report(r->cx->diags, RULE_SDF3, channel.tokens_span,
                    "'initialTokens' is no number of 64 bits");
    vec_push(r->cx->arena, &r->graph->channels, channel);
}

static void begin_time(struct reader *r, attribute_list attributes)
{
    struct sdf3_time time = {.actor_name = r->properties_of, .is_default = r->is_default};
    if (!read_rate_list(r, attributes, "time", &time.cycles)) return;
    vec_push(r->cx->arena, &r->graph->times, time);
}

static void begin_processor(struct reader *r, attribute_list attributes)
{
    const char *value = attribute_value(attributes, "default");
    r->is_default = value != NULL && strcmp(value, "true") == 0;
}

static void ignore_element(struct reader *r, const char *name)
{
    if (r->ignored.count > IGNORED_NAMES) return;
    for (size_t i = 0; i < r->ignored.count; i++)
        if (strcmp(r->ignored.items[i], name) == 0) return;
    vec_push(r->cx->arena, &r->ignored, arena_string(r->cx->arena, name, strlen(name)));
}

static enum element element_named(enum element parent, const char *name)
{
    // NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): a row reads parent, name, element
    static const struct {
        enum element parent;
        const char *name;
        enum element element;
    } elements[] = {
        {ELEMENT_DOCUMENT, "sdf3", ELEMENT_SDF3},
        {ELEMENT_SDF3, "applicationGraph", ELEMENT_APPLICATION},
        {ELEMENT_APPLICATION, "sdf", ELEMENT_GRAPH},
        {ELEMENT_APPLICATION, "csdf", ELEMENT_GRAPH},
        {ELEMENT_GRAPH, "actor", ELEMENT_ACTOR},
        {ELEMENT_GRAPH, "channel", ELEMENT_CHANNEL},
        {ELEMENT_ACTOR, "port", ELEMENT_PORT},
        {ELEMENT_APPLICATION, "sdfProperties", ELEMENT_PROPERTIES},
        {ELEMENT_APPLICATION, "csdfProperties", ELEMENT_PROPERTIES},
        {ELEMENT_PROPERTIES, "actorProperties", ELEMENT_ACTOR_PROPERTIES},
        {ELEMENT_ACTOR_PROPERTIES, "processor", ELEMENT_PROCESSOR},
        {ELEMENT_PROCESSOR, "executionTime", ELEMENT_TIME},
    };
    if (parent == ELEMENT_NOTHING || parent == ELEMENT_IGNORED) return ELEMENT_IGNORED;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (elements[i].parent == parent && strcmp(elements[i].name, name) == 0)
            return elements[i].element;
    return ELEMENT_NOTHING;
}

static void begin_known(struct reader *r, enum element element, const char *name,
                        attribute_list attributes)
{
    switch (element) {
    case ELEMENT_SDF3: begin_root(r, attributes); break;
    case ELEMENT_APPLICATION: begin_application(r, attributes); break;
    case ELEMENT_GRAPH: begin_graph(r); break;
    case ELEMENT_ACTOR: begin_actor(r, attributes); break;
    case ELEMENT_PORT: begin_port(r, attributes); break;
    case ELEMENT_CHANNEL: begin_channel(r, attributes); break;
    case ELEMENT_ACTOR_PROPERTIES: read_required(r, attributes, "actor", &r->properties_of); break;
    case ELEMENT_PROCESSOR: begin_processor(r, attributes); break;
    case ELEMENT_TIME: begin_time(r, attributes); break;
    case ELEMENT_NOTHING: ignore_element(r, name); break;
    case ELEMENT_DOCUMENT:
    case ELEMENT_PROPERTIES:
    case ELEMENT_IGNORED: break;
    }
}

/* ---- events of expat ---- */

static void stop_reader(struct reader *r)
{
    r->stopped = true;
    XML_StopParser(r->parser, XML_FALSE);
}

static void XMLCALL on_element_start(void *data, const XML_Char *name, const XML_Char **attributes)
{
    struct reader *r = data;
    if (r->stopped) return;
    enum element element = element_named(r->open[r->depth], name);
    if (r->depth == 0 && element != ELEMENT_SDF3) {
        diag_report(r->cx->diags, RULE_SDF3, tag_place(r),
                    "this is XML, but no graph of SDF3: its root is '%s', not 'sdf3'", name);
        stop_reader(r);
    } else if (r->depth + 1 == ELEMENT_DEPTH_MAX) {
        diag_report(r->cx->diags, RULE_SDF3, tag_place(r), "elements are nested more than %d deep",
                    ELEMENT_DEPTH_MAX - 1);
        stop_reader(r);
    } else {
        r->open[++r->depth] = element;
        begin_known(r, element, name, (attribute_list)attributes);
    }
}

static void XMLCALL on_element_end(void *data, const XML_Char *name)
{
    struct reader *r = data;
    (void)name;
    r->depth--;
}

static void XMLCALL on_document_type(void *data, const XML_Char *name, const XML_Char *system,
                                     const XML_Char *public, int has_internal)
{
    struct reader *r = data;
    (void)name, (void)system, (void)public, (void)has_internal;
    struct span span = tag_place(r); /* its `[` or `>` */
    while (span.begin > 0 && r->source->bytes[span.begin] != '<')
        span.begin--;
    struct diag *d = diag_report(r->cx->diags, RULE_SDF3, span,
                                 "a declaration of the document's type is not read");
    diag_note(d, "it could define entities, or name other files");
    stop_reader(r);
}

/* ---- the file ---- */

static void report_xml(struct reader *r)
{
    enum XML_Error error = XML_GetErrorCode(r->parser);
    if (error == XML_ERROR_NO_MEMORY) arena_out_of_memory();
    if (r->stopped) return; /* reported */
    struct span span = tag_place(r);
    span.end = span.begin;
    diag_report(r->cx->diags, RULE_SDF3, span, "this is not well-formed XML: %s",
                XML_ErrorString(error));
}

static void report_ignored(struct reader *r)
{
    const char *names = "";
    for (size_t i = 0; i < r->ignored.count && i < IGNORED_NAMES; i++)
        names =
            arena_printf(r->cx->arena, "%s%s'%s'", names, i > 0 ? ", " : "", r->ignored.items[i]);
    if (r->ignored.count > 0)
        diag_report(r->cx->diags, RULE_SDF3_DIFFERENCE, r->root, "elements that are not used: %s%s",
                    names, r->ignored.count > IGNORED_NAMES ? " and others" : "");
}

bool sdf3_read(struct compile *cx, uint32_t id, struct sdf3_graph *graph)
{
    struct reader r = {.cx = cx,
                       .source = source_get(cx->sources, id),
                       .id = id,
                       .parser = XML_ParserCreate(NULL),
                       .graph = graph};
    size_t errors = diag_error_count(cx->diags);
    if (r.parser == NULL) arena_out_of_memory();
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_element_start, on_element_end);
    XML_SetStartDoctypeDeclHandler(r.parser, on_document_type);
    if (XML_Parse(r.parser, r.source->bytes, (int)r.source->size_bytes, XML_TRUE) != XML_STATUS_OK)
        report_xml(&r);
    XML_ParserFree(r.parser);
    if (diag_error_count(cx->diags) > errors) return false;
    report_ignored(&r);
    if (graph->actors.count > 0) return true;
    diag_report(cx->diags, RULE_SDF3, r.root, "the graph has no actors");
    return false;
}
