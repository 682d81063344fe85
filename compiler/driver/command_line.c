/* SPDX-License-Identifier: MIT */
#include "compiler/driver/command_line.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/codegen/common/instruction_set.h"
#include "compiler/ir/graph.h"
#include "compiler/driver/driver_files.h"
#include "compiler/driver/response_file.h"
#include "compiler/driver/version.h"
#include "base/vec.h"
#include "compiler/target/target.h"
#include "base/nearest.h"
#include "base/words.h"

static const char help_text[] =
    "usage: pipec [options] FILE.pipe -o FILE.pbc   compile\n"
    "       pipec [options] FILE.pipe               check only: the exit status is the answer\n"
    "       pipec COMMAND ...                       'pipec help COMMAND' has options and examples\n"
    "\n"
    "  new FILE.pipe         write a small pipeline to begin with\n"
    "  run FILE.pipe ...     compile and run\n"
    "  test PATH...          run the test blocks\n"
    "  bench FILE.pipe       time each stage on this machine's devices, and compare\n"
    "  graph FILE            the shape: nodes and buffers, as a picture, text or data\n"
    "  inspect FILE          the proofs and the plan: rates, depths and why, memory, speed\n"
    "  fmt PATH...           lay out sources in the one canonical way\n"
    "  lint PATH...          what is allowed and probably not meant\n"
    "  lsp                   a language server for editors\n"
    "  explain NAME          a rule, or an item of the library\n"
    "  complete SHELL        the script that completes command lines in bash, zsh or fish\n"
    "  doctor                what is installed, which devices there are, what is missing\n"
    "  help [TOPIC]          a command, a topic, a rule; without TOPIC the list of topics\n"
    "\n"
    "  -o FILE               write the container; '-' is standard output\n"
    "  -p NAME               the pipeline to compile (default: main, else the only one)\n"
    "  --device NAME|F.dev   the device to compile for (default sim16)\n"
    "  --emit=ast|graph|cmds|json|llvm|asm|obj|ptx|sched|header|skeleton[:FILE]\n"
    "                        write an intermediate form instead; header, skeleton: C declarations\n"
    "                        of extern kernels, a C file to fill\n"
    "  -D NAME=VALUE         a compile-time parameter, or the default of a run-time argument\n"
    "  -I DIR                folder to look for imports in\n"
    "  -O0 .. -O3            optimisation of the kernels (default -O2)\n"
    "  --march=ISA[,ISA]...  instruction sets: the best that the host has is run (default "
    "x86-64-v3; native)\n"
    "  --buffers=min|fast|default  depths that are not declared: min (minimum memory), fast "
    "(minimum\n"
    "                        for the maximum throughput), default (room for full dispatches)\n"
    "  --max-memory BYTES    maximum memory of all buffers (default 1G; suffixes K M G)\n"
    "  --layout=sequence|side-by-side|groups|auto\n"
    "                        how stages share the device; auto: the fastest, by trials\n"
    "  --policy=round_robin|priority|fullest|auto\n"
    "                        as if the pipeline had declared it\n"
    "  --fuse, --no-fuse     neighbours become one stage where that is exact and pays; never "
    "(default:\n"
    "                        as --fuse; on simulated devices if their clock says so)\n"
    "  --debug-mode          for the debugger: smallest buffers, one kernel at a time, packets "
    "that\n"
    "                        know which line wrote them\n"
    "  --no-bounds-checks    leave out the checks that remain at run time\n"
    "  --fast-math           let floating point be reassociated: other bits, faster\n"
    "  --linker PATH         the linker for kernel images\n"
    "  -MD, -MMD             also write the files that were read, as a rule for make and ninja\n"
    "  -M, -MM               write that rule instead of compiling\n"
    "  -MF FILE              where the rule goes (default: the output with the ending .d)\n"
    "  -MT NAME, -MQ NAME    a target of the rule, as it stands or quoted for make\n"
    "  -MP                   a rule without prerequisites for every import too\n"
    "  --write-if-changed    leave an output with the same bytes as it is, and its time\n"
    "  --time-report         say on standard error where the time of a compilation went\n"
    "  --color=auto|always|never   colours in messages\n"
    "  --diagnostics=text|short|json|jsonl|sarif|github|gitlab|checkstyle[:FILE]\n"
    "                        the form of messages, and the file for them\n"
    "  -W NAME, -Wno-NAME    switch a warning on, off\n"
    "  -Werror[=NAME]        warnings, or this one, are errors\n"
    "  --min-level=note|warning|error  the minimum level to show\n"
    "  --fail-on=note|warning|error  exit status 1 from this level on (default error)\n"
    "  --error-limit=N       as text, show N errors (default 100; 0: all)\n"
    "  --fix                 write the edits of findings where one edit is certain into the "
    "sources\n"
    "  --baseline FILE       do not report the findings that FILE has\n"
    "  --write-baseline FILE write the findings to FILE instead of reporting them\n"
    "  -j N                  threads; one file is compiled by one, lint and test use them\n"
    "  -q, -v                fewer, more words\n"
    "  @FILE                 more arguments, from FILE\n"
    "  -h, --help[=all]      this text, which has all options\n"
    "  --version[=json]      version and the LLVM in use\n"
    "\n"
    "examples:\n"
    "  $ pipec smooth.pipe                         # check only\n"
    "  $ pipec smooth.pipe -o smooth.pbc           # compile\n"
    "  $ pipec --fix smooth.pipe                   # fix what is certain, report the rest\n"
    "  $ pipec --device=cpu --march=native smooth.pipe -o host.pbc\n"
    "  $ pipec --emit=llvm smooth.pipe             # what one step of the compiler made\n"
    "\n"
    "Exit status: 0 done, 1 the program is refused, 2 usage or files, 3 internal error.\n";

