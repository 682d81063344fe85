/*
 * piperun: runs a compiled pipeline from the command line.
 *
 *     read the command line -> load the program -> bind the ports -> execute -> publish -> report
 *
 * The only part of the runtime with state outside objects: what a signal handler needs.
 */
#include "lang/sched_code.h"
#include "runtime/io/stream.h"
#include "runtime/load/reader.h"
#include "runtime/load/rewrite.h"
#include "runtime/load/verify.h"
#include "runtime/pipert.h"
#include "runtime/report.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#ifndef PIPEC_VERSION
#define PIPEC_VERSION "0"
#endif

enum exit_code {
    EXIT_DONE = 0,
    EXIT_REFUSED = 1,
    EXIT_USAGE = 2,
    EXIT_INTERNAL = 3,
    EXIT_FAULT = 4,
    EXIT_TIMEOUT = 5,
    EXIT_DEVICE = 6,
    EXIT_SKIPPED = 77,
    EXIT_SIGINT = 130,
    EXIT_SIGTERM = 143,
};

static const char usage_text[] =
    "usage: piperun FILE.pbc|FILE.pipe [PORT=PATH[,FORMAT...]]... [-D NAME=VALUE]... [OPTION]...\n"
    "       piperun disasm FILE.pbc\n"
    "       piperun verify FILE.pbc\n"
    "       piperun asm FILE.sasm --into FILE.pbc -o OUT.pbc\n"
    "\n"
    "Runs a pipeline that pipec has compiled; a source file is compiled first, by the pipec beside "
    "piperun.\n"
    "\n"
    "ports\n"
    "  PORT=PATH[,FORMAT...]   binds a port of the pipeline; every port is bound\n"
    "      PATH      a file; '-' is standard input or output; null; gen:ramp[:COUNT],\n"
    "                gen:noise:SEED[:COUNT], gen:zeros[:COUNT]\n"
    "      FORMAT    raw raw:TYPE npy wav pgm ppm png csv null rate=N width=N channels=N; by file "
    "ending if not\n"
    "                given.  TYPE is f32, i16, u8 and so on, with le or be behind it; s16le is "
    "i16le\n"
    "  -D NAME=VALUE           value of an argument of the pipeline\n"
    "\n"
    "run\n"
    "  --device NAME           the device: one that the file was compiled for, sim:FILE.dev for a "
    "description of\n"
    "                          one's own, or null (executes no kernel: measures the scheduler)\n"
    "  --list-devices          print the devices\n"
    "  --host-threads N        threads that execute kernels; default: one per processor.  Results "
    "and cycles do\n"
    "                          not depend on it\n"
    "  --firings N             end endless generators after N packets\n"
    "  --seed N                seed of gen:noise where none is given\n"
    "  --timeout SECONDS       give up after that time (exit status 5)\n"
    "  --skip-if-unavailable   exit status 77 instead of 6\n"
    "\n"
    "output\n"
    "  --stats[=text|=json:F]  what the run did: text on standard error, or JSON to a file\n"
    "  --hash PORT             print XXH64 of the port's bytes; binds the port to null if it is "
    "not bound\n"
    "  -q                      no notes          -v   say what is done\n"
    "  -h, --help              this              --version\n"
    "\n"
    "exit status\n"
    "  0 done   1 content refused   2 usage, or a file cannot be opened or written   3 internal "
    "error\n"
    "  4 kernel fault   5 stall or timeout   6 device unavailable   77 skipped   130, 143 "
    "interrupted\n";

/* ---- messages ---- */

static bool quiet, verbose;

/* Everything that is printed goes through an error record: control bytes come out escaped. */
static void say(const char *level, const char *text)
{
    fprintf(stderr, "piperun: %s: %s\n", level, text);
}

static void print_error(const char *format, ...) PRT_PRINTF(1, 2);

static void print_error(const char *format, ...)
{
    struct prt_error error;
    va_list arguments;
    va_start(arguments, format);
    prt_error_set_va(&error, PRT_OK, PRT_NO_OFFSET, format, arguments);
    va_end(arguments);
    say("error", error.message);
}

/* Prints an error; its value is the exit code. */
#define complain(exit_code, ...) (print_error(__VA_ARGS__), (exit_code))

static int complain_status(const struct prt_error *error)
{
    say("error", error->message);
    return prt_status_exit_code(error->status);
}

static void note(const char *format, ...) PRT_PRINTF(1, 2);

static void note(const char *format, ...)
{
    if (quiet) return;
    struct prt_error error;
    va_list arguments;
    va_start(arguments, format);
    prt_error_set_va(&error, PRT_OK, PRT_NO_OFFSET, format, arguments);
    va_end(arguments);
    say("note", error.message);
}

static int out_of_memory(void)
{
    return complain(EXIT_USAGE, "out of memory");
}

/* ---- the nearest name ---- */

enum { NAME_BYTES_MAX = 64 };

static size_t edit_distance(const char *a, const char *b)
{
    size_t row[NAME_BYTES_MAX + 1];
    size_t b_length = strlen(b);
    if (strlen(a) > NAME_BYTES_MAX || b_length > NAME_BYTES_MAX) return SIZE_MAX;
    for (size_t k = 0; k <= b_length; k++)
        row[k] = k;
    for (size_t i = 0; a[i] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < b_length; k++) {
            size_t cost = diagonal + (a[i] != b[k]);
            diagonal = row[k + 1];
            if (row[k] + 1 < cost) cost = row[k] + 1;
            if (row[k + 1] + 1 < cost) cost = row[k + 1] + 1;
            row[k + 1] = cost;
        }
    }
    return row[b_length];
}

