/* SPDX-License-Identifier: MIT */
#include "tools/piperun/run_arguments.h"

#include "base/plural.h"
#include "lang/input_property.h"
#include "tools/piperun/message.h"
#include "tools/piperun/program_load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t prt_session_argument(const struct prt_session *session, const char *name, size_t length)
{
    struct prt_argument_information argument;
    for (uint32_t i = 0; prt_program_argument(session->program, i, &argument); i++)
        if (strlen(argument.name) == length && memcmp(argument.name, name, length) == 0) return i;
    return PRT_NONE;
}

/* ---- files ---- */

/* The packets of a file: what the argument's outermost length counts. */
struct argument_item {
    struct prt_field_information field;
    struct prt_packet packet;
    uint64_t items; /* of the argument */
};

static void describe_item(const struct prt_argument_information *a, struct argument_item *item)
{
    const char *inner = strchr(a->shape, ',');
    bool is_vector = a->lanes > 1 && inner == NULL;
    item->items = is_vector || a->count == 1 ? 1 : strtoull(a->shape, NULL, 10);
    uint64_t scalars = a->count / item->items;
    item->field = (struct prt_field_information){.name = "",
                                                 .scalar = a->scalar,
                                                 .count = scalars,
                                                 .shape = is_vector       ? a->shape
                                                          : inner == NULL ? ""
                                                                          : inner + 2,
                                                 .lanes = a->lanes};
    item->packet = (struct prt_packet){.type = a->type,
                                       .width_bytes = scalars * scalar_width_bytes(a->scalar),
                                       .fields = &item->field,
                                       .scalar = a->scalar,
                                       .field_count = 1};
}

/* Has the npy array the lengths of the argument?  Other formats have none. */
static enum prt_status check_file_shape(const struct prt_source *source,
                                        const struct prt_argument_information *a, const char *path,
                                        struct prt_error *error)
{
    struct prt_source_information about;
    char shape[200] = "";
    size_t used = 0;
    prt_source_information(source, &about);
    if (about.dimensions == NULL) return PRT_OK;
    bool fits = about.packets == a->count;
    for (uint32_t i = 0; i < about.dimension_count && used < sizeof shape; i++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%" PRIu64, i > 0 ? ", " : "",
                                 about.dimensions[i]);
    if (strcmp(shape, a->shape) == 0) return PRT_OK;
    return prt_error_set(error, PRT_E_FORMAT,
                         "%s: the array has the shape (%s), and that of %s is (%s)%s%s%s", path,
                         shape, a->type, a->shape, fits ? ": save array.reshape(" : "",
                         fits ? a->shape : "", fits ? ")" : "");
}

/* Reads exactly the values of the argument. */
static enum prt_status read_argument_values(struct prt_source *source,
                                            const struct prt_argument_information *a,
                                            const char *path, uint8_t *values,
                                            struct prt_error *error)
{
    size_t width = scalar_width_bytes(a->scalar), count = (size_t)a->count, got = 0, part = 1;
    uint8_t more[8];
    enum prt_status status = PRT_OK;
    while (status == PRT_OK && part > 0 && got < count) {
        status = prt_source_read(source, values + got * width, count - got, &part, error);
        got += status == PRT_OK ? part : 0;
    }
    if (status != PRT_OK) return status;
    if (got < count)
        return prt_error_set(error, PRT_E_FORMAT, "%s: %zu value%s, and %s takes %zu", path, got,
                             plural(got), a->type, count);
    status = prt_source_read(source, more, 1, &part, error);
    if (status == PRT_OK && part > 0)
        return prt_error_set(error, PRT_E_FORMAT, "%s: more than the %zu value%s that %s takes",
                             path, count, plural(count), a->type);
    return status;
}

/* Would the file be read by a port as well, and each get only a part? Would a report replace it? */
static enum prt_status check_shared_file(const struct prt_session *session,
                                         const struct prt_port_spec *spec, struct prt_error *error)
{
    if (spec->arrive_packets > 0 || spec->arrive_path != NULL || spec->full)
        return prt_error_set(error, PRT_E_USAGE, "%s is for in-ports",
                             spec->full ? "full" : "arrive=");
    for (uint32_t i = 0; spec->path != NULL && i < session->port_count; i++) {
        const struct prt_binding *b = &session->bindings[i];
        bool in = b->bound && b->port.direction == PRT_PORT_IN && b->spec.path != NULL;
        if (in && prt_ports_share(spec->path, b->spec.path, PRT_PORT_IN))
            return prt_error_set(error, PRT_E_USAGE, "'%s' is what port '%s' reads", spec->path,
                                 b->port.name);
    }
    const char *reports[] = {session->command->stats_json, session->command->trace};
    bool named = spec->path != NULL && strcmp(spec->path, "-") != 0;
    for (int i = 0; named && i < 2; i++)
        if (reports[i] != NULL && prt_ports_share(reports[i], spec->path, PRT_PORT_OUT))
            return prt_error_set(error, PRT_E_USAGE, "'%s' is taken by '%s'", spec->path,
                                 i == 0 ? "--stats" : "--trace");
    return PRT_OK;
}

