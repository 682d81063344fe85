/* SPDX-License-Identifier: MIT */
/*
 * pipec test: runs the test blocks of files.
 *
 * Tests start in order, up to a maximum at a time, and are reported in order.  Signals are blocked, and
 * handled only at the point where the run waits, so every path removes its files.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/diagnostics/diag_set.h"
#include "compiler/driver/command_line.h"
#include "compiler/commands/command_lint.h"
#include "compiler/commands/commands.h"
#include "compiler/commands/piperun_path.h"
#include "compiler/commands/test_job.h"
#include "compiler/driver/driver_files.h"
#include "compiler/driver/passes.h"
#include "compiler/sema/sema.h"
#include "compiler/support/output.h"
#include "compiler/target/target.h"

static const char help_text[] =
    "usage: pipec test [options] PATH...\n"
    "\n"
    "Compiles the tested kernels and pipelines, runs them with piperun, and compares the outputs.\n"
    "\n"
    "  -k PATTERN            only tests whose name matches: with * ? [...] as a whole, else in "
    "part;\n"
    "                        repeatable\n"
    "  --list                print the tests, run none\n"
    "  -j N                  tests at a time (default: one per processor)\n"
    "  --format=text|tap     how results are printed (default text)\n"
    "  --timeout SECONDS     a test that runs longer fails (default 60)\n"
    "  --piperun PATH        default: the piperun beside pipec, else the one in PATH\n"
    "  --device NAME|F.dev   the device to compile for and to run on (default sim16)\n"
    "  -I, -O, --march, --buffers, --max-memory, --no-bounds-checks, --fast-math, --linker,\n"
    "  --color, --diagnostics, -W, --min-level, --fail-on, @FILE   as in 'pipec --help'\n"
    "  -q                    print failures only\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec test smooth.pipe\n"
    "  $ pipec test -k ramp --format=tap .\n"
    "  $ pipec test --device=cpu smooth.pipe\n"
    "\n"
    "Exit status: 0 every test does what it expects, 1 one does not or is refused, 2 usage or "
    "files.\n";

enum { OPTION_LIST = COMMAND_OPTION, OPTION_FORMAT, OPTION_TIMEOUT, OPTION_PIPERUN };

struct test_options {
    VEC(const char *) patterns;
    bool list, tap;
    unsigned jobs;
    double timeout_seconds;
    const char *piperun;
};

struct test_run {
    struct command_line *line;
    const struct test_options *options;
    struct test_environment environment;
    struct compile *cx;
    VEC(struct test_job *) jobs;
    size_t started, reported, running, passed, failed;
    size_t files_refused;
    int interrupted; /* the signal that ends the run */
};

/* ---- options ---- */

static const char *take_positive_number(const char *value, double most, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(value, &end);
    bool good = end != value && *end == '\0' && errno == 0 && *out > 0 && *out <= most;
    return good ? NULL : "a number above zero is needed";
}

static const char *take_test_option(void *data, struct arena *arena, int option, const char *value)
{
    struct test_options *options = data;
    const char *problem;
    switch (option) {
    case 'k': vec_push(arena, &options->patterns, value); return NULL;
    case OPTION_LIST: options->list = true; return NULL;
    case OPTION_TIMEOUT:
        problem = take_positive_number(value, 1e9, &options->timeout_seconds);
        return problem != NULL ? arena_printf(arena, "--timeout %s: %s", value, problem) : NULL;
    case OPTION_PIPERUN: options->piperun = value; return NULL;
    case OPTION_FORMAT:
        options->tap = strcmp(value, "tap") == 0;
        if (options->tap || strcmp(value, "text") == 0) return NULL;
        return arena_printf(arena, "--format=%s: text or tap", value);
    default: return "unknown option";
    }
}