const char command_line_inspect_help[] =
    "usage: pipec inspect [--json] [options] FILE\n"
    "       pipec inspect --pareto [--json] [options] FILE.pipe\n"
    "       pipec inspect --predict=COUNT[,PORT=COUNT...] [--json] [options] FILE.pipe\n"
    "       pipec inspect --trace-deadlock[=OUT.pbc] [--json] [options] FILE.pipe\n"
    "\n"
    "Prints what pipec has proven and planned: rates, firings, every depth and the reason for it,\n"
    "memory, schedule and speed. FILE is a source, a command list or a container.\n"
    "\n"
    "  --json                one JSON object, also of a program that is refused\n"
    "  --pareto              memory against throughput\n"
    "  --predict=COUNT[,PORT=COUNT...]  cycles of a run with COUNT packets at each in-port and "
    "COUNT\n"
    "                        firings of each source\n"
    "  --trace-deadlock[=OUT.pbc]  the shortest sequence into a deadlock; OUT.pbc: for piperun "
    "--replay\n"
    "  -v                    every row and the whole schedule\n"
    "  The options of a compilation, such as --device and --buffers, as in 'pipec --help'\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec inspect smooth.pipe\n"
    "  $ pipec inspect --device=cpu smooth.pipe    # which kernels become one stage, and why\n"
    "  $ pipec inspect --buffers=min smooth.pipe   # the minimum memory\n"
    "  $ pipec inspect --trace-deadlock smooth.pipe\n"
    "\n"
    "Exit status: 0 done, 1 the program is refused, 2 usage or files, 3 internal error.\n";

/* The commands with options of their own that share an option, by their `shares`. */
enum { NEVER = 0, ALWAYS = 1 << 30 };

