/* SPDX-License-Identifier: MIT */
/* The words PORT=PATH[,FORMAT...] of the command line. */
#include "lang/devdesc.h"
#include "tools/piperun/message.h"
#include "tools/piperun/run_ports.h"
#include "tools/piperun/run_watch.h"
#include "tools/piperun/run_arguments.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t find_session_port(const struct prt_session *session, const char *name,
                                  size_t length)
{
    for (uint32_t i = 0; i < session->port_count; i++) {
        const char *candidate = session->bindings[i].port.name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0) return i;
    }
    return PRT_NONE;
}

/* Does a word PORT=... of the command line bind it? */
static bool is_spoken_for(const struct prt_session *session, const char *port)
{
    size_t length = strlen(port);
    for (size_t i = 0; i < session->command->binding_count; i++) {
        const char *word = session->command->bindings[i];
        if (strncmp(word, port, length) == 0 && word[length] == '=') return true;
    }
    return false;
}

/* The message suggests a port that is still to be bound. */
static int unknown_port(const struct prt_session *session, const char *name, bool to_bind)
{
    struct prt_program_information program;
    struct nearest nearest = {.wanted = name};
    prt_program_information(session->program, &program);
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct prt_port_information *port = &session->bindings[i].port;
        if (to_bind ? !is_spoken_for(session, port->name) : port->direction == PRT_PORT_OUT)
            nearest_consider(&nearest, port->name);
    }
    struct prt_argument_information argument;
    uint32_t arguments = 0;
    for (; to_bind && prt_program_argument(session->program, arguments, &argument); arguments++)
        nearest_consider(&nearest, argument.name);
    /* A port array has a name for each element. */
    char first[64];
    int length = snprintf(first, sizeof first, "%s[0]", name);
    if (length > 0 && (size_t)length < sizeof first &&
        find_session_port(session, first, (size_t)length) != PRT_NONE)
        return PRT_COMPLAIN(EXIT_USAGE,
                            "port '%s' of pipeline '%s' is an array: each element is bound by "
                            "itself, '%s=...' and so on",
                            name, program.name, first);
    const char *what = arguments > 0 ? "port or argument" : "port";
    if (nearest.name == NULL)
        return PRT_COMPLAIN(EXIT_USAGE, "pipeline '%s' has no %s '%s'", program.name, what, name);
    return PRT_COMPLAIN(EXIT_USAGE, "pipeline '%s' has no %s '%s'; did you mean '%s'?",
                        program.name, what, name, nearest.name);
}

/* Adds the seed of --seed to a `gen:noise` without one.  NULL: out of memory. */
static char *with_seed(const struct prt_command *command, const char *text)
{
    const char *noise = strstr(text, "=gen:noise");
    size_t head = noise != NULL ? (size_t)(noise - text) + strlen("=gen:noise") : 0;
    if (!command->has_seed || noise == NULL || noise != strchr(text, '=') ||
        (text[head] != '\0' && text[head] != ','))
        return strdup(text);
    char *seeded;
    if (asprintf(&seeded, "%.*s:%" PRIu64 "%s", (int)head, text, command->seed, text + head) < 0)
        return NULL;
    return seeded;
}

static int read_binding(struct prt_session *session, const char *text)
{
    struct prt_error error;
    struct prt_port_spec spec;
    size_t name_bytes = strcspn(text, "=");
    uint32_t port = find_session_port(session, text, name_bytes);
    if (port == PRT_NONE) {
        char *name = strndup(text, name_bytes);
        int exit_code = name != NULL ? unknown_port(session, name, true) : prt_complain_memory();
        free(name);
        return exit_code;
    }
    char *seeded = with_seed(session->command, text);
    if (seeded == NULL) return prt_complain_memory();
    enum prt_status status = prt_port_spec_parse(seeded, &spec, &error);
    free(seeded);
    if (status != PRT_OK) return prt_complain_status(&error);
    struct prt_binding *binding = &session->bindings[port];
    if (binding->bound) {
        int exit_code = PRT_COMPLAIN(EXIT_USAGE, "port '%s' is bound twice", spec.port);
        prt_port_spec_free(&spec);
        return exit_code;
    }
    binding->spec = spec;
    binding->bound = true;
    return EXIT_DONE;
}

/* The name that a file has, or will have, in the whole file system; NULL: it is unknown. */
static char *whole_path(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole != NULL || errno != ENOENT) return whole;
    const char *slash = strrchr(path, '/');
    char *folder = slash != NULL ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    char *real = folder != NULL ? realpath(folder, NULL) : NULL;
    if (real != NULL && asprintf(&whole, "%s/%s", real, slash != NULL ? slash + 1 : path) < 0)
        whole = NULL;
    free(folder);
    free(real);
    return whole;
}

