/* SPDX-License-Identifier: MIT */
#include "tools/piperun/run_options.h"

#include "runtime/host/pipert.h"
#include "tools/piperun/device_list.h"
#include "tools/piperun/message.h"
#include "tools/piperun/run_version.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage_text[] =
    "usage: piperun FILE.pbc|FILE.pipe|FILE.cmds [PORT=PATH[,FORMAT...]]... [-D NAME=VALUE]... "
    "[OPTION]...\n"
    "       piperun disasm FILE.pbc\n"
    "       piperun verify FILE.pbc\n"
    "       piperun asm FILE.sasm [--into FILE.pbc] -o OUT.pbc\n"
    "       piperun partition DEVICE [SCHEME [/ SCHEME]...]\n"
    "\n"
    "Runs a pipeline that pipec has compiled; a source file is compiled first, by the pipec beside "
    "piperun.\n"
    "\n"
    "ports\n"
    "  PORT=PATH[,FORMAT...]   binds a port of the pipeline; every port is bound\n"
    "      PATH      a file; '-' is standard input or output; null; gen:ramp[:COUNT],\n"
    "                gen:noise:SEED[:COUNT], gen:zeros[:COUNT]; alsa:NAME, pipewire:, jack:\n"
    "      FORMAT    raw raw:TYPE npy wav aiff flac ogg pgm ppm png y4m csv jsonl null rate=N "
    "width=N\n"
    "                height=N channels=N; by file ending if not given.  TYPE is f32, i16, u8 and "
    "so on,\n"
    "                with le or be after it; s16le is i16le.  On a simulated device arrive=RATE,\n"
    "                arrive=@FILE: when packets of an input arrive (48000, 44.1kHz, 30000/1001).\n"
    "                csv: headings, separator=C (such as ';' or tab); of inputs comment=C, "
    "missing=VALUE.\n"
    "                full: an input is processed when its port is full, not as packets arrive\n"
    "  -D NAME=VALUE, NAME=VALUE\n"
    "                          value of an argument of the pipeline; of an array V,V,... or "
    "@FILE[,FORMAT];\n"
    "                          -D: of a source file, of a compile-time parameter too\n"
    "  -p PIPELINE             which pipeline of a source file is compiled\n"
    "\n"
    "run\n"
    "  --device NAME           the device: one that the file was compiled for, FILE.dev for a "
    "description of\n"
    "                          one's own; for any container cpu, cpu:N (the host's cores, N "
    "threads), null\n"
    "                          (executes no kernel: measures the scheduler), or cuda, cuda:N (an "
    "NVIDIA GPU)\n"
    "  --partition SCHEMES     run on a part of that device, a simulated one or a GPU: SCHEMES is "
    "what 'piperun\n"
    "  --sub-device PATH       partition' takes after the device, in quotes, and PATH a sub-device "
    "in what it\n"
    "                          prints, such as 1.0; for a simulated device the file was compiled "
    "for one of as\n"
    "                          many compute units\n"
    "  --list-devices          print the devices, their figures, and how they can be partitioned\n"
    "  --host-threads N        threads that execute kernels; default: one per processor that the "
    "process may use\n"
    "                          and is granted the time of.  Results and cycles do not depend on "
    "it\n"
    "  --dispatch=condensed|reference|full\n"
    "                          how kernels are launched: condensed: several launches a packet; "
    "reference, full:\n"
    "                          each a packet of its own; default: as the program says, and "
    "pipec's say\n"
    "                          condensed.  Results do not depend on it, cycles do\n"
    "  --depths=plan|threads|N on cpu: depths as planned, or those that the plan chose times twice "
    "the number of\n"
    "                          threads (default; not for one thread), or times N.  Outputs do not "
    "depend on it\n"
    "  --firings N             end each source kernel and endless generator after N\n"
    "  --seed N                seed of gen:noise where none is given\n"
    "  --timeout SECONDS       stop after that time (exit status 5)\n"
    "  --latency TIME          how long packets may rest that come from a pipe, on cpu, or with "
    "arrive=, on a simulated\n"
    "                          device, so that more are processed together; such as 5ms; default: "
    "0s\n"
    "  --replay                fire the sequence of a counterexample (pipec inspect "
    "--trace-deadlock=FILE), one firing\n"
    "                          at a time, to its stall (exit status 5); in-ports that are not "
    "bound deliver zeros\n"
    "  --debug[=FILE]          one firing at a time, with commands from the terminal, a pipe or a "
    "file: "
    "break, step,\n"
    "                          print packets, watch values, where ('help' lists all).  A source "
    "file "
    "is compiled\n"
    "                          with --debug-mode\n"
    "  --allow-library=NAME    a shared library that foreign code of the container may load, such "
    "as "
    "libz.so.1\n"
    "  --skip-if-unavailable   exit status 77 instead of 6\n"
    "\n"
    "output\n"
    "  --stats[=text|json:FILE]  what the run did: text on standard error, or JSON to a file\n"
    "  --trace=FILE            a timeline of the run, for Perfetto: what each compute unit does, "
    "and "
    "how full buffers\n"
    "                          are; FILE.gz is compressed, '-' is standard output\n"
    "  --trace-limit N         events of it at most; default: 200000\n"
    "  --hash PORT             print XXH64 of the port's bytes; binds the port to null if it is "
    "not bound\n"
    "  --top                   on a terminal: stages and buffers while the run goes on\n"
    "  --watch PORT[.PART]     on a terminal: the last values of a port as a curve; PART is a "
    "field, "
    "or a number\n"
    "                          from 0 on\n"
    "  -q                      no notes and no progress\n"
    "  -v                      report each step\n"
    "  -h, --help              this text\n"
    "  --version[=json]        the version; as JSON with libraries and devices\n"
    "\n"
    "signals\n"
    "  Ctrl-C (SIGINT) ends the inputs; packets that have been read are processed, outputs and "
    "timelines are published;\n"
    "  a second one stops at once.  SIGUSR1 prints the state of the run, and the run goes on\n"
    "\n"
    "exit status\n"
    "  0 done   1 content refused   2 usage, or a file cannot be opened or written   3 internal "
    "error\n"
    "  4 kernel fault   5 stall or timeout   6 device unavailable   77 skipped   130, 143 "
    "interrupted\n";