/* X(option, name, argument, shared by) */
/* clang-format off */
#define LONG_OPTIONS(X)                                                         \
    X(DEVICE,           "device",           required_argument, SHARES_CODE)     \
    X(EMIT,             "emit",             required_argument, NEVER)           \
    X(MARCH,            "march",            required_argument, SHARES_CODE)     \
    X(MEMORY,           "max-memory",       required_argument, SHARES_ANALYSIS) \
    X(BUFFERS,          "buffers",          required_argument, SHARES_ANALYSIS) \
    X(LAYOUT,           "layout",           required_argument, NEVER)           \
    X(POLICY,           "policy",           required_argument, NEVER)           \
    X(PARETO,           "pareto",           no_argument,       NEVER)           \
    X(PREDICT,          "predict",          required_argument, NEVER)           \
    X(FUSE,             "fuse",             no_argument,       SHARES_CODE)     \
    X(NO_FUSE,          "no-fuse",          no_argument,       SHARES_CODE)     \
    X(DEBUG_MODE,       "debug-mode",       no_argument,       SHARES_CODE)     \
    X(NO_BOUNDS,        "no-bounds-checks", no_argument,       SHARES_CODE)     \
    X(FAST_MATH,        "fast-math",        no_argument,       SHARES_CODE)     \
    X(LINKER,           "linker",           required_argument, SHARES_CODE)     \
    X(COLOUR,           "color",            required_argument, ALWAYS)          \
    X(DIAGNOSTICS,      "diagnostics",      required_argument, ALWAYS)          \
    X(MIN_LEVEL,        "min-level",        required_argument, ALWAYS)          \
    X(FAIL_ON,          "fail-on",          required_argument, ALWAYS)          \
    X(ERROR_LIMIT,      "error-limit",      required_argument, ALWAYS)          \
    X(FIX,              "fix",              no_argument,       SHARES_BASELINE) \
    X(BASELINE,         "baseline",         required_argument, SHARES_BASELINE) \
    X(WRITE_BASELINE,   "write-baseline",   required_argument, SHARES_BASELINE) \
    X(VERSION,          "version",          optional_argument, ALWAYS)          \
    X(TIME_REPORT,      "time-report",      no_argument,       NEVER)           \
    X(WRITE_IF_CHANGED, "write-if-changed", no_argument,       NEVER)           \
    X(TRACE_DEADLOCK,   "trace-deadlock",   optional_argument, NEVER)           \
    X(JSON,             "json",             no_argument,       NEVER)
/* clang-format on */

enum {
    OPTION_BEFORE_FIRST = 255,
#define X(option, name, argument, shared) OPTION_##option,
    LONG_OPTIONS(X)
#undef X
};

static const struct option long_options[] = {
    {"help", optional_argument, NULL, 'h'},
#define X(option, name, argument, shared) {name, argument, NULL, OPTION_##option},
    LONG_OPTIONS(X)
#undef X
        {NULL, 0, NULL, 0},
};

struct parser {
    struct arena *arena;
    struct command_line line;
    VEC(const char *) folders;
    VEC(struct definition) definitions;
    VEC(struct depfile_target) targets;
    VEC(const char *) inputs;
    const struct command_options *own; /* the options of the command itself, or NULL */
    const char *word;                  /* the name of the command */
    const struct option *longer;       /* all accepted long options */
    const char *(*nearest_command)(const char *word);
};

static void refuse_line(struct parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void refuse_line(struct parser *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("pipec: error: ", stderr);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\npipec: 'pipec%s%s --help' lists the options\n", p->word != NULL ? " " : "",
            p->word != NULL ? p->word : "");
    p->line.action = COMMAND_USAGE;
}

/* Refuses the line if there is a problem (not NULL). */
static void refuse_problem(struct parser *p, const char *problem)
{
    if (problem != NULL) refuse_line(p, "%s", problem);
}

static void parse_definition(struct parser *p, char *text)
{
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        refuse_line(p, "-D %s: %s is missing; write -D NAME=VALUE", text,
                    equals == NULL ? "'=' with a value" : "the name");
        return;
    }
    const char *name = arena_string(p->arena, text, (size_t)(equals - text));
    vec_push(p->arena, &p->definitions, (struct definition){.name = name, .value = equals + 1});
}

static void parse_emit(struct parser *p, const char *text)
{
    static const char *const names[] = {
        [EMIT_NONE] = "",       [EMIT_AST] = "ast",       [EMIT_GRAPH] = "graph",
        [EMIT_CMDS] = "cmds",   [EMIT_JSON] = "json",     [EMIT_LLVM] = "llvm",
        [EMIT_PTX] = "ptx",     [EMIT_ASM] = "asm",       [EMIT_OBJ] = "obj",
        [EMIT_SCHED] = "sched", [EMIT_HEADER] = "header", [EMIT_SKELETON] = "skeleton"};
    static const char *const later[] = {"opencl"};
    size_t length = strcspn(text, ":");
    const char *name = arena_string(p->arena, text, length);
    size_t kind = WORD_INDEX(name, names);
    p->line.emit = kind < sizeof names / sizeof *names ? (enum emit_kind)kind : EMIT_NONE;
    p->line.emit_path = text[length] == ':' && text[length + 1] != '\0' ? text + length + 1 : "-";
    if (WORD_INDEX(name, later) < sizeof later / sizeof *later)
        refuse_line(p, "--emit=%s is not supported yet", name);
    else if (p->line.emit == EMIT_NONE)
        refuse_line(p,
                    "--emit=%s: the kinds are ast, graph, cmds, json, llvm, asm, obj, ptx, sched, "
                    "header "
                    "and skeleton",
                    text);
}