static enum prt_status read_argument_file(const struct prt_session *session,
                                          const struct prt_argument_information *a,
                                          const struct prt_port_spec *spec, uint8_t *values,
                                          struct prt_error *error)
{
    struct argument_item item;
    struct prt_source *source = NULL;
    const char *path = spec->path != NULL ? spec->path : prt_format_name(spec->format);
    describe_item(a, &item);
    enum prt_status status = check_shared_file(session, spec, error);
    if (status == PRT_OK)
        status = prt_source_open_packets(spec, &item.packet, &session->environment, &source, error);
    if (status == PRT_OK) status = check_file_shape(source, a, path, error);
    if (status == PRT_OK) status = read_argument_values(source, a, path, values, error);
    prt_source_close(source);
    return status;
}

/* `name`=@FILE[,FORMAT...] */
static enum prt_status give_file(struct prt_session *session,
                                 const struct prt_argument_information *a, const char *file,
                                 struct prt_error *error)
{
    struct prt_port_spec spec;
    char *text;
    if (asprintf(&text, "%s=%s", a->name, file) < 0)
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    enum prt_status status = prt_port_spec_parse(text, &spec, error);
    free(text);
    if (status != PRT_OK) return status;
    uint8_t *values = calloc((size_t)a->count, scalar_width_bytes(a->scalar));
    status = values != NULL ? read_argument_file(session, a, &spec, values, error)
                            : prt_error_set(error, PRT_E_NOMEM, "out of memory");
    if (status == PRT_OK)
        status = prt_run_set_argument_values(session->run, a->name, a->scalar, values,
                                             (size_t)a->count, error);
    if (status == PRT_OK && spec.path != NULL)
        prt_say_done("argument '%s' (%s) is read from '%s' as %s", a->name, a->type, spec.path,
                     prt_format_name(spec.format));
    free(values);
    prt_port_spec_free(&spec);
    return status;
}

/* ---- values of the command line ---- */

static int unknown_argument(const struct prt_session *session, const char *name)
{
    enum { SHOWN_MAX = 8, NAMES_BYTES = 400 };
    char names[NAMES_BYTES] = "";
    size_t length = 0;
    uint32_t count = 0;
    struct prt_argument_information argument;
    struct nearest nearest = {.wanted = name};
    for (; prt_program_argument(session->program, count, &argument); count++) {
        nearest_consider(&nearest, argument.name);
        if (count < SHOWN_MAX && length < sizeof names)
            length += (size_t)snprintf(names + length, sizeof names - length, "%s'%s'",
                                       count > 0 ? ", " : "", argument.name);
    }
    if (nearest.name == NULL)
        return PRT_COMPLAIN(EXIT_USAGE, "-D %s: the pipeline has no arguments", name);
    if (!nearest.near)
        return PRT_COMPLAIN(EXIT_USAGE, "-D %s: the pipeline has no such argument; it has %s%s",
                            name, names, count > SHOWN_MAX ? " and others" : "");
    return PRT_COMPLAIN(EXIT_USAGE, "-D %s: the pipeline has no such argument; did you mean '%s'?",
                        name, nearest.name);
}

/* `option`: "-D " or "". */
static int give_value(struct prt_session *session, const char *option, uint32_t number,
                      const char *value)
{
    struct prt_argument_information a;
    struct prt_error error;
    (void)prt_program_argument(session->program, number, &a);
    if (session->given[number])
        return PRT_COMPLAIN(EXIT_USAGE, "%s%s=%s: argument '%s' is given twice", option, a.name,
                            value, a.name);
    session->given[number] = true;
    enum prt_status status = value[0] == '@'
                                 ? give_file(session, &a, value + 1, &error)
                                 : prt_run_set_argument(session->run, a.name, value, &error);
    if (status == PRT_OK) return EXIT_DONE;
    if (value[0] == '@')
        return PRT_COMPLAIN(prt_status_exit_code(status), "argument '%s': %s", a.name,
                            error.message);
    enum { SHOWN_BYTES = 80 };
    int shown = (int)strnlen(value, SHOWN_BYTES);
    return PRT_COMPLAIN(EXIT_USAGE, "%s%s=%.*s%s: %s", option, a.name, shown, value,
                        value[shown] != '\0' ? "..." : "", error.message);
}