/* Keeps the nearer of *best and `candidate`. */
static void consider(const char *name, const char *candidate, const char **best, size_t *distance)
{
    size_t d = edit_distance(name, candidate);
    if (d < *distance) {
        *distance = d;
        *best = candidate;
    }
}

/* ---- the command line ---- */

struct definition {
    const char *name, *value; /* value NULL in a port binding that has not been split */
};

struct command {
    const char *file;
    const char *device;
    struct definition *definitions; /* -D */
    size_t definition_count;
    const char **bindings; /* PORT=... */
    size_t binding_count;
    size_t capacity; /* of both: the number of words */
    const char *hash_port;
    const char *stats_json; /* file, or NULL */
    bool stats_text;
    bool has_firings, has_seed;
    uint64_t firings, seed;
    uint32_t host_threads;
    double timeout_seconds;
    bool skip_if_unavailable;
};

static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    if (text[0] < '0' || text[0] > '9') return false;
    unsigned long long value =
        strtoull(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
    if (errno != 0 || *end != '\0' || value < least || value > most) return false;
    *out = value;
    return true;
}

static int take_number(const char *option, const char *text, uint64_t least, uint64_t most,
                       uint64_t *out)
{
    if (parse_number(text, least, most, out)) return EXIT_DONE;
    return complain(EXIT_USAGE, "%s: '%s' is not a number from %" PRIu64 " to %" PRIu64, option,
                    text, least, most);
}

static int take_timeout(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out > 0 && *out <= 1e9) return EXIT_DONE;
    return complain(EXIT_USAGE, "--timeout: '%s' is not a number of seconds", text);
}

static int take_stats(const char *text, struct command *command)
{
    if (text == NULL || strcmp(text, "text") == 0) {
        command->stats_text = true;
        return EXIT_DONE;
    }
    if (strncmp(text, "json:", 5) == 0 && text[5] != '\0') {
        command->stats_json = text + 5;
        return EXIT_DONE;
    }
    return complain(EXIT_USAGE, "--stats: '%s' is neither 'text' nor 'json:FILE'", text);
}

static int take_definition(char *text, struct command *command)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return complain(EXIT_USAGE, "-D %s: expected NAME=VALUE", text);
    *equals = '\0';
    assert(command->definition_count < command->capacity);
    command->definitions[command->definition_count++] = (struct definition){text, equals + 1};
    return EXIT_DONE;
}

enum option_code {
    OPTION_DEVICE = 256,
    OPTION_LIST_DEVICES,
    OPTION_HOST_THREADS,
    OPTION_FIRINGS,
    OPTION_SEED,
    OPTION_STATS,
    OPTION_HASH,
    OPTION_TIMEOUT,
    OPTION_SKIP,
    OPTION_VERSION,
    OPTION_LATER, /* of a later version: refused by name */
};

static const struct option options[] = {
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"list-devices", no_argument, NULL, OPTION_LIST_DEVICES},
    {"host-threads", required_argument, NULL, OPTION_HOST_THREADS},
    {"firings", required_argument, NULL, OPTION_FIRINGS},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"stats", optional_argument, NULL, OPTION_STATS},
    {"hash", required_argument, NULL, OPTION_HASH},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"skip-if-unavailable", no_argument, NULL, OPTION_SKIP},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPTION_VERSION},
    {"dispatch", optional_argument, NULL, OPTION_LATER},
    {"trace", optional_argument, NULL, OPTION_LATER},
    {"trace-limit", optional_argument, NULL, OPTION_LATER},
    {"sandbox", optional_argument, NULL, OPTION_LATER},
    {"progress", optional_argument, NULL, OPTION_LATER},
    {"debug", optional_argument, NULL, OPTION_LATER},
    {"verify", optional_argument, NULL, OPTION_LATER},
    {"ulp", optional_argument, NULL, OPTION_LATER},
    {NULL, 0, NULL, 0},
};

static int list_devices(void)
{
    for (size_t i = 0; prt_device_name(i) != NULL; i++)
        puts(prt_device_name(i));
    puts("null");
    return EXIT_DONE;
}

/* -1: go on.  Else the exit code. */
static int take_option(int option, int index, char **argv, struct command *command)
{
    uint64_t number;
    int status = EXIT_DONE;
    switch (option) {
    case OPTION_DEVICE: command->device = optarg; break;
    case OPTION_LIST_DEVICES: return list_devices();
    case OPTION_HOST_THREADS:
        status = take_number("--host-threads", optarg, 1, 4096, &number);
        if (status == EXIT_DONE) command->host_threads = (uint32_t)number;
        break;
    case OPTION_FIRINGS:
        status = take_number("--firings", optarg, 0, UINT64_MAX, &command->firings);
        command->has_firings = true;
        break;
    case OPTION_SEED:
        status = take_number("--seed", optarg, 0, UINT64_MAX, &command->seed);
        command->has_seed = true;
        break;
    case OPTION_STATS: status = take_stats(optarg, command); break;
    case OPTION_HASH: command->hash_port = optarg; break;
    case OPTION_TIMEOUT: status = take_timeout(optarg, &command->timeout_seconds); break;
    case OPTION_SKIP: command->skip_if_unavailable = true; break;
    case 'D': status = take_definition(optarg, command); break;
    case 'q': quiet = true; break;
    case 'v': verbose = true; break;
    case 'h': fputs(usage_text, stdout); return EXIT_DONE;
    case OPTION_VERSION: puts("piperun " PIPEC_VERSION); return EXIT_DONE;
    case OPTION_LATER:
        return complain(EXIT_USAGE, "--%s: not supported by this version", options[index].name);
    case ':': return complain(EXIT_USAGE, "%s: an argument is missing", argv[optind - 1]);
    default:
        if (optopt != 0 && optopt < 256)
            return complain(EXIT_USAGE, "unknown option '-%c' (piperun --help)", optopt);
        return complain(EXIT_USAGE, "unknown option '%s' (piperun --help)", argv[optind - 1]);
    }
    return status == EXIT_DONE ? -1 : status;
}