static void parse_memory(struct parser *p, const char *text)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    unsigned shift = 0;
    if (*end == 'K' || *end == 'k') shift = 10;
    if (*end == 'M' || *end == 'm') shift = 20;
    if (*end == 'G' || *end == 'g') shift = 30;
    if (shift > 0) end++;
    bool good = end != text && *end == '\0' && errno == 0 && text[0] != '-' && value > 0 &&
                value <= (unsigned long long)INT64_MAX >> shift;
    if (!good) refuse_line(p, "--max-memory %s: a number of bytes, with K, M or G after it", text);
    p->line.options.max_memory_bytes = (uint64_t)value << shift;
}

static void parse_buffers_mode(struct parser *p, const char *text)
{
    static const char *const names[] = {
        [BUFFERS_DEFAULT] = "default", [BUFFERS_MIN] = "min", [BUFFERS_FAST] = "fast"};
    p->line.options.buffers = (enum buffers_mode)WORD_INDEX(text, names);
    if ((size_t)p->line.options.buffers == sizeof names / sizeof *names)
        refuse_line(p, "--buffers=%s: min, fast or default", text);
}

static void parse_layout(struct parser *p, const char *text)
{
    static const char *const names[] = {[LAYOUT_ANY] = "auto",
                                        [LAYOUT_SEQUENCE] = "sequence",
                                        [LAYOUT_SIDE_BY_SIDE] = "side-by-side",
                                        [LAYOUT_GROUPS] = "groups"};
    p->line.options.layout = (enum layout_wish)WORD_INDEX(text, names);
    if ((size_t)p->line.options.layout == sizeof names / sizeof *names)
        refuse_line(p, "--layout=%s: auto, sequence, side-by-side or groups", text);
}

static void parse_policy(struct parser *p, const char *text)
{
    enum graph_policy policy;
    p->line.options.policy = text;
    if (!graph_policy_named(text, &policy))
        refuse_line(p, "--policy=%s: auto, round_robin, priority or fullest", text);
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value != NULL && *value != '\0';
}

/* Without --color: false if NO_COLOR is set or TERM is dumb: a terminal that says so shows no colours at all.
 * Otherwise true if CLICOLOR_FORCE is set and not 0, or the descriptor is a terminal. */
static bool colour_suits(int descriptor)
{
    const char *terminal = getenv("TERM"), *force = getenv("CLICOLOR_FORCE");
    if (is_set("NO_COLOR") || (terminal != NULL && strcmp(terminal, "dumb") == 0)) return false;
    if (force != NULL && *force != '\0' && strcmp(force, "0") != 0) return true;
    return isatty(descriptor) && terminal != NULL;
}

static void parse_colour(struct parser *p, const char *when)
{
    if (strcmp(when, "always") == 0)
        p->line.colour = true;
    else if (strcmp(when, "never") == 0)
        p->line.colour = false;
    else if (strcmp(when, "auto") != 0)
        refuse_line(p, "--color=%s: auto, always or never", when);
}

static void parse_level(struct parser *p, const char *text)
{
    if (strlen(text) == 1 && text[0] >= '0' && text[0] <= '3')
        p->line.options.optimisation = text[0] - '0';
    else
        refuse_line(p, "-O%s: the levels are 0 to 3", text);
}

static void parse_instruction_set(struct parser *p, const char *name)
{
    struct instruction_set sets[INSTRUCTION_SETS_MAX];
    const char *problem;
    p->line.options.isa = name;
    if (instruction_sets_read(p->arena, name, sets, &problem) == 0)
        refuse_line(p, "--march=%s: %s", name, problem);
}

static void parse_device(struct parser *p, const char *name)
{
    if (p->line.device_given)
        refuse_line(p,
                    "a second --device: containers for several devices are not supported yet (%s)",
                    name);
    p->line.device_given = true;
    p->line.device = name;
}

/* The value is the rest of this argument, or the next argument. */
static void parse_dependency_value(struct parser *p, const char *letters, char **argv)
{
    const char *value = letters[1] != '\0' ? letters + 1 : argv[optind];
    if (value == NULL) {
        refuse_line(p, "option '-M%s' needs a value", letters);
        return;
    }
    if (letters[1] == '\0') optind++;
    if (letters[0] == 'F')
        p->line.depfile.path = value;
    else
        vec_push(p->arena, &p->targets,
                 (struct depfile_target){.text = value, .verbatim = letters[0] == 'T'});
}