static bool parse_option_number(const char *text, uint64_t least, uint64_t most, uint64_t *out)
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

static int take_option_number(const char *option, const char *text, uint64_t least, uint64_t most,
                              uint64_t *out)
{
    if (parse_option_number(text, least, most, out)) return EXIT_DONE;
    return PRT_COMPLAIN(EXIT_USAGE, "%s: '%s' is not a number from %" PRIu64 " to %" PRIu64, option,
                        text, least, most);
}

static int take_timeout(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out > 0 && *out <= 1e9) return EXIT_DONE;
    return PRT_COMPLAIN(
        EXIT_USAGE, "--timeout: '%s' is not a number of seconds above 0; for example: 2.5", text);
}

/* A number with its unit: 5ms. */
static int take_latency(const char *text, uint64_t *nanoseconds)
{
    static const struct {
        const char *unit;
        double nanoseconds;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0] && end != text; i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        double total = number * units[i].nanoseconds;
        if (!(total >= 0 && total <= 3600e9)) break;
        *nanoseconds = (uint64_t)total;
        return EXIT_DONE;
    }
    return PRT_COMPLAIN(EXIT_USAGE,
                        "--latency: '%s' is not a time from 0s to 3600s; for example: 5ms", text);
}

static int take_stats(const char *text, struct prt_command *command)
{
    if (text == NULL || strcmp(text, "text") == 0) {
        command->stats_text = true;
        return EXIT_DONE;
    }
    if (strncmp(text, "json:", 5) == 0 && text[5] != '\0') {
        command->stats_json = text + 5;
        return EXIT_DONE;
    }
    return PRT_COMPLAIN(EXIT_USAGE, "--stats: '%s' is neither 'text' nor 'json:FILE'", text);
}