/* -1: run it.  Else the exit code. */
static int read_command(int argc, char **argv, struct command *command)
{
    command->capacity = (size_t)argc;
    command->definitions = calloc((size_t)argc, sizeof *command->definitions);
    command->bindings = calloc((size_t)argc, sizeof *command->bindings);
    if (command->definitions == NULL || command->bindings == NULL) return out_of_memory();
    int option, index = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":D:qvh", options, &index)) != -1) {
        int status = take_option(option, index, argv, command);
        if (status != -1) return status;
    }
    for (; optind < argc; optind++) {
        if (command->file == NULL)
            command->file = argv[optind];
        else if (strchr(argv[optind], '=') != NULL)
            command->bindings[command->binding_count++] = argv[optind];
        else
            return complain(EXIT_USAGE, "'%s': expected PORT=PATH", argv[optind]);
    }
    if (command->file != NULL) return -1;
    print_error("no file given");
    fputs("usage: piperun FILE.pbc|FILE.pipe [PORT=PATH[,FORMAT...]]... (piperun --help)\n",
          stderr);
    return EXIT_USAGE;
}

/* ---- signals ---- */

/* Written before the handlers are installed, read by them. */
static struct {
    struct prt_run *run;
    struct prt_temporaries *temporaries;
    int interrupt_fd;
    volatile sig_atomic_t interrupts;
} handled = {.interrupt_fd = -1};