static void parse_dependencies(struct parser *p, const char *letters, char **argv)
{
    struct depfile *depfile = &p->line.depfile;
    if (letters == NULL || strcmp(letters, "M") == 0)
        depfile->wanted = depfile->alone = true;
    else if (strcmp(letters, "D") == 0 || strcmp(letters, "MD") == 0)
        depfile->wanted = true;
    else if (strcmp(letters, "P") == 0)
        depfile->phony_targets = true;
    else if (strchr("FTQ", letters[0]) != NULL)
        parse_dependency_value(p, letters, argv);
    else
        refuse_line(p, "unknown option '-M%s'", letters);
}

static void parse_jobs(struct parser *p, const char *text)
{
    char *end;
    errno = 0;
    unsigned long count = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || count < 1 ||
        count > COMMAND_JOBS_MAX)
        refuse_line(p, "-j %s: a whole number from 1 to 1024", text);
    else
        p->line.jobs = (unsigned)count;
}

bool command_line_answer(const char *argument, const char *help)
{
    static const char version[] = "--version";
    const char *form = argument + sizeof version - 1;
    if (strcmp(argument, "-h") == 0 || strcmp(argument, "--help") == 0 ||
        strcmp(argument, "--help=all") == 0) {
        fputs(help, stdout);
        return true;
    }
    if (strncmp(argument, version, sizeof version - 1) != 0) return false;
    if (*form == '\0') return version_print(stdout, NULL);
    return *form == '=' && version_print(stdout, form + 1);
}

static void show_version(struct parser *p, const char *form)
{
    if (version_print(stdout, form))
        p->line.action = COMMAND_DONE;
    else
        refuse_line(p, "--version=%s: the only form is json", form);
}

static void show_help(struct parser *p, const char *what)
{
    if (what != NULL && strcmp(what, "all") != 0) {
        refuse_line(p, "--help=%s: all, or nothing", what);
        return;
    }
    const char *of_action =
        p->line.action == COMMAND_INSPECT ? command_line_inspect_help : help_text;
    fputs(p->own != NULL ? p->own->help : of_action, stdout);
    p->line.action = COMMAND_DONE;
}

/* An unknown letter is in optopt, and so is the code of a long option that takes no value. An
 * unknown long option was skipped. */
static void refuse_unknown(struct parser *p, char **argv)
{
    char letter[] = {'-', (char)optopt, '\0'};
    if (optopt != 0 && strncmp(argv[optind - 1], "--", 2) == 0) {
        refuse_line(p, "%s: the option takes no value", argv[optind - 1]);
        return;
    }
    const char *written = unknown_option(argv), *meant = nearest_option(written, p->longer);
    const char *shown = optopt != 0 ? letter : written;
    if (meant != NULL)
        refuse_line(p, "unknown option '%s'; did you mean '--%s'?", shown, meant);
    else
        refuse_line(p, "unknown option '%s'", shown);
}

