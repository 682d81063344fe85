#include "compiler/driver/passes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/ir/analysis.h"
#include "compiler/codegen/codegen.h"
#include "compiler/optimize/constant_tables.h"
#include "compiler/optimize/region/linear.h"
#include "compiler/optimize/region/dead_work.h"
#include "compiler/optimize/region/strands.h"
#include "compiler/sema/sema.h"
#include "compiler/diagnostics/diag_list.h"
#include "compiler/context/embedded_library.h"
#include "compiler/support/source_paths.h"
#include "compiler/syntax/parse.h"
#include "compiler/context/phase_times.h"
#include "base/file_open.h"

int refusal_status(const struct compile *cx)
{
    switch (cx->halt) {
    case HALT_RESOURCES: return EXIT_FILES;
    case HALT_INTERNAL: return EXIT_INTERNAL;
    case HALT_NONE: break;
    }
    return EXIT_REFUSED;
}

/* ---- files ---- */

int file_failure(const char *what, const char *path)
{
    if (errno == EPIPE) return EXIT_DONE; /* the reader has what it wanted */
    const char *reason = file_error_text(errno);
    bool writes = strcmp(what, "write") == 0;
    if (strcmp(path, "-") == 0)
        fprintf(stderr, "pipec: error: cannot %s %s: %s\n", what,
                writes ? "to standard output" : "from standard input", reason);
    else
        fprintf(stderr, "pipec: error: cannot %s '%s': %s\n", what, path, reason);
    return EXIT_FILES;
}

int folder_too_deep(const char *path)
{
    fprintf(stderr,
            "pipec: error: '%s' is more than %d folders deep and is left out: name it, or a folder "
            "near it, as well\n",
            path, SOURCE_FOLDERS_MAX);
    return EXIT_FILES;
}

int standard_output_status(void)
{
    errno = EIO; /* of a failure that an earlier write met */
    return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_DONE : file_failure("write", "-");
}

bool file_is_same(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino && S_ISREG(one.st_mode);
}

static bool is_source(const struct compile *cx, const char *path)
{
    for (uint32_t id = 1; id <= source_count(cx->sources); id++)
        if (source_is_file(cx->sources, id) &&
            file_is_same(path, source_get(cx->sources, id)->name))
            return true;
    return false;
}

bool refuse_over_source(const struct compile *cx, const char *what, const char *path)
{
    if (path == NULL || !is_source(cx, path)) return false;
    bool input = file_is_same(path, source_get(cx->sources, 1)->name);
    fprintf(stderr, "pipec: error: the %s '%s' is %s\n", what, path,
            input ? "the input" : "a source");
    return true;
}

int input_read(struct compile *cx, const char *path, uint32_t *source)
{
    switch (source_read(cx->sources, path, source)) {
    case SOURCE_OK: return EXIT_DONE;
    case SOURCE_TOO_LARGE:
        fprintf(stderr, "pipec: error: '%s' is larger than %u MiB\n", path, SOURCE_MAX_BYTES >> 20);
        return EXIT_REFUSED;
    case SOURCE_NOT_FOUND: errno = ENOENT; return file_failure("read", path);
    case SOURCE_UNREADABLE: break;
    }
    return file_failure("read", path);
}

/* The file that the embedded library was made from, under any folder. */
static bool is_mathematics(const char *name)
{
    static const char ending[] = "std/math.pipe";
    size_t length = strlen(name), tail = sizeof ending - 1;
    return length >= tail && strcmp(name + length - tail, ending) == 0 &&
           (length == tail || name[length - tail - 1] == '/');
}

struct search {
    const struct intern *names;
    bool found;
};

static bool look_for(void *data, const char *word, size_t length)
{
    struct search *search = data;
    search->found = intern_find(search->names, word, length) != NULL;
    return !search->found;
}

/* Every word of the program is interned. */
static bool may_use_mathematics(const struct compile *cx)
{
    struct search search = {.names = cx->names};
    library_mathematics_each(look_for, &search);
    return search.found;
}