static struct command_line parse_line(int argc, char **argv, struct arena *arena,
                                      struct test_options *options)
{
    static const struct option longer[] = {{"list", no_argument, NULL, OPTION_LIST},
                                           {"format", required_argument, NULL, OPTION_FORMAT},
                                           {"timeout", required_argument, NULL, OPTION_TIMEOUT},
                                           {"piperun", required_argument, NULL, OPTION_PIPERUN},
                                           {NULL, 0, NULL, 0}};
    const struct command_options own = {.help = help_text,
                                        .letters = "k:",
                                        .longer = longer,
                                        .take = take_test_option,
                                        .data = options,
                                        .shares = SHARES_ANALYSIS | SHARES_CODE};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *options = (struct test_options){.timeout_seconds = 60};
    struct command_line line = command_line_parse_command(argc, argv, arena, &own);
    line.options.checks_purity = true;
    options->jobs = line.jobs;
    if (options->jobs == 0) options->jobs = processors > 0 ? (unsigned)processors : 1;
    if (options->jobs > COMMAND_JOBS_MAX) options->jobs = COMMAND_JOBS_MAX;
    return line;
}

/* ---- selection ---- */

static bool name_matches(const struct test_options *options, struct arena *arena, const char *name)
{
    for (size_t i = 0; i < options->patterns.count; i++) {
        const char *pattern = options->patterns.items[i];
        bool whole = strpbrk(pattern, "*?[") != NULL;
        if (!whole) pattern = arena_printf(arena, "*%s*", pattern);
        if (fnmatch(pattern, name, 0) == 0) return true;
    }
    return options->patterns.count == 0;
}

/* A file with errors has no tests. */
static int read_tests(struct test_run *run, const char *path)
{
    struct compile *cx = run->cx;
    uint32_t source;
    int status = input_read(cx, path, &source);
    if (status == EXIT_REFUSED) run->files_refused++;
    if (status != EXIT_DONE) return status == EXIT_REFUSED ? EXIT_DONE : status;
    struct diags *all = cx->diags;
    struct diags *own = cx->diags = diags_fork(cx->arena, all);
    struct passes passes = passes_of_source(cx, source);
    if (passes_run(&passes, PASS_RECOVERY)) sema_check(cx, passes.program, NULL);
    bool failed = diag_failed(own);
    diag_take(all, own);
    cx->diags = all;
    run->files_refused += failed;
    if (!failed) {
        for (const struct ast_item *item = passes.program->files->items; item != NULL;
             item = item->next) {
            if (item->kind != AST_ITEM_TEST ||
                !name_matches(run->options, run->cx->arena, item->name.text))
                continue;
            struct test_job *job = ARENA_NEW(run->cx->arena, struct test_job);
            *job = (struct test_job){.program = passes.program, .item = item, .file = path};
            vec_push(run->cx->arena, &run->jobs, job);
            job->number = run->jobs.count;
        }
    }
    return EXIT_DONE;
}

/* ---- paths ---- */

static bool is_executable(struct arena *arena, const char *program)
{
    if (strchr(program, '/') != NULL) return access(program, X_OK) == 0;
    const char *path = getenv("PATH");
    for (const char *end; path != NULL && *path != '\0'; path = *end == '\0' ? end : end + 1) {
        end = strchrnul(path, ':');
        const char *file = arena_printf(arena, "%.*s/%s", (int)(end - path), path, program);
        if (access(file, X_OK) == 0) return true;
    }
    return false;
}

/* The device as piperun names it: sim:FILE for a description, with a path that holds in another
 * folder. */
static const char *piperun_device(struct arena *arena, const char *name)
{
    size_t length = strlen(name);
    bool file = strchr(name, '/') != NULL || (length > 4 && strcmp(name + length - 4, ".dev") == 0);
    char *whole = file ? realpath(name, NULL) : NULL;
    const char *device = whole != NULL ? arena_printf(arena, "sim:%s", whole) : name;
    free(whole);
    return device;
}

static const char *make_folder(struct arena *arena)
{
    const char *base = getenv("TMPDIR");
    char *whole = realpath(base != NULL && *base != '\0' ? base : "/tmp", NULL);
    if (whole == NULL) return NULL;
    char *folder = arena_printf(arena, "%s/pipec-test.XXXXXX", whole);
    free(whole);
    return cleanup_make_folder(folder) ? folder : NULL;
}

/* Removes files whose names begin with `prefix`. */
static void remove_files(const char *folder, const char *prefix)
{
    DIR *directory = opendir(folder);
    if (directory == NULL) return;
    struct dirent *entry;
    int descriptor = dirfd(directory);
    while (descriptor >= 0 && (entry = readdir(directory)) != NULL)
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            unlinkat(descriptor, entry->d_name, 0);
    closedir(directory);
}