static int give_definitions(struct prt_session *session)
{
    int exit_code = EXIT_DONE;
    for (size_t i = 0; exit_code == EXIT_DONE && i < session->command->definition_count; i++) {
        const struct prt_definition *d = &session->command->definitions[i];
        uint32_t number = prt_session_argument(session, d->name, strlen(d->name));
        bool was_for_pipec = prt_is_source(session->command->file) && d->value[0] != '@';
        if (number != PRT_NONE)
            exit_code = give_value(session, "-D ", number, d->value);
        else if (!was_for_pipec)
            exit_code = unknown_argument(session, d->name);
    }
    return exit_code;
}

static int give_words(struct prt_session *session)
{
    int exit_code = EXIT_DONE;
    for (size_t i = 0; exit_code == EXIT_DONE && i < session->command->binding_count; i++) {
        const char *word = session->command->bindings[i], *equals = strchr(word, '=');
        uint32_t number = prt_session_argument(session, word, (size_t)(equals - word));
        if (number != PRT_NONE) exit_code = give_value(session, "", number, equals + 1);
    }
    return exit_code;
}

int prt_arguments_give(struct prt_session *session)
{
    struct prt_argument_information a;
    session->given =
        calloc((size_t)prt_program_argument_count(session->program) + 1, sizeof *session->given);
    if (session->given == NULL) return prt_complain_memory();
    int exit_code = give_definitions(session);
    if (exit_code == EXIT_DONE) exit_code = give_words(session);
    for (uint32_t i = 0; exit_code == EXIT_DONE && prt_program_argument(session->program, i, &a);
         i++) {
        if (a.has_default || session->given[i] || a.property != PRT_PROPERTY_NONE) continue;
        if (a.count > 1)
            return PRT_COMPLAIN(
                EXIT_USAGE,
                "argument '%s' (%s) has no value: give one, %s=V,V,... with %" PRIu64
                " values, or %s=@FILE",
                a.name, a.type, a.name, a.count, a.name);
        return PRT_COMPLAIN(EXIT_USAGE, "argument '%s' (%s) has no value: give one, -D %s=VALUE",
                            a.name, a.type, a.name);
    }
    return exit_code;
}

/* ---- what inputs know ---- */

/* A npy array as a picture: (height, width), (height, width, channels), or (width): one row.  The last dimensions are those
 * of a packet, if it has any: the channels are then its own. */
static struct prt_input_properties array_properties(const struct prt_source_information *array,
                                                    const struct prt_packet *packet)
{
    struct prt_input_properties unknown = {0};
    const uint64_t *d = array->dimensions;
    uint32_t count = array->dimension_count, channels = prt_packet_channels(packet);
    bool has_shape = packet->field_count == 1 && packet->fields[0].shape[0] != '\0';
    uint32_t inner = has_shape && !array->structured ? 1 : 0;
    for (const char *c = packet->fields[0].shape; inner > 0 && *c != '\0'; c++)
        inner += *c == ',';
    if (inner >= count || count - inner > 3) return unknown;
    count -= inner;
    for (uint32_t i = 0; i < count; i++)
        if (d[i] > INT32_MAX) return unknown;
    return (struct prt_input_properties){.height = count == 1 ? 1 : (uint32_t)d[0],
                                         .width = (uint32_t)d[count == 1 ? 0 : 1],
                                         .channels = count == 3 && channels == 1 ? (uint32_t)d[2]
                                                                                 : channels};
}

static struct prt_input_properties input_properties(const struct prt_binding *b)
{
    struct prt_source_information about;
    prt_source_information(b->source, &about);
    if (about.dimensions != NULL) return array_properties(&about, &b->packet);
    return (struct prt_input_properties){.rate_hertz =
                                             about.rate_divisor == 1 ? about.rate_hertz : 0,
                                         .width = about.width_packets,
                                         .height = about.height_packets,
                                         .channels = about.channels};
}

enum prt_status prt_arguments_take(struct prt_session *session, struct prt_error *error)
{
    struct prt_argument_information a;
    for (uint32_t i = 0; prt_program_argument(session->program, i, &a); i++) {
        if (a.property == PRT_PROPERTY_NONE || session->given[i]) continue;
        const struct prt_binding *b = &session->bindings[a.port];
        const struct prt_input_properties known = input_properties(b);
        const char *name = input_property_name(a.property);
        uint32_t value = prt_input_property(&known, a.property);
        if (value == 0 && !a.has_default)
            return prt_error_set(error, PRT_E_USAGE,
                                 "argument '%s' (%s) has no value: '%s', which is bound to '%s', "
                                 "knows no %s; give it, %s=VALUE",
                                 a.name, a.type,
                                 b->spec.path != NULL ? b->spec.path
                                                      : prt_format_name(b->spec.format),
                                 b->port.name, name, a.name);
        enum prt_status status = prt_run_tell_input(session->run, a.port, &known, error);
        if (status != PRT_OK) return status;
        if (value != 0)
            prt_say_done("argument '%s' is %" PRIu32 ", the %s of '%s'", a.name, value, name,
                         b->spec.path != NULL ? b->spec.path : b->port.name);
    }
    return PRT_OK;
}