static void write_error(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

static void stop_at_once(int exit_code)
{
    if (handled.temporaries != NULL) prt_temporaries_remove(handled.temporaries);
    _exit(exit_code);
}

static void on_interrupt(int signal)
{
    int saved = errno;
    uint64_t one = 1;
    if (signal == SIGTERM) stop_at_once(EXIT_SIGTERM);
    if (handled.interrupts++ > 0 || handled.run == NULL) stop_at_once(EXIT_SIGINT);
    prt_run_interrupt(handled.run);
    ssize_t ignored = write(handled.interrupt_fd, &one, sizeof one);
    (void)ignored;
    errno = saved;
}

static void on_alarm(int signal)
{
    (void)signal;
    write_error("piperun: error: the time limit is exceeded [timeout]\n");
    stop_at_once(EXIT_TIMEOUT);
}

/* A kernel has crashed, or piperun itself: the state is not to be trusted any more. */
static void on_crash(int signal)
{
    char where[256];
    if (handled.run == NULL || !prt_run_describe_crash(handled.run, where, sizeof where)) {
        if (handled.temporaries != NULL) prt_temporaries_remove(handled.temporaries);
        struct sigaction usual = {.sa_handler = SIG_DFL};
        sigaction(signal, &usual, NULL);
        raise(signal);
        return;
    }
    write_error("piperun: error: ");
    write_error(where);
    write_error(" crashed: ");
    write_error(signal == SIGSEGV  ? "SIGSEGV"
                : signal == SIGBUS ? "SIGBUS"
                : signal == SIGFPE ? "SIGFPE"
                                   : "SIGILL");
    write_error(" [kernel-crash]\n");
    stop_at_once(EXIT_FAULT);
}

static void handle(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

static void install_handlers(void)
{
    static char stack[64 * 1024];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    handle(SIGINT, on_interrupt, 0);
    handle(SIGTERM, on_interrupt, 0);
    handle(SIGALRM, on_alarm, 0);
    handle(SIGSEGV, on_crash, SA_ONSTACK);
    handle(SIGBUS, on_crash, SA_ONSTACK);
    handle(SIGFPE, on_crash, SA_ONSTACK);
    handle(SIGILL, on_crash, SA_ONSTACK);
}

static void start_timeout(double seconds)
{
    if (seconds <= 0) return;
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* ---- loading ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The pipec beside this program, else the one on the PATH. */
static void find_compiler(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size);
    if (length > 0 && (size_t)length < size) {
        path[length] = '\0';
        char *slash = strrchr(path, '/');
        if (slash != NULL && (size_t)(slash - path) + sizeof "/pipec" <= size) {
            memcpy(slash, "/pipec", sizeof "/pipec");
            if (access(path, X_OK) == 0) return;
        }
    }
    snprintf(path, size, "pipec");
}

/* Runs `pipec --device D -o - -- FILE` with `to` as its standard output. */
static int run_compiler(const struct command *command, int to)
{
    char compiler[4096];
    const char *arguments[8];
    size_t count = 0;
    find_compiler(compiler, sizeof compiler);
    arguments[count++] = compiler;
    if (command->device != NULL && strcmp(command->device, "null") != 0) {
        arguments[count++] = "--device";
        arguments[count++] =
            strncmp(command->device, "sim:", 4) == 0 ? command->device + 4 : command->device;
    }
    arguments[count++] = "-o";
    arguments[count++] = "-";
    arguments[count++] = command->file;
    arguments[count] = NULL;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return complain(EXIT_USAGE, "cannot start pipec: %s", strerror(errno));
    if (child == 0) {
        dup2(to, STDOUT_FILENO);
        execvp(compiler, (char *const *)arguments);
        fprintf(stderr, "piperun: error: cannot run '%s': %s\n", compiler, strerror(errno));
        _exit(EXIT_USAGE);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return complain(EXIT_INTERNAL, "pipec was ended by signal %d", WTERMSIG(status));
}

/* Compiles into a file in memory: nothing to remove afterwards. */
static int load_source(const struct command *command, struct prt_program **program)
{
    int file = memfd_create("piperun-program", MFD_CLOEXEC);
    if (file < 0) return complain(EXIT_USAGE, "no memory file: %s", strerror(errno));
    int exit_code = run_compiler(command, file);
    if (exit_code == EXIT_DONE) {
        char path[64];
        struct prt_error error;
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        if (prt_program_load_file(path, program, &error) != PRT_OK)
            exit_code = complain_status(&error);
    }
    close(file);
    return exit_code;
}

static int load_program(const struct command *command, struct prt_program **program)
{
    struct prt_error error;
    if (ends_with(command->file, ".pipe")) return load_source(command, program);
    if (prt_program_load_file(command->file, program, &error) == PRT_OK) return EXIT_DONE;
    return complain_status(&error);
}

/* ---- ports ---- */

struct binding {
    struct prt_port_information port;
    struct prt_port_spec spec;
    bool bound;
    struct prt_source *source;
    struct prt_sink *sink;
    size_t scalars;        /* of a packet */
    bool limited;          /* by --firings */
    uint64_t packets_left; /* if it is */
    XXH64_state_t *hash;
    bool closed; /* its reader has gone */
};

struct session {
    const struct command *command;
    struct prt_program *program;
    struct prt_run *run;
    struct prt_io_environment environment;
    struct binding *bindings; /* one per port */
    uint32_t port_count;
};

/* Whole packets: a packet may have several scalars, of which a read can bring a part. */
static enum prt_status read_port(void *context, void *packets, size_t capacity, size_t *count,
                                 struct prt_error *error)
{
    struct binding *binding = context;
    size_t scalar_bytes = scalar_width_bytes(binding->port.scalar), got = 0;
    if (binding->limited && capacity > binding->packets_left)
        capacity = (size_t)binding->packets_left;
    *count = 0;
    if (capacity == 0) return PRT_OK;
    do {
        size_t part = 0;
        enum prt_status status =
            prt_source_read(binding->source, (char *)packets + got * scalar_bytes,
                            capacity * binding->scalars - got, &part, error);
        if (status != PRT_OK) return status;
        if (part == 0 && got % binding->scalars != 0)
            return prt_error_set(error, PRT_E_TRUNCATED,
                                 "%s: ends inside a packet of port '%s' (%zu of %zu values)",
                                 binding->spec.path != NULL ? binding->spec.path : "generator",
                                 binding->port.name, got % binding->scalars, binding->scalars);
        if (part == 0) break;
        got += part;
    } while (got % binding->scalars != 0);
    *count = got / binding->scalars;
    binding->packets_left -= binding->limited ? *count : 0;
    return PRT_OK;
}

static enum prt_status write_port(void *context, const void *packets, size_t count,
                                  struct prt_error *error)
{
    struct binding *binding = context;
    enum prt_status status = PRT_OK;
    if (binding->hash != NULL)
        (void)XXH64_update(binding->hash, packets, count * (size_t)binding->port.width_bytes);
    if (binding->sink != NULL)
        status = prt_sink_write(binding->sink, packets, count * binding->scalars, error);
    if (status == PRT_E_CLOSED_PIPE) binding->closed = true;
    return status;
}

static uint32_t find_port(const struct session *session, const char *name, size_t length)
{
    for (uint32_t i = 0; i < session->port_count; i++) {
        const char *candidate = session->bindings[i].port.name;
        if (strlen(candidate) == length && memcmp(candidate, name, length) == 0) return i;
    }
    return PRT_NONE;
}

static int unknown_port(const struct session *session, const char *name)
{
    struct prt_program_information program;
    const char *best = NULL;
    size_t distance = SIZE_MAX;
    prt_program_information(session->program, &program);
    for (uint32_t i = 0; i < session->port_count; i++)
        consider(name, session->bindings[i].port.name, &best, &distance);
    if (best == NULL)
        return complain(EXIT_USAGE, "pipeline '%s' has no port '%s'", program.name, name);
    return complain(EXIT_USAGE, "pipeline '%s' has no port '%s'; did you mean '%s'?", program.name,
                    name, best);
}

/* `gen:noise` without a seed takes --seed.  NULL: no memory. */
static char *with_seed(const struct command *command, const char *text)
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

static int read_binding(struct session *session, const char *text)
{
    struct prt_error error;
    struct prt_port_spec spec;
    char *seeded = with_seed(session->command, text);
    if (seeded == NULL) return out_of_memory();
    enum prt_status status = prt_port_spec_parse(seeded, &spec, &error);
    free(seeded);
    if (status != PRT_OK) return complain_status(&error);
    uint32_t port = find_port(session, spec.port, strlen(spec.port));
    int exit_code = EXIT_DONE;
    if (port >= session->port_count)
        exit_code = unknown_port(session, spec.port);
    else if (session->bindings[port].bound)
        exit_code = complain(EXIT_USAGE, "port '%s' is bound twice", spec.port);
    if (exit_code != EXIT_DONE) {
        prt_port_spec_free(&spec);
        return exit_code;
    }
    session->bindings[port].spec = spec;
    session->bindings[port].bound = true;
    return EXIT_DONE;
}

/* Two ports of one direction that share standard input or output, or two outputs into one file. */
static int check_conflicts(const struct session *session)
{
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct binding *a = &session->bindings[i];
        for (uint32_t k = 0; k < i; k++) {
            const struct binding *b = &session->bindings[k];
            if (!a->bound || !b->bound || a->port.direction != b->port.direction) continue;
            bool standard =
                prt_port_spec_is_standard(&a->spec) && prt_port_spec_is_standard(&b->spec);
            bool same = a->port.direction == PRT_PORT_OUT && a->spec.path != NULL &&
                        b->spec.path != NULL && strcmp(a->spec.path, b->spec.path) == 0 &&
                        strncmp(a->spec.path, "/dev/", 5) != 0;
            if (standard || same)
                return complain(EXIT_USAGE, "ports '%s' and '%s' are both bound to '%s'",
                                b->port.name, a->port.name, a->spec.path);
        }
    }
    return EXIT_DONE;
}

static int check_bound(const struct session *session)
{
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct binding *b = &session->bindings[i];
        const char *type = scalar_name(b->port.scalar);
        if (b->bound || b->hash != NULL) continue;
        if (b->port.direction == PRT_PORT_IN)
            return complain(EXIT_USAGE,
                            "in-port '%s' (%s) is not bound; for example: %s=FILE,raw:%s or "
                            "%s=gen:ramp:1000",
                            b->port.name, b->port.type, b->port.name, type, b->port.name);
        return complain(EXIT_USAGE,
                        "out-port '%s' (%s) is not bound; for example: %s=FILE,raw:%s or %s=null",
                        b->port.name, b->port.type, b->port.name, type, b->port.name);
    }
    return EXIT_DONE;
}

static int prepare_hash(struct session *session)
{
    const char *name = session->command->hash_port;
    if (name == NULL) return EXIT_DONE;
    uint32_t port = find_port(session, name, strlen(name));
    if (port == PRT_NONE) return unknown_port(session, name);
    if (session->bindings[port].port.direction != PRT_PORT_OUT)
        return complain(EXIT_USAGE, "--hash: '%s' is an in-port", name);
    XXH64_state_t *state = XXH64_createState();
    if (state == NULL) return out_of_memory();
    (void)XXH64_reset(state, 0);
    session->bindings[port].hash = state;
    return EXIT_DONE;
}

static int read_bindings(struct session *session)
{
    session->port_count = prt_program_port_count(session->program);
    session->bindings = calloc((size_t)session->port_count + 1, sizeof *session->bindings);
    if (session->bindings == NULL) return out_of_memory();
    for (uint32_t i = 0; i < session->port_count; i++) {
        struct binding *binding = &session->bindings[i];
        (void)prt_program_port(session->program, i, &binding->port);
        binding->scalars =
            (size_t)binding->port.width_bytes / scalar_width_bytes(binding->port.scalar);
    }
    int exit_code = EXIT_DONE;
    for (size_t i = 0; i < session->command->binding_count && exit_code == EXIT_DONE; i++)
        exit_code = read_binding(session, session->command->bindings[i]);
    if (exit_code == EXIT_DONE) exit_code = prepare_hash(session);
    if (exit_code == EXIT_DONE) exit_code = check_bound(session);
    return exit_code == EXIT_DONE ? check_conflicts(session) : exit_code;
}

static bool is_endless(const struct prt_port_spec *spec)
{
    bool generator = spec->format == PRT_FORMAT_RAMP || spec->format == PRT_FORMAT_NOISE ||
                     spec->format == PRT_FORMAT_ZEROS;
    return generator && !spec->has_count;
}

static enum prt_status open_input(struct session *session, uint32_t port, struct prt_error *error)
{
    struct binding *b = &session->bindings[port];
    enum prt_status status =
        prt_source_open(&b->spec, b->port.scalar, &session->environment, &b->source, error);
    if (status != PRT_OK) return status;
    b->limited = session->command->has_firings && is_endless(&b->spec);
    b->packets_left = session->command->firings;
    return prt_run_bind_input(session->run, port, read_port, b, error);
}

/* What goes nowhere has no callback: it does not keep a run alive whose other outputs have been
 * closed. */
static enum prt_status open_output(struct session *session, uint32_t port, struct prt_error *error)
{
    struct binding *b = &session->bindings[port];
    bool dropped = !b->bound || b->spec.format == PRT_FORMAT_NULL;
    enum prt_status status = PRT_OK;
    if (!dropped)
        status = prt_sink_open(&b->spec, b->port.scalar, &session->environment, &b->sink, error);
    if (status != PRT_OK) return status;
    bool used = !dropped || b->hash != NULL;
    return prt_run_bind_output(session->run, port, used ? write_port : NULL, b, error);
}

/* Inputs first: an output is not touched if one of them is missing. */
static int open_ports(struct session *session)
{
    struct prt_error error;
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < session->port_count && status == PRT_OK; i++) {
        if (session->bindings[i].port.direction == PRT_PORT_IN)
            status = open_input(session, i, &error);
    }
    for (uint32_t i = 0; i < session->port_count && status == PRT_OK; i++) {
        if (session->bindings[i].port.direction == PRT_PORT_OUT)
            status = open_output(session, i, &error);
    }
    return status == PRT_OK ? EXIT_DONE : complain_status(&error);
}

