/* SPDX-License-Identifier: MIT */
#include "compiler/commands/test_job.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compiler/diagnostics/diag_internal.h"
#include "base/file_open.h"
#include "compiler/diagnostics/diag_set.h"

double test_clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *test_job_file(const struct test_environment *environment, const struct test_job *job,
                          const char *kind, size_t index, const char *ending)
{
    return arena_printf(environment->cx->arena, "%s/t%zu.%s%zu%s", environment->folder, job->number,
                        kind, index, ending);
}

struct diag *test_job_fail(const struct test_environment *environment, struct test_job *job,
                           struct span place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    job->story = arena_vprintf(environment->cx->arena, format, args);
    va_end(args);
    job->verdict = TEST_FAILED;
    job->place = place;
    return diag_report(environment->cx->diags, RULE_TEST_FAILED, place, "test '%s': %s",
                       job->item->name.text, job->story);
}

/* ---- tests that expect an error ---- */

/* Compares the first error with the expected rule; RULE_COUNT: there is no error. */
static void expect_refusal(const struct test_environment *environment, struct test_job *job,
                           const struct diags *found)
{
    const struct test_case *test = job->test;
    if (diag_has(found, rule_find(test->id))) {
        job->verdict = TEST_OK;
        return;
    }
    enum rule other = diag_first_error(found);
    if (other == RULE_COUNT)
        test_job_fail(environment, job, test->outcome_span, "'%s' compiles, expected error \"%s\"",
                      test->subject, test->id);
    else
        test_job_fail(environment, job, test->outcome_span,
                      "'%s' is refused with \"%s\", expected \"%s\"", test->subject, rule_id(other),
                      test->id);
}

/* ---- tests that run ---- */

/* The front end reports to the diagnostics of the whole run. The test failed if their number has
 * grown, repetitions included. */
static bool compile_test(const struct test_environment *environment, struct test_job *job,
                         struct compile *cx)
{
    struct diags *all = cx->diags;
    struct diags *own = diags_fork(environment->cx->arena, cx->diags);
    cx->diags = own;
    job->test = test_check(cx, job->program, job->item);
    if (job->test != NULL && job->test->outcome != TEST_REFUSED) {
        job->passes = passes_of_graph(cx, job->test->graph);
        passes_run(&job->passes, PASS_PLAN);
    }
    bool failed = diag_failed(own);
    diag_take(all, own);
    cx->diags = all;
    return !failed;
}

/* True for a regular file: piperun would wait for the writer of a named pipe. */
static bool is_readable_file(const char *path)
{
    int fd = file_open_input(path);
    return fd >= 0 && close(fd) == 0;
}

static bool check_files(const struct test_environment *environment, struct test_job *job,
                        const struct test_stream *streams, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct test_values *v = streams[i].values;
        if (v == NULL || v->kind != TEST_FILE || is_readable_file(v->path)) continue;
        test_job_fail(environment, job, v->span, "cannot read '%s': %s", v->path,
                      file_error_text(errno));
        return false;
    }
    return true;
}

static void start_child(const struct test_environment *environment, struct test_job *job)
{
    fflush(NULL);
    job->process = fork();
    if (job->process == 0) test_child(environment, job);
    if (job->process < 0) {
        test_job_fail(environment, job, job->test->span, "cannot start a process: %s",
                      strerror(errno));
        return;
    }
    setpgid(job->process, job->process); /* in both processes: either may be first */
    job->verdict = TEST_RUNS;
    job->deadline_seconds = test_clock_seconds() + environment->timeout_seconds;
}

static void end_front(struct test_job *job)
{
    if (job->arena != NULL) arena_destroy(job->arena);
    job->arena = NULL;
    job->test = NULL;
}

void test_job_start(const struct test_environment *environment, struct test_job *job)
{
    struct compile cx = *environment->cx;
    job->arena = cx.arena = arena_create();
    if (!compile_test(environment, job, &cx)) {
        job->verdict = TEST_FAILED;
        job->place = job->item->name.span;
        job->story = "it does not compile";
    } else if (job->test->outcome == TEST_REFUSED) {
        struct diags *found = diags_fork(cx.arena, cx.diags);
        cx.diags = found;
        struct passes passes = passes_of_graph(&cx, test_subject(&cx, job->program, job->item));
        if (!diag_failed(found)) passes_run(&passes, PASS_PLAN);
        expect_refusal(environment, job, found);
    } else if (check_files(environment, job, job->test->inputs.items, job->test->inputs.count) &&
               check_files(environment, job, job->test->expected.items,
                           job->test->expected.count)) {
        start_child(environment, job);
    }
    if (job->verdict != TEST_RUNS) end_front(job);
}