static void parse_option(struct parser *p, int option, char **argv)
{
    switch (option) {
    case 'o': p->line.output = optarg; break;
    case 'p': p->line.options.pipeline = optarg; break;
    case 'D': parse_definition(p, optarg); break;
    case 'I': vec_push(p->arena, &p->folders, optarg); break;
    case 'O': parse_level(p, optarg); break;
    case 'q': p->line.quiet = true; break;
    case 'v': p->line.verbose = true; break;
    case 'j': parse_jobs(p, optarg); break;
    case 'h': show_help(p, optarg); break;
    case OPTION_DEVICE: parse_device(p, optarg); break;
    case OPTION_EMIT: parse_emit(p, optarg); break;
    case OPTION_MARCH: parse_instruction_set(p, optarg); break;
    case OPTION_MEMORY: parse_memory(p, optarg); break;
    case OPTION_BUFFERS: parse_buffers_mode(p, optarg); break;
    case OPTION_LAYOUT: parse_layout(p, optarg); break;
    case OPTION_POLICY: parse_policy(p, optarg); break;
    case OPTION_PARETO: p->line.options.explores = true; break;
    case OPTION_PREDICT: p->line.predicts = optarg; break;
    case OPTION_FUSE: p->line.options.fuse = FUSE_ALWAYS; break;
    case OPTION_NO_FUSE: p->line.options.fuse = FUSE_NEVER; break;
    case OPTION_DEBUG_MODE: p->line.options.debug_mode = true; break;
    case OPTION_NO_BOUNDS: p->line.options.bounds_checks = false; break;
    case OPTION_FAST_MATH: p->line.options.fast_math = true; break;
    case OPTION_LINKER: p->line.options.linker = optarg; break;
    case OPTION_COLOUR: parse_colour(p, optarg); break;
    case OPTION_DIAGNOSTICS:
        refuse_problem(p, diagnostic_options_format(&p->line.diagnostics, p->arena, optarg));
        break;
    case OPTION_MIN_LEVEL:
        refuse_problem(p, diagnostic_options_min_level(&p->line.diagnostics, optarg));
        break;
    case OPTION_FAIL_ON:
        refuse_problem(p, diagnostic_options_fail_on(&p->line.diagnostics, optarg));
        break;
    case OPTION_ERROR_LIMIT:
        refuse_problem(p, diagnostic_options_error_limit(&p->line.diagnostics, optarg));
        break;
    case OPTION_FIX: p->line.fix = true; break;
    case OPTION_BASELINE: p->line.diagnostics.baseline = optarg; break;
    case OPTION_WRITE_BASELINE: p->line.diagnostics.new_baseline = optarg; break;
    case OPTION_VERSION: show_version(p, optarg); break;
    case OPTION_TIME_REPORT: p->line.time_report = true; break;
    case OPTION_WRITE_IF_CHANGED: p->line.write_if_changed = true; break;
    case OPTION_JSON: p->line.as_json = true; break;
    case OPTION_TRACE_DEADLOCK:
        p->line.traces_deadlock = true;
        p->line.counterexample = optarg;
        if (optarg != NULL && optarg[0] == '\0')
            refuse_line(p, "%s", "--trace-deadlock= needs the name of a file");
        break;
    case 'W':
        refuse_problem(p, diagnostic_options_warning(&p->line.diagnostics, p->arena, optarg));
        break;
    case 'M': parse_dependencies(p, optarg, argv); break;
    case ':': refuse_line(p, "option '%s' needs a value", argv[optind - 1]); break;
    default: refuse_unknown(p, argv); break;
    }
}

/* Parses the first argument, which may name a command. */
static int parse_command(struct parser *p, int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "inspect") != 0) return 1;
    p->line.action = COMMAND_INSPECT;
    return 2;
}

/* True for a word in the place of a command that names no file. */
static bool looks_like_command(const char *word)
{
    return word[0] != '-' && strpbrk(word, "./\\") == NULL && access(word, F_OK) != 0;
}

static void refuse_command(struct parser *p, const char *word)
{
    const char *nearest = p->nearest_command(word);
    if (nearest != NULL && strcmp(nearest, word) == 0) {
        refuse_line(p, "the command '%s' stands before all options", word);
        return;
    }
    refuse_line(
        p, "%s",
        nearest != NULL
            ? arena_printf(p->arena, "there is no command '%s'; did you mean '%s'?", word, nearest)
            : arena_printf(p->arena, "there is no command '%s', and no such file", word));
}