/* All are whole on disk before the first gets its name. */
static enum prt_status publish_outputs(struct session *session, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < session->port_count && status == PRT_OK; i++) {
        struct binding *b = &session->bindings[i];
        if (b->sink == NULL || b->closed) continue;
        status = prt_sink_prepare(b->sink, error);
        if (status == PRT_E_CLOSED_PIPE) {
            b->closed = true;
            status = PRT_OK;
        }
    }
    for (uint32_t i = 0; i < session->port_count && status == PRT_OK; i++) {
        struct binding *b = &session->bindings[i];
        if (b->sink != NULL && !b->closed) status = prt_sink_finish(b->sink, error);
    }
    return status;
}

static void close_ports(struct session *session)
{
    for (uint32_t i = 0; session->bindings != NULL && i < session->port_count; i++) {
        struct binding *b = &session->bindings[i];
        prt_source_close(b->source);
        prt_sink_close(b->sink);
        if (b->bound) prt_port_spec_free(&b->spec);
        if (b->hash != NULL) (void)XXH64_freeState(b->hash);
    }
    free(session->bindings);
}

/* ---- running ---- */

static int unknown_argument(const struct session *session, const char *name)
{
    struct prt_argument_information argument;
    const char *best = NULL;
    size_t distance = SIZE_MAX;
    for (uint32_t i = 0; prt_program_argument(session->program, i, &argument); i++)
        consider(name, argument.name, &best, &distance);
    if (best == NULL) return complain(EXIT_USAGE, "-D %s: the pipeline has no arguments", name);
    return complain(EXIT_USAGE, "-D %s: the pipeline has no such argument; did you mean '%s'?",
                    name, best);
}