static int take_dispatch(const char *text, enum prt_dispatch_mode *out)
{
    static const char *const names[] = {[PRT_DISPATCH_CONDENSED] = "condensed",
                                        [PRT_DISPATCH_REFERENCE] = "reference",
                                        [PRT_DISPATCH_FULL] = "full"};
    for (size_t i = PRT_DISPATCH_CONDENSED; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *out = (enum prt_dispatch_mode)i;
        return EXIT_DONE;
    }
    return PRT_COMPLAIN(EXIT_USAGE, "--dispatch: '%s' is none of condensed, reference and full",
                        text);
}

static int take_depth_factor(const char *text, uint32_t *factor)
{
    uint64_t number;
    if (strcmp(text, "plan") == 0)
        *factor = 1;
    else if (strcmp(text, "threads") == 0)
        *factor = 0;
    else if (parse_option_number(text, 1, UINT32_MAX, &number))
        *factor = (uint32_t)number;
    else
        return PRT_COMPLAIN(
            EXIT_USAGE,
            "--depths: '%s' is neither 'plan' nor 'threads' nor a number from 1 to 4294967295",
            text);
    return EXIT_DONE;
}

static int take_trace(const char *text, struct prt_command *command)
{
    if (text[0] == '\0') return PRT_COMPLAIN(EXIT_USAGE, "--trace: the name of a file is missing");
    command->trace = text;
    return EXIT_DONE;
}

static int take_debug(const char *text, struct prt_command *command)
{
    if (text != NULL && text[0] == '\0')
        return PRT_COMPLAIN(EXIT_USAGE, "--debug: the name of a file is missing");
    command->debug = true;
    command->debug_script = text;
    return EXIT_DONE;
}

static int take_definition(const char *text, struct prt_command *command)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text)
        return PRT_COMPLAIN(EXIT_USAGE, "-D %s: expected NAME=VALUE", text);
    char *name = strndup(text, (size_t)(equals - text));
    if (name == NULL) return prt_complain_memory();
    assert(command->definition_count < command->capacity);
    command->definitions[command->definition_count++] =
        (struct prt_definition){name, text, equals + 1};
    return EXIT_DONE;
}

enum option_code {
    OPTION_DEVICE = 256,
    OPTION_ALLOW_LIBRARY,
    OPTION_LATENCY,
    OPTION_PARTITION,
    OPTION_SUB_DEVICE,
    OPTION_LIST_DEVICES,
    OPTION_HOST_THREADS,
    OPTION_DISPATCH,
    OPTION_DEPTHS,
    OPTION_FIRINGS,
    OPTION_SEED,
    OPTION_STATS,
    OPTION_TRACE,
    OPTION_TRACE_LIMIT,
    OPTION_HASH,
    OPTION_TOP,
    OPTION_WATCH,
    OPTION_TIMEOUT,
    OPTION_SKIP,
    OPTION_REPLAY,
    OPTION_DEBUG,
    OPTION_VERSION,
    OPTION_LATER, /* refused by name */
};

static const struct option options[] = {
    {"device", required_argument, NULL, OPTION_DEVICE},
    {"allow-library", required_argument, NULL, OPTION_ALLOW_LIBRARY},
    {"partition", required_argument, NULL, OPTION_PARTITION},
    {"sub-device", required_argument, NULL, OPTION_SUB_DEVICE},
    {"list-devices", no_argument, NULL, OPTION_LIST_DEVICES},
    {"host-threads", required_argument, NULL, OPTION_HOST_THREADS},
    {"dispatch", required_argument, NULL, OPTION_DISPATCH},
    {"depths", required_argument, NULL, OPTION_DEPTHS},
    {"firings", required_argument, NULL, OPTION_FIRINGS},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"stats", optional_argument, NULL, OPTION_STATS},
    {"trace", required_argument, NULL, OPTION_TRACE},
    {"trace-limit", required_argument, NULL, OPTION_TRACE_LIMIT},
    {"hash", required_argument, NULL, OPTION_HASH},
    {"top", no_argument, NULL, OPTION_TOP},
    {"watch", required_argument, NULL, OPTION_WATCH},
    {"timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"latency", required_argument, NULL, OPTION_LATENCY},
    {"skip-if-unavailable", no_argument, NULL, OPTION_SKIP},
    {"replay", no_argument, NULL, OPTION_REPLAY},
    {"help", no_argument, NULL, 'h'},
    {"version", optional_argument, NULL, OPTION_VERSION},
    {"sandbox", optional_argument, NULL, OPTION_LATER},
    {"debug", optional_argument, NULL, OPTION_DEBUG},
    {"verify", optional_argument, NULL, OPTION_LATER},
    {"ulp", optional_argument, NULL, OPTION_LATER},
    {NULL, 0, NULL, 0},
};