static void check_command_line(struct parser *p, int argc, char **argv)
{
    if (p->line.action != COMMAND_COMPILE && p->line.action != COMMAND_INSPECT) return;
    if (optind >= argc)
        refuse_line(p, "no %s", "input file");
    else if (p->line.action == COMMAND_COMPILE && looks_like_command(argv[optind]))
        refuse_command(p, argv[optind]);
    else if (optind + 1 < argc)
        refuse_line(p, "a second input file '%s': one is compiled at a time", argv[optind + 1]);
    else if (p->line.fix && p->line.action == COMMAND_INSPECT)
        refuse_line(p, "%s", "--fix does not belong to 'pipec inspect'");
    else if (p->line.emit != EMIT_NONE && p->line.action == COMMAND_INSPECT)
        refuse_line(p, "%s", "--emit does not belong to 'pipec inspect'");
    else if (p->line.output != NULL &&
             (p->line.emit != EMIT_NONE || p->line.action == COMMAND_INSPECT))
        refuse_line(p, "%s", "-o writes a container; --emit=KIND:FILE says where the rest goes");
    else if (p->line.as_json && p->line.action != COMMAND_INSPECT)
        refuse_line(p, "%s", "--json belongs to 'pipec inspect'");
    else if (p->line.traces_deadlock && p->line.action != COMMAND_INSPECT)
        refuse_line(p, "%s", "--trace-deadlock belongs to 'pipec inspect'");
    else if (p->line.counterexample != NULL && strcmp(p->line.counterexample, "-") == 0)
        refuse_line(p, "%s",
                    "--trace-deadlock=FILE: the sequence goes to standard output, FILE is a file");
    else if (p->line.options.explores && p->line.action != COMMAND_INSPECT)
        refuse_line(p, "%s", "--pareto belongs to 'pipec inspect'");
    else if (p->line.options.explores && p->line.traces_deadlock)
        refuse_line(p, "%s",
                    "--pareto and --trace-deadlock are two inspections: ask for one at a time");
    else if (p->line.predicts != NULL && p->line.action != COMMAND_INSPECT)
        refuse_line(p, "%s", "--predict belongs to 'pipec inspect'");
    else if (p->line.predicts != NULL && (p->line.options.explores || p->line.traces_deadlock))
        refuse_line(
            p, "%s",
            "--predict, --pareto and --trace-deadlock are inspections: ask for one at a time");
    else if (p->line.options.debug_mode && (p->line.options.explores || p->line.traces_deadlock))
        refuse_line(p, "%s", "--debug-mode does not go with --pareto or --trace-deadlock");
    else if (p->line.options.debug_mode && p->line.options.buffers == BUFFERS_FAST)
        refuse_line(p, "%s",
                    "--debug-mode makes all buffers smallest: --buffers=fast contradicts it");
    else if (p->line.options.debug_mode && p->line.options.fuse == FUSE_ALWAYS)
        refuse_line(p, "%s", "--debug-mode runs every kernel by itself: --fuse contradicts it");
    else if (p->line.options.debug_mode && p->line.options.layout != LAYOUT_ANY &&
             p->line.options.layout != LAYOUT_SEQUENCE)
        refuse_line(p, "%s", "--debug-mode runs all stages in sequence: --layout contradicts it");
    else {
        p->line.input = argv[optind];
        p->line.inputs = (const char *const *)&argv[optind];
        p->line.input_count = 1;
    }
}

static const char *path_written(const struct command_line *line)
{
    if (line->depfile.alone) return NULL;
    if (line->action == COMMAND_INSPECT) return "-";
    return line->emit != EMIT_NONE ? line->emit_path : line->output;
}

static void check_dependencies(struct parser *p)
{
    struct command_line *line = &p->line;
    struct depfile *depfile = &line->depfile;
    if (line->input == NULL) return;
    depfile->targets = p->targets.items;
    depfile->target_count = p->targets.count;
    if (!depfile->wanted) {
        if (depfile->phony_targets || depfile->path != NULL || depfile->target_count > 0)
            refuse_line(p, "%s", "-MF, -MT, -MQ and -MP need -M, -MM or -MD");
        return;
    }
    const char *written = path_written(line);
    if (!depfile_complete(depfile, line->input, depfile->alone ? line->output : written, p->arena))
        refuse_line(p, "%s", "-MD with neither a source nor an output that has a name needs -MF");
    else if (written != NULL && strcmp(written, depfile->path) == 0)
        refuse_line(p, "'%s' is to hold both the output and its dependencies", written);
}

static void check_diagnostics(struct parser *p)
{
    const struct command_line *line = &p->line;
    const char *others[] = {path_written(line), line->depfile.wanted ? line->depfile.path : NULL};
    for (size_t i = 0; i < 2 && line->input != NULL && line->action != COMMAND_USAGE; i++)
        refuse_problem(p, diagnostic_options_check(&line->diagnostics, p->arena, others[i]));
}

static struct parser begin_line_parser(struct arena *arena)
{
    return (struct parser){
        .arena = arena,
        .line = {.action = COMMAND_COMPILE,
                 .device = "sim16",
                 .diagnostics = {.fail_level = DIAG_ERROR},
                 .colour = colour_suits(STDERR_FILENO),
                 .options = {.optimisation = 2,
                             .bounds_checks = true,
                             .max_memory_bytes = UINT64_C(1) << 30}},
    };
}

static bool parser_goes_on(const struct parser *p)
{
    return p->line.action != COMMAND_USAGE && p->line.action != COMMAND_DONE;
}