/* Whether two names are, or will be, those of one file. */
static bool is_same_file(const char *a, const char *b)
{
    char *whole_a = whole_path(a), *whole_b = whole_path(b);
    bool same =
        strcmp(a, b) == 0 || (whole_a != NULL && whole_b != NULL && strcmp(whole_a, whole_b) == 0);
    free(whole_a);
    free(whole_b);
    return same;
}

static bool find_file(const char *path, int standard, struct stat *about)
{
    return (strcmp(path, "-") == 0 ? fstat(standard, about) : stat(path, about)) == 0;
}

bool prt_ports_share(const char *a, const char *b, enum prt_port_direction direction)
{
    bool in = direction == PRT_PORT_IN, standard_a = strcmp(a, "-") == 0,
         standard_b = strcmp(b, "-") == 0;
    int standard = in ? STDIN_FILENO : STDOUT_FILENO;
    struct stat file_a, file_b;
    if (standard_a && standard_b) return true;
    if (!find_file(a, standard, &file_a) || !find_file(b, standard, &file_b))
        return !in && !standard_a && !standard_b && is_same_file(a, b);
    if (file_a.st_dev != file_b.st_dev || file_a.st_ino != file_b.st_ino) return false;
    if (S_ISFIFO(file_a.st_mode) || S_ISSOCK(file_a.st_mode)) return true;
    if (S_ISCHR(file_a.st_mode)) return (standard_a || standard_b) && isatty(standard);
    return !in;
}

const char *prt_session_reads(const struct prt_session *session, const char *path)
{
    const struct prt_command *command = session->command;
    const char *device = command->device, *script = command->debug_script;
    if (device != NULL && strncmp(device, "sim:", 4) == 0)
        device += 4;
    else if (device != NULL && !devdesc_is_file_name(device))
        device = NULL;
    if (prt_ports_share(path, command->file, PRT_PORT_OUT)) return "the program that is run";
    if (device != NULL && prt_ports_share(path, device, PRT_PORT_OUT))
        return "the description of the device";
    if (script != NULL && strcmp(script, "-") != 0 && prt_ports_share(path, script, PRT_PORT_OUT))
        return "the script of the debugger";
    for (uint32_t i = 0; i < session->port_count; i++) {
        const char *arrivals = session->bindings[i].spec.arrive_path;
        if (arrivals != NULL && strcmp(arrivals, "-") != 0 &&
            prt_ports_share(path, arrivals, PRT_PORT_OUT))
            return "the file of arrivals";
    }
    return NULL;
}

static bool is_conflict(const struct prt_binding *a, const struct prt_binding *b)
{
    if (!a->bound || !b->bound || a->port.direction != b->port.direction) return false;
    if (a->spec.path == NULL || b->spec.path == NULL) return false;
    if (a->spec.format == PRT_FORMAT_NULL || b->spec.format == PRT_FORMAT_NULL) return false;
    return prt_ports_share(a->spec.path, b->spec.path, a->port.direction);
}

static int refuse_conflict(const struct prt_binding *a, const struct prt_binding *b)
{
    if (strcmp(a->spec.path, b->spec.path) == 0)
        return PRT_COMPLAIN(EXIT_USAGE, "ports '%s' and '%s' are both bound to '%s'", a->port.name,
                            b->port.name, a->spec.path);
    return PRT_COMPLAIN(EXIT_USAGE,
                        "ports '%s' and '%s' are bound to one file: '%s' is '%s' by another name",
                        a->port.name, b->port.name, a->spec.path, b->spec.path);
}

static int check_conflicts(const struct prt_session *session)
{
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct prt_binding *b = &session->bindings[i];
        for (uint32_t k = 0; k < i; k++)
            if (is_conflict(&session->bindings[k], b))
                return refuse_conflict(&session->bindings[k], b);
        if (!b->bound || b->port.direction != PRT_PORT_OUT || b->spec.path == NULL) continue;
        const char *read = prt_session_reads(session, b->spec.path);
        if (read != NULL)
            return PRT_COMPLAIN(EXIT_USAGE, "port '%s': '%s' is %s", b->port.name, b->spec.path,
                                read);
    }
    return EXIT_DONE;
}