/* ---- output ---- */

static void report_finished(struct test_run *run)
{
    while (run->reported < run->jobs.count) {
        const struct test_job *job = run->jobs.items[run->reported];
        if (job->verdict != TEST_OK && job->verdict != TEST_FAILED) return;
        run->passed += job->verdict == TEST_OK;
        run->failed += job->verdict == TEST_FAILED;
        /* Prints the result of a test. Its cause is a diagnostic; TAP also has a place for it. */
        bool ok = job->verdict == TEST_OK;
        const char *name = job->item->name.text;
        if (run->options->tap) {
            printf("%s %zu - %s: %s\n", ok ? "ok" : "not ok", job->number, job->file, name);
            if (!ok) printf("# %s\n", job->story);
        } else if (ok) {
            if (!run->line->quiet) printf("ok      %s: %s\n", job->file, name);
        } else {
            const struct source *source = source_get(run->cx->sources, job->place.source);
            uint32_t line = 0, column = 0;
            if (source != NULL) source_locate(source, job->place.begin, &line, &column);
            printf("FAILED  %s: %s (%s:%u)\n", job->file, name,
                   source != NULL ? source->name : job->file, line);
        }
        fflush(stdout);
        run->reported++;
    }
}

static void print_test_summary(const struct test_run *run)
{
    if (run->options->tap || run->line->quiet) return;
    printf("%zu test%s: %zu ok, %zu failed", run->jobs.count, run->jobs.count == 1 ? "" : "s",
           run->passed, run->failed);
    if (run->files_refused > 0)
        printf(", %zu file%s refused", run->files_refused, run->files_refused == 1 ? "" : "s");
    printf("\n");
}

/* ---- the run ---- */

static void reap_tests(struct test_run *run)
{
    int status;
    pid_t process;
    while ((process = waitpid(-1, &status, WNOHANG)) > 0) {
        for (size_t i = 0; i < run->started; i++) {
            struct test_job *job = run->jobs.items[i];
            if (job->verdict != TEST_RUNS || job->process != process) continue;
            test_job_finish(&run->environment, job, status);
            char prefix[32];
            snprintf(prefix, sizeof prefix, "t%zu.", job->number);
            remove_files(run->environment.folder, prefix);
            run->running--;
        }
    }
}

static void wait_for_something(struct test_run *run, const sigset_t *signals)
{
    /* The seconds until the next deadline. Stops the children whose deadline has passed. */
    double now = test_clock_seconds(), seconds = 3600;
    for (size_t i = run->reported; i < run->started; i++) {
        struct test_job *job = run->jobs.items[i];
        if (job->verdict != TEST_RUNS) continue;
        if (job->deadline_seconds <= now) test_job_stop(job);
        double left = job->deadline_seconds - now;
        if (left < seconds) seconds = left;
    }
    struct timespec wait = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    int number = sigtimedwait(signals, NULL, &wait);
    if (number > 0 && number != SIGCHLD) run->interrupted = number;
}

static void stop_all(struct test_run *run)
{
    for (size_t i = 0; i < run->started; i++) {
        struct test_job *job = run->jobs.items[i];
        if (job->verdict != TEST_RUNS) continue;
        kill(-job->process, SIGKILL);
        waitpid(job->process, NULL, 0);
    }
}

static struct test_run *run_of_process; /* NULL: no run, or it has ended */
static pid_t process_of_run;            /* a forked process inherits the handler */

/* Stops the tests before their folder is removed, however the process ends. */
static void stop_at_exit(void)
{
    if (run_of_process != NULL && getpid() == process_of_run) stop_all(run_of_process);
}

static void run_all(struct test_run *run, const sigset_t *signals)
{
    while (run->interrupted == 0 && run->reported < run->jobs.count) {
        while (run->running < run->options->jobs && run->started < run->jobs.count) {
            struct test_job *job = run->jobs.items[run->started++];
            test_job_start(&run->environment, job);
            run->running += job->verdict == TEST_RUNS;
        }
        reap_tests(run);
        report_finished(run);
        if (run->running > 0) wait_for_something(run, signals);
    }
    if (run->interrupted != 0) stop_all(run);
}