static struct command_line end_line_parser(struct parser *p)
{
    const char *device = device_path(p->line.device);
    const char *baseline = p->line.diagnostics.baseline;
    if (device != NULL) vec_push(p->arena, &p->line.options.also_read, device);
    if (baseline != NULL) vec_push(p->arena, &p->line.options.also_read, baseline);
    p->line.options.import_folders = p->folders.items;
    p->line.options.import_folder_count = p->folders.count;
    p->line.options.definitions = p->definitions.items;
    p->line.options.definition_count = p->definitions.count;
    return p->line;
}

struct command_line command_line_parse(int argc, char **argv, struct arena *arena,
                                       const char *(*nearest_command)(const char *word))
{
    struct parser p = begin_line_parser(arena);
    p.nearest_command = nearest_command;
    p.longer = long_options;
    if (!response_files_expand(&argc, &argv, arena, &p.line.options)) {
        p.line.action = COMMAND_USAGE;
        return p.line;
    }
    int skip = parse_command(&p, argc, argv);
    optind = skip;
    opterr = 0;
    int option;
    while (parser_goes_on(&p) &&
           (option = getopt_long(argc, argv, ":o:p:D:I:O:W:M::j:qvh", long_options, NULL)) != -1)
        parse_option(&p, option, argv);
    check_command_line(&p, argc, argv);
    check_dependencies(&p);
    check_diagnostics(&p);
    return end_line_parser(&p);
}

/* ---- commands with options of their own ---- */

static bool command_shares(const struct command_options *own, int option)
{
    static const unsigned shared_by[] = {
#define X(option, name, argument, shared) shared,
        LONG_OPTIONS(X)
#undef X
    };
    return option == 'h' ||
           ((own->shares | ALWAYS) & shared_by[option - OPTION_BEFORE_FIRST - 1]) != 0;
}

static const char *command_letters(struct parser *p)
{
    return arena_printf(
        p->arena, ":%s%s%s%sW:j:qvh", p->own->letters, p->own->shares & SHARES_ANALYSIS ? "I:" : "",
        p->own->shares & SHARES_DEFINITIONS ? "D:" : "", p->own->shares & SHARES_CODE ? "O:" : "");
}

struct command_line command_line_parse_command(int argc, char **argv, struct arena *arena,
                                               const struct command_options *own)
{
    struct parser p = begin_line_parser(arena);
    p.own = own;
    if (own->reports) {
        p.line.colour = colour_suits(STDOUT_FILENO);
        p.line.diagnostics.on_stdout = true;
        p.line.diagnostics.fail_level = DIAG_WARNING;
        p.line.diagnostics.lint_rules = true;
    }
    p.word = argv[0];
    if (!response_files_expand(&argc, &argv, arena, &p.line.options)) {
        p.line.action = COMMAND_USAGE;
        return p.line;
    }
    const char *letters = command_letters(&p);
    /* The long options of the command itself, then those that it shares. */
    VEC(struct option) options = {0};
    for (const struct option *o = p.own->longer; o->name != NULL; o++)
        vec_push(p.arena, &options, *o);
    for (const struct option *o = long_options; o->name != NULL; o++)
        if (command_shares(p.own, o->val)) vec_push(p.arena, &options, *o);
    vec_push(p.arena, &options, (struct option){0});
    p.longer = options.items;
    optind = 1;
    opterr = 0;
    int option;
    while (parser_goes_on(&p) &&
           (option = getopt_long(argc, argv, letters, p.longer, NULL)) != -1) {
        bool letter = option != ':' && option < 256 && strchr(p.own->letters, option) != NULL;
        if (letter || option >= COMMAND_OPTION)
            refuse_problem(&p, p.own->take(p.own->data, p.arena, option, optarg));
        else
            parse_option(&p, option, argv);
    }
    for (int i = optind; parser_goes_on(&p) && i < argc; i++)
        vec_push(arena, &p.inputs, argv[i]);
    p.line.inputs = p.inputs.items;
    p.line.input_count = p.inputs.count;
    if (parser_goes_on(&p) && p.inputs.count == 0) refuse_line(&p, "no %s", "input file");
    const char *other = own->reports ? "-" : NULL;
    if (own->output != NULL) other = *own->output != NULL ? *own->output : "-";
    if (parser_goes_on(&p))
        refuse_problem(&p, diagnostic_options_check(&p.line.diagnostics, arena, other));
    return end_line_parser(&p);
}