void library_add(struct compile *cx, struct ast_program *program)
{
    uint32_t source;
    if (!may_use_mathematics(cx)) return;
    struct ast_file **last = &program->files;
    if (*last == NULL) return;
    for (; *last != NULL; last = &(*last)->next)
        if (is_mathematics(source_get(cx->sources, (*last)->source)->name)) return;
    if (source_import(cx->sources, program->files->source, "std/math.pipe", NULL, 0, &source) !=
        SOURCE_OK)
        return;
    *last = parse_program(cx, source)->files;
}

static void analyse_bodies(struct compile *cx, struct graph *graph)
{
    range_check_bodies(cx, graph);
    wraps_check_bodies(cx, graph);
    group_check_bodies(cx, graph);
}

/* Errors of one kernel do not hide those of another. */
static void analyse_sound_kernels(struct compile *cx)
{
    if (cx->sound == NULL) return;
    amplify_infer_rates(cx, cx->sound);
    analyse_bodies(cx, cx->sound);
}

bool program_complete(struct compile *cx, struct ast_program *program)
{
    bool whole = !diag_failed(cx->diags);
    library_add(cx, program);
    if (whole) return true;
    cx->sound = NULL;
    sema_check_damaged(cx, program);
    analyse_sound_kernels(cx);
    return false;
}

struct graph *program_elaborate(struct compile *cx, const struct ast_program *program)
{
    cx->sound = NULL;
    struct graph *graph = sema_elaborate(cx, program);
    if (graph == NULL) analyse_sound_kernels(cx);
    return graph;
}

bool is_description_name(const char *name)
{
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".dev") == 0;
}

static bool is_description_file(const char *device)
{
    return strchr(device, '/') != NULL || is_description_name(device);
}

static struct span description_span(uint32_t source, struct devdesc_place place)
{
    return (struct span){source, (uint32_t)place.begin, (uint32_t)place.end};
}

static void report_description(struct compile *cx, uint32_t source,
                               const struct devdesc_finding *finding)
{
    enum rule rule = finding->severity == DEVDESC_ERROR ? RULE_DEVICE : RULE_DEVICE_DOUBTFUL;
    struct diag *d = diag_report(cx->diags, rule, description_span(source, finding->place), "%s",
                                 finding->message);
    if (finding->caret[0]) diag_primary(d, "%s", finding->caret);
    if (finding->other.line)
        diag_label(d, description_span(source, finding->other), "%s", finding->other_text);
    if (finding->note[0]) diag_note(d, "%s", finding->note);
    if (finding->help[0]) diag_help(d, "%s", finding->help);
}

bool device_read(struct compile *cx, uint32_t source, struct devdesc *device)
{
    struct devdesc_findings findings;
    const struct source *text = source_get(cx->sources, source);
    bool valid = devdesc_parse(text->bytes, text->size_bytes, device, &findings);
    for (size_t i = 0; i < findings.count; i++)
        report_description(cx, source, &findings.items[i]);
    return valid;
}

static int load_device_file(struct compile *cx, const char *path, struct devdesc *device)
{
    uint32_t id;
    int status = input_read(cx, path, &id);
    if (status != EXIT_DONE) return status;
    return device_read(cx, id, device) ? EXIT_DONE : EXIT_REFUSED;
}

int device_load(struct compile *cx, const char *name, struct devdesc *device)
{
    if (strncmp(name, "sim:", 4) == 0) /* as piperun takes a file */
        return load_device_file(cx, name + 4, device);
    if (is_description_file(name)) return load_device_file(cx, name, device);
    if (devdesc_builtin(name, device)) return EXIT_DONE;
    char why[DEVDESC_WHY_BYTES];
    devdesc_explain_name(name, "", why, sizeof why);
    fprintf(stderr, "pipec: error: %s\n", why);
    return EXIT_FILES;
}

/* ---- passes ---- */

static bool is_clean(const struct compile *cx, size_t errors)
{
    return diag_error_count(cx->diags) == errors;
}