/* getopt stores a letter in optopt, and for a word that takes no value the letter of that option. */
static int refuse_run_option(char **argv)
{
    const char *written = unknown_option(argv), *meant = nearest_option(written, options);
    char letter[] = {'-', (char)optopt, '\0'};
    const char *shown = optopt != 0 ? letter : written;
    if (optopt != 0 && strncmp(argv[optind - 1], "--", 2) == 0)
        return PRT_COMPLAIN(EXIT_USAGE, "%s: the option takes no value", argv[optind - 1]);
    if (meant != NULL)
        return PRT_COMPLAIN(EXIT_USAGE, "unknown option '%s'; did you mean '--%s'?", shown, meant);
    return PRT_COMPLAIN(EXIT_USAGE, "unknown option '%s' (piperun --help)", shown);
}

/* PRT_COMMAND_RUN: go on.  Else the exit code. */
static int take_run_option(int option, int index, char **argv, struct prt_command *command)
{
    uint64_t number;
    int status = EXIT_DONE;
    switch (option) {
    case OPTION_DEVICE: command->device = optarg; break;
    case OPTION_ALLOW_LIBRARY: command->libraries[command->library_count++] = optarg; break;
    case OPTION_PARTITION: command->partition = optarg; break;
    case OPTION_SUB_DEVICE: command->sub_device = optarg; break;
    case OPTION_LIST_DEVICES: return prt_command_list_devices();
    case OPTION_HOST_THREADS:
        status = take_option_number("--host-threads", optarg, 1, 4096, &number);
        if (status == EXIT_DONE) command->host_threads = (uint32_t)number;
        break;
    case OPTION_DISPATCH: status = take_dispatch(optarg, &command->dispatch); break;
    case OPTION_DEPTHS: status = take_depth_factor(optarg, &command->depth_factor); break;
    case OPTION_FIRINGS:
        status = take_option_number("--firings", optarg, 0, UINT64_MAX, &command->firings);
        command->has_firings = true;
        break;
    case OPTION_SEED:
        status = take_option_number("--seed", optarg, 0, UINT64_MAX, &command->seed);
        command->has_seed = true;
        break;
    case OPTION_STATS: status = take_stats(optarg, command); break;
    case OPTION_TRACE: status = take_trace(optarg, command); break;
    case OPTION_TRACE_LIMIT:
        status = take_option_number("--trace-limit", optarg, 1, UINT64_MAX, &command->trace_limit);
        command->has_trace_limit = true;
        break;
    case OPTION_HASH: command->hash_ports[command->hash_count++] = optarg; break;
    case OPTION_TOP: command->top = true; break;
    case OPTION_WATCH: command->watch_ports[command->watch_count++] = optarg; break;
    case OPTION_LATENCY: status = take_latency(optarg, &command->latency_nanoseconds); break;
    case OPTION_TIMEOUT: status = take_timeout(optarg, &command->timeout_seconds); break;
    case OPTION_SKIP: command->skip_if_unavailable = true; break;
    case OPTION_REPLAY: command->replay = true; break;
    case OPTION_DEBUG: status = take_debug(optarg, command); break;
    case 'D': status = take_definition(optarg, command); break;
    case 'p': command->pipeline = optarg; break;
    case 'q': command->quiet = true; break;
    case 'v': command->verbose = true; break;
    case 'h': fputs(usage_text, stdout); return EXIT_DONE;
    case OPTION_VERSION: return prt_version_print(optarg);
    case OPTION_LATER:
        return PRT_COMPLAIN(EXIT_USAGE, "--%s: not supported by this version", options[index].name);
    case ':': return PRT_COMPLAIN(EXIT_USAGE, "%s: an argument is missing", argv[optind - 1]);
    default: return refuse_run_option(argv);
    }
    return status == EXIT_DONE ? PRT_COMMAND_RUN : status;
}