static int set_arguments(const struct session *session)
{
    for (size_t i = 0; i < session->command->definition_count; i++) {
        const struct definition *d = &session->command->definitions[i];
        struct prt_argument_information argument;
        struct prt_error error;
        bool found = false;
        for (uint32_t k = 0; !found && prt_program_argument(session->program, k, &argument); k++)
            found = strcmp(argument.name, d->name) == 0;
        if (!found) return unknown_argument(session, d->name);
        if (prt_run_set_argument(session->run, d->name, d->value, &error) != PRT_OK)
            return complain(EXIT_USAGE, "-D %s=%s: %s", d->name, d->value, error.message);
    }
    return EXIT_DONE;
}

static int create_run(struct session *session)
{
    struct prt_run_options run_options = {.device = session->command->device,
                                          .host_threads = session->command->host_threads};
    struct prt_error error;
    enum prt_status status = prt_run_create(session->program, &run_options, &session->run, &error);
    if (status == PRT_OK) return EXIT_DONE;
    int exit_code = complain_status(&error);
    if (exit_code == EXIT_DEVICE && session->command->skip_if_unavailable) return EXIT_SKIPPED;
    return exit_code;
}

static void note_leftovers(const struct session *session)
{
    struct prt_buffer_statistics buffer;
    for (uint32_t i = 0; prt_run_buffer(session->run, i, &buffer); i++) {
        if (buffer.leftover_packets > 0)
            note("%" PRIu64 " packet%s left over in buffer '%s': too few for another firing",
                 buffer.leftover_packets, buffer.leftover_packets == 1 ? "" : "s", buffer.name);
    }
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct binding *b = &session->bindings[i];
        if (b->closed) note("the reader of '%s' has gone", b->port.name);
    }
}

static void note_fault(const struct session *session)
{
    struct prt_fault_information fault;
    if (prt_run_fault(session->run, &fault) && fault.line > 0)
        note("the fault is at %s:%" PRIu32 ":%" PRIu32, fault.source, fault.line, fault.column);
}

static int report_stats(const struct session *session)
{
    const struct command *command = session->command;
    if (command->stats_text) prt_report_text(stderr, session->program, session->run);
    if (command->stats_json == NULL) return EXIT_DONE;
    bool standard = strcmp(command->stats_json, "-") == 0;
    FILE *file = standard ? stdout : fopen(command->stats_json, "w");
    if (file == NULL) return complain(EXIT_USAGE, "%s: %s", command->stats_json, strerror(errno));
    prt_report_json(file, session->program, session->run);
    bool failed = fflush(file) != 0 || ferror(file) != 0;
    int why = errno;
    if (!standard && fclose(file) != 0 && !failed) {
        failed = true;
        why = errno;
    }
    return failed ? complain(EXIT_USAGE, "%s: %s", command->stats_json, strerror(why)) : EXIT_DONE;
}

static int report_hash(const struct session *session)
{
    for (uint32_t i = 0; i < session->port_count; i++) {
        const struct binding *b = &session->bindings[i];
        if (b->hash != NULL)
            printf("%016" PRIx64 "  %s\n", (uint64_t)XXH64_digest(b->hash), b->port.name);
    }
    if (fflush(stdout) == 0 || errno == EPIPE) return EXIT_DONE;
    return complain(EXIT_USAGE, "standard output: %s", strerror(errno));
}