/* A replay needs data of any value. */
static int bind_rest(struct prt_session *session)
{
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct prt_binding *b = &session->bindings[i];
        char *text;
        if (b->bound || b->hash != NULL) continue;
        if (asprintf(&text, "%s=%s", b->port.name,
                     b->port.direction == PRT_PORT_IN ? "gen:zeros" : "null") < 0)
            return prt_complain_memory();
        int exit_code = read_binding(session, text);
        free(text);
        if (exit_code != EXIT_DONE) return exit_code;
    }
    return EXIT_DONE;
}

static void complain_unbound(const struct prt_binding *b)
{
    bool record = prt_packet_is_record(&b->packet);
    const char *colon = record ? "" : ":", *type = record ? "" : scalar_name(b->port.scalar);
    if (b->port.direction == PRT_PORT_IN)
        prt_say_error("in-port '%s' (%s) is not bound; for example: %s=FILE,raw%s%s or "
                      "%s=gen:%s:1000",
                      b->port.name, b->port.type, b->port.name, colon, type, b->port.name,
                      record ? "zeros" : "ramp");
    else
        prt_say_error("out-port '%s' (%s) is not bound; for example: %s=FILE,raw%s%s or %s=null",
                      b->port.name, b->port.type, b->port.name, colon, type, b->port.name);
}

/* Reports the unbound ports: if they are many, the first of them and the number of the others. */
static int check_bound(const struct prt_session *session)
{
    enum { SHOWN = 8 };
    uint32_t missing = 0;
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct prt_binding *b = &session->bindings[i];
        bool dropped = b->hash != NULL || b->tap != NULL; /* after --hash or --watch */
        if (b->bound || (dropped && b->port.direction == PRT_PORT_OUT)) continue;
        if (missing++ < SHOWN) complain_unbound(b);
    }
    if (missing > SHOWN) prt_say_error("%" PRIu32 " more ports are not bound", missing - SHOWN);
    return missing == 0 ? EXIT_DONE : EXIT_USAGE;
}

static int prepare_hash(struct prt_session *session, const char *name)
{
    uint32_t port = find_session_port(session, name, strlen(name));
    if (port == PRT_NONE) return unknown_port(session, name, false);
    if (session->bindings[port].port.direction != PRT_PORT_OUT)
        return PRT_COMPLAIN(EXIT_USAGE, "--hash: '%s' is an in-port", name);
    if (session->bindings[port].hash != NULL) return EXIT_DONE;
    XXH64_state_t *state = XXH64_createState();
    if (state == NULL) return prt_complain_memory();
    (void)XXH64_reset(state, 0);
    session->bindings[port].hash = state;
    return EXIT_DONE;
}

/* False: out of memory. */
static bool describe_packet(struct prt_session *session, uint32_t port)
{
    struct prt_binding *b = &session->bindings[port];
    b->fields = calloc((size_t)b->port.field_count + 1, sizeof *b->fields);
    if (b->fields == NULL) return false;
    for (uint32_t i = 0; i < b->port.field_count; i++)
        (void)prt_program_port_field(session->program, port, i, &b->fields[i]);
    b->packet = (struct prt_packet){.type = b->port.type,
                                    .scalar = b->port.scalar,
                                    .width_bytes = b->port.width_bytes,
                                    .fields = b->fields,
                                    .field_count = b->port.field_count};
    b->scalars = prt_packet_units(&b->packet);
    return true;
}

int prt_bindings_read(struct prt_session *session)
{
    session->port_count = prt_program_port_count(session->program);
    session->bindings = calloc((size_t)session->port_count + 1, sizeof *session->bindings);
    if (session->bindings == NULL) return prt_complain_memory();
    for (uint32_t i = 0; i < session->port_count; i++) {
        struct prt_binding *binding = &session->bindings[i];
        (void)prt_program_port(session->program, i, &binding->port);
        if (!describe_packet(session, i)) return prt_complain_memory();
    }
    int exit_code = EXIT_DONE;
    for (size_t i = 0; i < session->command->binding_count && exit_code == EXIT_DONE; i++) {
        const char *word = session->command->bindings[i];
        bool is_argument = prt_session_argument(session, word, strcspn(word, "=")) != PRT_NONE;
        if (!is_argument) exit_code = read_binding(session, word);
    }
    for (size_t i = 0; i < session->command->hash_count && exit_code == EXIT_DONE; i++)
        exit_code = prepare_hash(session, session->command->hash_ports[i]);
    if (exit_code == EXIT_DONE) exit_code = prt_watch_check(session);
    if (exit_code == EXIT_DONE && session->command->replay) exit_code = bind_rest(session);
    if (exit_code == EXIT_DONE) exit_code = check_bound(session);
    return exit_code == EXIT_DONE ? check_conflicts(session) : exit_code;
}