struct verdict analyse_graph_further(struct compile *cx, struct graph *graph)
{
    struct verdict verdict = {0};
    if (!operations_check_bodies(cx, graph)) return verdict;
    size_t errors = diag_error_count(cx->diags);
    amplify_infer_rates(cx, graph);
    verdict.rates_inferred = is_clean(cx, errors);
    analyse_bodies(cx, graph);
    if (!verdict.rates_inferred) return verdict;
    cost_estimate(cx, graph);
    errors = diag_error_count(cx->diags);
    rate_solve(cx, graph);
    if (is_clean(cx, errors)) verdict.consistent = KNOWN_TRUE;
    if (diag_has(cx->diags, RULE_INCONSISTENT_RATES)) verdict.consistent = KNOWN_FALSE;
    if (verdict.consistent != KNOWN_TRUE) return verdict;
    bounded_check(cx, graph);
    deadlock_check(cx, graph);
    if (diag_has(cx->diags, RULE_DEADLOCK)) verdict.deadlock_free = KNOWN_FALSE;
    if (!is_clean(cx, errors)) return verdict;
    bufsize_assign(cx, graph);
    verdict.depths_assigned = is_clean(cx, errors);
    bool proven = verdict.depths_assigned && !graph->unproven;
    verdict.deadlock_free = proven ? KNOWN_TRUE : UNKNOWN;
    if (diag_has(cx->diags, RULE_DEPTH_TOO_SMALL) || diag_has(cx->diags, RULE_BUFFER_BELOW_BURST))
        verdict.deadlock_free = KNOWN_FALSE;
    return verdict;
}

bool analyse_graph(struct compile *cx, struct graph *graph)
{
    (void)analyse_graph_further(cx, graph);
    return !diag_failed(cx->diags);
}

/* The graph that a pass made, analysed; the one before where there is none, or it cannot be. */
static struct graph *analysed_instead(struct compile *cx, struct graph *made, struct graph *before)
{
    if (made == NULL) return before;
    struct diags *reported = cx->diags;
    cx->diags = diags_create(cx->arena, cx->sources);
    bool good = analyse_graph(cx, made);
    cx->diags = reported;
    return good ? made : before;
}

/* With filters in the frequency domain; if that leads to rates or depths that cannot be, without. */
static struct graph *collapse_filters(struct compile *cx, struct graph *graph)
{
    struct graph *collapsed = analysed_instead(cx, linear_collapse(cx, graph, true), graph);
    if (collapsed != graph) return collapsed;
    return analysed_instead(cx, linear_collapse(cx, graph, false), graph);
}

struct graph *reduce_work(struct compile *cx, struct graph *graph, const struct devdesc *device)
{
    if (!fuse_wanted(cx, device) || graph->unproven) return graph;
    if (cx->options.fast_math) graph = collapse_filters(cx, graph);
    graph = analysed_instead(cx, reduce_graph(cx, graph), graph);
    if (device->host == 0) return graph;
    return analysed_instead(cx, strand_graph(cx, graph, device), graph);
}

void settle_tables(struct compile *cx, struct graph *graph, const struct devdesc *device)
{
    if (fuse_wanted(cx, device)) tables_to_constants(cx, graph);
}

struct plan *plan_graph(struct compile *cx, struct graph *graph, const struct devdesc *device)
{
    if (cx->options.debug_mode) debug_cut_depths(cx, graph);
    return plan_place(cx, graph, device);
}

bool container_write(struct compile *cx, const struct graph *graph, const struct plan *plan,
                     FILE *to)
{
    struct kernel_image *image = kernel_compile(cx, graph);
    if (image == NULL) return false;
    enum compile_phase before = phase_begin(cx, PHASE_CONTAINER);
    struct sched_program *program = sched_emit(cx, graph, plan);
    struct container_bytes bytes = container_build(cx, graph, plan, program, image);
    phase_resume(cx, before);
    return fwrite(bytes.bytes, 1, bytes.size_bytes, to) == bytes.size_bytes;
}