/* Executes, publishes what is to be published, says what happened. */
static int execute(struct session *session)
{
    struct prt_error error;
    enum prt_status status = prt_run_execute(session->run, &error);
    bool good = status == PRT_OK || status == PRT_E_INTERRUPTED || status == PRT_E_CLOSED_PIPE;
    if (good) {
        enum prt_status published = publish_outputs(session, &error);
        if (published != PRT_OK) good = (status = published) == PRT_OK;
    }
    int exit_code = good ? prt_status_exit_code(status) : complain_status(&error);
    if (good) note_leftovers(session);
    note_fault(session);
    if (good && session->command->hash_port != NULL) {
        int hashed = report_hash(session);
        if (exit_code == EXIT_DONE) exit_code = hashed;
    }
    int reported = report_stats(session);
    return exit_code == EXIT_DONE ? reported : exit_code;
}

static int prepare_environment(struct session *session)
{
    struct prt_temporaries *temporaries;
    if (prt_temporaries_create(&temporaries) != PRT_OK) return out_of_memory();
    int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    session->environment =
        (struct prt_io_environment){.temporaries = temporaries, .interrupt_fd = fd};
    handled.temporaries = temporaries;
    handled.interrupt_fd = fd;
    return fd >= 0 ? EXIT_DONE : complain(EXIT_USAGE, "no event descriptor: %s", strerror(errno));
}

/* -v: what was loaded. */
static void describe_program(const struct prt_program *program)
{
    struct prt_program_information about;
    prt_program_information(program, &about);
    struct prt_error line;
    prt_error_set(&line, PRT_OK,
                  "pipeline '%s' for device '%s' (%s, by %s): %" PRIu32 " stages, %" PRIu32
                  " buffers, %" PRIu64 " bytes",
                  about.name, about.device, about.isa, about.compiler, about.stage_count,
                  about.buffer_count, about.memory_bytes);
    say("loaded", line.message);
}

static int run_session(struct session *session)
{
    int exit_code = load_program(session->command, &session->program);
    if (exit_code == EXIT_DONE && verbose) describe_program(session->program);
    if (exit_code == EXIT_DONE) exit_code = read_bindings(session);
    if (exit_code == EXIT_DONE) exit_code = create_run(session);
    if (exit_code == EXIT_DONE) exit_code = set_arguments(session);
    if (exit_code == EXIT_DONE) exit_code = prepare_environment(session);
    if (exit_code == EXIT_DONE) exit_code = open_ports(session);
    if (exit_code != EXIT_DONE) return exit_code;
    handled.run = session->run;
    return execute(session);
}

static int run_command(const struct command *command)
{
    struct session session = {.command = command, .environment = {.interrupt_fd = -1}};
    install_handlers();
    start_timeout(command->timeout_seconds);
    int exit_code = run_session(&session);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL); /* what the handlers use is freed now */
    close_ports(&session);
    prt_temporaries_destroy(session.environment.temporaries);
    if (session.environment.interrupt_fd >= 0) close(session.environment.interrupt_fd);
    prt_run_destroy(session.run);
    prt_program_free(session.program);
    return exit_code;
}

/* ---- disasm, verify, asm ---- */

static int read_container(const char *path, struct prt_container *container)
{
    struct prt_error error;
    if (prt_container_read_file(path, container, &error) == PRT_OK) return EXIT_DONE;
    return complain_status(&error);
}

/* `piperun WORD FILE.pbc` */
static const char *only_operand(int argc, char **argv)
{
    if (argc == 2 && argv[1][0] != '-') return argv[1];
    print_error("usage: piperun %s FILE.pbc", argv[0]);
    return NULL;
}

static int command_verify(int argc, char **argv)
{
    struct prt_container container;
    struct prt_error error;
    const char *path = only_operand(argc, argv);
    if (path == NULL) return EXIT_USAGE;
    int exit_code = read_container(path, &container);
    if (exit_code != EXIT_DONE) return exit_code;
    if (prt_verify(&container, &error) != PRT_OK)
        exit_code = complain(prt_status_exit_code(error.status), "%s: %s", path, error.message);
    prt_container_free(&container);
    return exit_code;
}

static int disassemble(const struct prt_container *container, const char *path)
{
    struct sched_error error;
    struct sched_set *sets = calloc((size_t)container->set_count + 1, sizeof *sets);
    if (sets == NULL) return out_of_memory();
    for (uint32_t i = 0; i < container->set_count; i++)
        sets[i] = (struct sched_set){(uint32_t *)(uintptr_t)container->sets[i].stages,
                                     container->sets[i].count};
    const struct sched_program program = {container->stage_count, sets, container->set_count,
                                          (uint8_t *)(uintptr_t)container->code,
                                          container->code_bytes};
    bool done = sched_disassemble(stdout, &program, &error);
    free(sets);
    if (fflush(stdout) != 0 || ferror(stdout))
        return errno == EPIPE ? EXIT_DONE
                              : complain(EXIT_USAGE, "standard output: %s", strerror(errno));
    if (!done) return complain(EXIT_REFUSED, "%s: %s", path, error.message);
    return EXIT_DONE;
}

static int command_disasm(int argc, char **argv)
{
    struct prt_container container;
    const char *path = only_operand(argc, argv);
    if (path == NULL) return EXIT_USAGE;
    int exit_code = read_container(path, &container);
    if (exit_code != EXIT_DONE) return exit_code;
    exit_code = disassemble(&container, path);
    prt_container_free(&container);
    return exit_code;
}

struct assembly {
    const char *text_path, *into, *out;
};