static int execute_tests(struct test_run *run)
{
    struct arena *arena = run->cx->arena;
    struct devdesc *device = ARENA_NEW(arena, struct devdesc);
    sigset_t signals, before;
    int status = device_load(run->cx, run->line->device, device);
    if (status != EXIT_DONE) return status;
    run->cx->device = device;
    run->cx->options.depths_by_clock = target_of(device)->counts_cycles;
    run->environment = (struct test_environment){
        .cx = run->cx,
        .device = device,
        .device_name = piperun_device(arena, run->line->device),
        .piperun = piperun_path(arena, run->options->piperun),
        .timeout_seconds = run->options->timeout_seconds,
    };
    if (!is_executable(arena, run->environment.piperun)) {
        fprintf(stderr, "pipec: error: there is no program '%s': say where with --piperun PATH\n",
                run->environment.piperun);
        return EXIT_FILES;
    }
    sigemptyset(&signals);
    for (const int *n = (const int[]){SIGINT, SIGTERM, SIGHUP, SIGCHLD, 0}; *n != 0; n++)
        sigaddset(&signals, *n);
    sigprocmask(SIG_BLOCK, &signals, &before);
    run->environment.folder = make_folder(arena);
    if (run->environment.folder != NULL) {
        if (run->options->tap) printf("1..%zu\n", run->jobs.count);
        run_of_process = run;
        process_of_run = getpid();
        run_all(run, &signals);
        run_of_process = NULL;
        remove_files(run->environment.folder, "");
        cleanup_remove(run->environment.folder);
    } else {
        status = file_failure("make", "a temporary folder");
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (run->interrupted != 0) raise(run->interrupted);
    return status;
}

/* Reads a file, or all files of a folder and its subfolders, in order of their names. */
static int read_test_path(struct test_run *run, const char *path)
{
    struct lint_paths paths = {0};
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return read_tests(run, path);
    lint_paths_find(&paths, run->cx->arena, &path, 1);
    int status = paths.failed ? EXIT_FILES : EXIT_DONE;
    for (size_t i = 0; i < paths.items.count && status == EXIT_DONE; i++)
        status = read_tests(run, paths.items.items[i].path);
    return status;
}

static int run_tests(struct test_run *run)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < run->line->input_count && status == EXIT_DONE; i++)
        status = read_test_path(run, run->line->inputs[i]);
    if (status != EXIT_DONE) return status;
    if (run->jobs.count == 0 && run->options->patterns.count > 0 && run->files_refused == 0) {
        fprintf(stderr, "pipec: error: no test matches -k %s\n", run->options->patterns.items[0]);
        return EXIT_FILES;
    }
    if (run->options->list) {
        for (size_t i = 0; i < run->jobs.count; i++) {
            const struct ast_item *item = run->jobs.items[i]->item;
            printf("%s: %s of %s\n", run->jobs.items[i]->file, item->name.text,
                   item->subject->name.text);
        }
    } else if (run->jobs.count > 0)
        status = execute_tests(run);
    if (status == EXIT_DONE && !run->options->list) print_test_summary(run);
    int written = standard_output_status();
    if (written != EXIT_DONE) return written;
    if (status == EXIT_DONE && (run->failed > 0 || run->files_refused > 0)) status = EXIT_REFUSED;
    return status;
}

int command_test(int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct test_options options;
    struct command_line line = parse_line(argc, argv, arena, &options);
    int status = EXIT_FILES;
    if (line.action == COMMAND_DONE) {
        status = standard_output_status();
    } else if (line.action != COMMAND_USAGE) {
        struct compile cx = compile_begin(arena, line.options);
        struct test_run run = {.line = &line, .options = &options, .cx = &cx};
        cleanup_install();
        atexit(stop_at_exit);
        status = diagnostics_begin(&line.diagnostics, cx.diags);
        if (status == EXIT_DONE)
            status = diagnostics_end(&line.diagnostics, &cx, line.colour, run_tests(&run));
    }
    arena_destroy(arena);
    return status;
}