void test_job_stop(struct test_job *job)
{
    job->timed_out = true;
    kill(-job->process, job->killed ? SIGKILL : SIGTERM);
    job->killed = true;
    job->deadline_seconds = test_clock_seconds() + 2;
}

/* ---- the end of a run ---- */

enum { PIPERUN_FAULT = 4 }; /* the exit status: a kernel has faulted */

/* The text that the child wrote to standard error, up to a maximum. */
static const char *child_words(const struct test_environment *environment,
                               const struct test_job *job)
{
    enum { MOST = 16384 };
    char *text = arena_alloc(environment->cx->arena, MOST);
    FILE *file = fopen(test_job_file(environment, job, "err", 0, ".txt"), "rb");
    size_t length = file != NULL ? fread(text, 1, MOST - 1, file) : 0;
    if (file != NULL) fclose(file);
    /* fread returns no more than was asked for.
     * NOLINTNEXTLINE(clang-analyzer-security.ArrayBound) */
    while (length > 0 && text[length - 1] == '\n')
        length--;
    return arena_string(environment->cx->arena, text, length);
}

static void note_lines(struct diag *d, struct arena *arena, const char *text)
{
    for (const char *end; *text != '\0'; text = *end == '\0' ? end : end + 1) {
        end = strchrnul(text, '\n');
        diag_note(d, "%s", arena_string(arena, text, (size_t)(end - text)));
    }
}

static void fail_with_words(const struct test_environment *environment, struct test_job *job,
                            const char *story)
{
    const char *words = child_words(environment, job);
    struct diag *d = test_job_fail(environment, job, job->test->span, "%s", story);
    note_lines(d, environment->cx->arena, words);
}

/* Cuts the last error of piperun out of its text; "": there is none. */
static const char *cut_error(struct arena *arena, const char **words)
{
    static const char sign[] = "piperun: error: ";
    const char *line = NULL;
    for (const char *at = *words; at != NULL; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
        if (strncmp(at, sign, sizeof sign - 1) == 0) line = at;
    if (line == NULL) return "";
    size_t length = strcspn(line, "\n");
    const char *behind = line[length] == '\n' ? line + length + 1 : line + length;
    const char *error = arena_string(arena, line + sizeof sign - 1, length - (sizeof sign - 1));
    *words = arena_printf(arena, "%.*s%s", (int)(line - *words), *words, behind);
    return error;
}

/* Reports why the run has failed, in the words of piperun. */
static void fail_with_status(const struct test_environment *environment, struct test_job *job,
                             int status)
{
    struct arena *arena = environment->cx->arena;
    const char *words = child_words(environment, job);
    const char *error = cut_error(arena, &words);
    const char *how = status == PIPERUN_FAULT
                          ? "the run ends in a fault"
                          : arena_printf(arena, "the run ends with exit status %d", status);
    struct diag *d = test_job_fail(environment, job, job->test->span, "%s%s%s", how,
                                   error[0] != '\0' ? ": " : "", error);
    note_lines(d, arena, words);
}

static void expect_fault(const struct test_environment *environment, struct test_job *job,
                         int status)
{
    const char *words = child_words(environment, job);
    const struct test_case *test = job->test;
    const char *id = arena_printf(environment->cx->arena, "[%s]", test->id);
    if (status == PIPERUN_FAULT && strstr(words, id) != NULL) {
        job->verdict = TEST_OK;
        return;
    }
    struct diag *d = test_job_fail(environment, job, test->outcome_span,
                                   status == 0 ? "it runs to its end, expected fault \"%s\""
                                               : "it does not end in the fault \"%s\"",
                                   test->id);
    note_lines(d, environment->cx->arena, words);
}

static void expect_outputs(const struct test_environment *environment, struct test_job *job)
{
    for (size_t i = 0; i < job->test->expected.count; i++)
        if (!test_compare(environment, job, i)) return;
    job->verdict = TEST_OK;
}

void test_job_finish(const struct test_environment *environment, struct test_job *job, int status)
{
    struct arena *arena = environment->cx->arena;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (job->timed_out)
        fail_with_words(
            environment, job,
            arena_printf(arena, "it has not ended after %g seconds", environment->timeout_seconds));
    else if (code < 0)
        fail_with_words(
            environment, job,
            arena_printf(arena, "its process was ended by signal %d", WTERMSIG(status)));
    else if (code == CHILD_NO_PIPERUN)
        fail_with_words(environment, job, "piperun cannot be started");
    else if (code == CHILD_REFUSED)
        fail_with_words(environment, job, "it cannot be compiled");
    else if (code == CHILD_FILES)
        fail_with_words(environment, job, "its files cannot be written");
    else if (job->test->outcome == TEST_FAULTS)
        expect_fault(environment, job, code);
    else if (code != 0)
        fail_with_status(environment, job, code);
    else
        expect_outputs(environment, job);
    end_front(job);
}