static int read_assembly(int argc, char **argv, struct assembly *assembly)
{
    static const struct option assembly_options[] = {{"into", required_argument, NULL, 'i'},
                                                     {NULL, 0, NULL, 0}};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:", assembly_options, NULL)) != -1) {
        if (option == 'i')
            assembly->into = optarg;
        else if (option == 'o')
            assembly->out = optarg;
        else
            return complain(EXIT_USAGE, "asm: unknown option or missing argument '%s'",
                            argv[optind - 1]);
    }
    if (optind + 1 == argc) assembly->text_path = argv[optind];
    if (assembly->text_path != NULL && assembly->into != NULL && assembly->out != NULL)
        return EXIT_DONE;
    return complain(EXIT_USAGE, "usage: piperun asm FILE.sasm --into FILE.pbc -o OUT.pbc");
}

static int read_text(const char *path, char **text, size_t *size)
{
    enum { TEXT_BYTES_MAX = 256 << 20 };
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (file == NULL) return complain(EXIT_USAGE, "%s: %s", path, strerror(errno));
    size_t capacity = 1 << 16;
    *size = 0;
    *text = malloc(capacity);
    while (*text != NULL) {
        *size += fread(*text + *size, 1, capacity - *size, file);
        if (*size < capacity || capacity >= TEXT_BYTES_MAX) break;
        char *larger = realloc(*text, capacity *= 2);
        if (larger == NULL) free(*text);
        *text = larger;
    }
    bool failed = ferror(file) != 0;
    int why = errno;
    if (file != stdin) fclose(file);
    if (*text == NULL) return out_of_memory();
    if (failed) return complain(EXIT_USAGE, "%s: %s", path, strerror(why));
    if (*size >= TEXT_BYTES_MAX) return complain(EXIT_REFUSED, "%s: larger than 256 MiB", path);
    return EXIT_DONE;
}

/* Whole or not at all, as every output. */
static int write_bytes(const char *path, const void *bytes, size_t size)
{
    struct prt_error error;
    struct prt_sink *sink = NULL;
    char *text = NULL;
    if (asprintf(&text, "out=%s,raw:u8", path) < 0) return out_of_memory();
    struct prt_port_spec spec;
    enum prt_status status = prt_port_spec_parse(text, &spec, &error);
    free(text);
    if (status != PRT_OK) return complain_status(&error);
    status = prt_sink_open(&spec, SCALAR_U8, NULL, &sink, &error);
    if (status == PRT_OK) status = prt_sink_write(sink, bytes, size, &error);
    if (status == PRT_OK) status = prt_sink_finish(sink, &error);
    prt_sink_close(sink);
    prt_port_spec_free(&spec);
    return status == PRT_OK ? EXIT_DONE : complain_status(&error);
}

static int replace_program(const struct assembly *assembly, const struct sched_program *program)
{
    struct prt_container container, changed;
    struct prt_error error;
    uint8_t *bytes = NULL;
    size_t size = 0;
    int exit_code = read_container(assembly->into, &container);
    if (exit_code != EXIT_DONE) return exit_code;
    enum prt_status status = prt_container_with_program(&container, program, &bytes, &size, &error);
    prt_container_free(&container);
    if (status == PRT_OK) status = prt_container_read_memory(bytes, size, &changed, &error);
    if (status == PRT_OK) {
        status = prt_verify(&changed, &error);
        prt_container_free(&changed);
    }
    if (status != PRT_OK)
        exit_code =
            complain(prt_status_exit_code(status), "%s: %s", assembly->text_path, error.message);
    else
        exit_code = write_bytes(assembly->out, bytes, size);
    free(bytes);
    return exit_code;
}

static int command_asm(int argc, char **argv)
{
    struct assembly assembly = {NULL, NULL, NULL};
    struct sched_program program;
    struct sched_error error;
    char *text = NULL;
    size_t size = 0;
    int exit_code = read_assembly(argc, argv, &assembly);
    if (exit_code != EXIT_DONE) return exit_code;
    exit_code = read_text(assembly.text_path, &text, &size);
    if (exit_code != EXIT_DONE) {
        free(text);
        return exit_code;
    }
    bool assembled = sched_assemble(text, size, &program, &error);
    free(text);
    if (!assembled) {
        if (error.no_memory) return out_of_memory();
        struct prt_error refused;
        prt_error_set(&refused, PRT_E_FORMAT, "%s:%" PRIu32 ": error: %s", assembly.text_path,
                      error.line, error.message);
        fprintf(stderr, "%s\n", refused.message);
        return EXIT_REFUSED;
    }
    exit_code = replace_program(&assembly, &program);
    sched_program_free(&program);
    return exit_code;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc >= 2 && strcmp(argv[1], "disasm") == 0) return command_disasm(argc - 1, argv + 1);
    if (argc >= 2 && strcmp(argv[1], "verify") == 0) return command_verify(argc - 1, argv + 1);
    if (argc >= 2 && strcmp(argv[1], "asm") == 0) return command_asm(argc - 1, argv + 1);
    struct command command = {.file = NULL};
    int exit_code = read_command(argc, argv, &command);
    if (exit_code == -1) exit_code = run_command(&command);
    free(command.definitions);
    free(command.bindings);
    if (fflush(stdout) != 0 && errno != EPIPE && exit_code == EXIT_DONE)
        exit_code = complain(EXIT_USAGE, "standard output: %s", strerror(errno));
    return exit_code;
}