/* The first word is a file, unless it looks like no file name. */
static int take_file(const char *word, struct prt_command *command)
{
    static const char *const others[] = {"disasm", "verify",         "asm",      "partition",
                                         "--help", "--list-devices", "--version"};
    command->file = word;
    if (strpbrk(word, "./") != NULL || access(word, F_OK) == 0) return PRT_COMMAND_RUN;
    const char *meant = nearest_name(word, others, sizeof others / sizeof others[0]);
    if (meant != NULL)
        return PRT_COMPLAIN(EXIT_USAGE,
                            "there is no command '%s', and no such file; did you mean '%s'?", word,
                            meant);
    return PRT_COMPLAIN(EXIT_USAGE,
                        "there is no command '%s' (disasm, verify, asm or partition), and no such "
                        "file",
                        word);
}

static int take_word(const char *word, struct prt_command *command)
{
    if (command->file == NULL) return take_file(word, command);
    if (strncmp(word, "json:", 5) == 0)
        return PRT_COMPLAIN(EXIT_USAGE, "'%s': expected PORT=PATH; did you mean '--stats=%s'?",
                            word, word);
    if (strchr(word, '=') == NULL)
        return PRT_COMPLAIN(EXIT_USAGE, "'%s': expected PORT=PATH, without blanks", word);
    command->bindings[command->binding_count++] = word;
    return PRT_COMMAND_RUN;
}

int prt_command_read(int argc, char **argv, struct prt_command *command)
{
    command->capacity = (size_t)argc;
    command->definitions = calloc((size_t)argc, sizeof *command->definitions);
    command->bindings = calloc((size_t)argc, sizeof *command->bindings);
    command->hash_ports = calloc((size_t)argc, sizeof *command->hash_ports);
    command->watch_ports = calloc((size_t)argc, sizeof *command->watch_ports);
    command->libraries = calloc((size_t)argc, sizeof *command->libraries);
    if (command->definitions == NULL || command->bindings == NULL || command->hash_ports == NULL ||
        command->watch_ports == NULL || command->libraries == NULL)
        return prt_complain_memory();
    int option, index = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":D:p:qvh", options, &index)) != -1) {
        int status = take_run_option(option, index, argv, command);
        if (status != PRT_COMMAND_RUN) return status;
    }
    if (command->has_trace_limit && command->trace == NULL)
        return PRT_COMPLAIN(EXIT_USAGE, "--trace-limit: there is no --trace for it");
    if (command->partition != NULL && command->sub_device == NULL)
        return PRT_COMPLAIN(EXIT_USAGE, "--partition: which sub-device of it? Give --sub-device, "
                                        "such as 0");
    if (command->sub_device != NULL && command->partition == NULL)
        return PRT_COMPLAIN(EXIT_USAGE, "--sub-device: of which partition? Give --partition, such "
                                        "as 'equally 2'");
    if (command->debug && command->replay)
        return PRT_COMPLAIN(EXIT_USAGE, "--debug and --replay do not go together");
    if ((command->top || command->watch_count > 0) && (command->debug || command->replay))
        return PRT_COMPLAIN(EXIT_USAGE, "%s and %s do not go together",
                            command->top ? "--top" : "--watch",
                            command->debug ? "--debug" : "--replay");
    for (; optind < argc; optind++) {
        int status = take_word(argv[optind], command);
        if (status != PRT_COMMAND_RUN) return status;
    }
    if (command->file != NULL) return PRT_COMMAND_RUN;
    prt_say_error("no file given");
    fputs(
        "usage: piperun FILE.pbc|FILE.pipe|FILE.cmds [PORT=PATH[,FORMAT...]]... (piperun --help)\n",
        stderr);
    return EXIT_USAGE;
}

void prt_command_free(struct prt_command *command)
{
    for (size_t i = 0; i < command->definition_count; i++)
        free(command->definitions[i].name);
    free(command->definitions);
    free(command->bindings);
    free(command->hash_ports);
    free(command->watch_ports);
    free(command->libraries);
    *command = (struct prt_command){.file = NULL};
}
