/* SPDX-License-Identifier: MIT */
/*
 * test_child: the child process of a test: writes packets and container to files, then becomes piperun.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/codegen/common/foreign_files.h"
#include "compiler/commands/test_job.h"
#include "compiler/diagnostics/diag_set.h"
#include "compiler/support/output.h"

struct child {
    const struct test_environment *environment;
    const struct test_job *job;
    struct compile cx;
};

/* Writes the diagnostics as text to stderr, which the parent reads. */
_Noreturn static void give_up(struct child *child, int status)
{
    if (child->cx.diags != NULL && diag_failed(child->cx.diags)) {
        diag_flush(child->cx.diags, stderr, false);
        status = CHILD_REFUSED;
    }
    exit(status);
}

_Noreturn static void cannot_write(struct child *child, const char *path)
{
    if (!diag_failed(child->cx.diags))
        fprintf(stderr, "cannot write '%s': %s\n", path, strerror(errno));
    give_up(child, CHILD_FILES);
}

/* ---- the process ---- */

static void redirect_descriptor(int descriptor, const char *path, int flags)
{
    int file = open(path, flags, 0600);
    if (file < 0) return;
    dup2(file, descriptor);
    if (file != descriptor) close(file);
}

/* Creates a process group, so that all its processes can be stopped. The child ends with its
 * parent. */
static void isolate_process(const struct child *child)
{
    sigset_t none;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    redirect_descriptor(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect_descriptor(STDERR_FILENO,
                        test_job_file(child->environment, child->job, "err", 0, ".txt"),
                        O_WRONLY | O_CREAT | O_TRUNC);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    cleanup_disown(); /* the folder belongs to the parent; handlers are inherited */
}

/* ---- files ---- */

static void write_test_container(struct child *child, struct passes *passes, const char *path)
{
    if (!passes_run(passes, PASS_CONTAINER)) give_up(child, CHILD_REFUSED);
    const struct container_bytes *container = &passes->container;
    FILE *file = fopen(path, "wb");
    if (file == NULL) cannot_write(child, path);
    bool ok = fwrite(container->bytes, 1, container->size_bytes, file) == container->size_bytes;
    if (fclose(file) != 0 || !ok) cannot_write(child, path);
}

static void write_value_file(struct child *child, const struct test_values *values,
                             const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL) cannot_write(child, path);
    bool ok = test_values_write(&child->cx, values, file);
    if (fclose(file) != 0 || !ok) cannot_write(child, path);
}

/* Links the file under a plain name with the same ending, from which piperun takes the format. */
static const char *link_test_file(struct child *child, const char *kind, size_t index,
                                  const char *path)
{
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') : path;
    const char *ending = strrchr(name, '.') != NULL ? strrchr(name, '.') : "";
    if (strspn(ending, ".abcdefghijklmnopqrstuvwxyz0123456789") != strlen(ending)) ending = "";
    const char *link = test_job_file(child->environment, child->job, kind, index, ending);
    char *whole = realpath(path, NULL);
    if (whole == NULL || symlink(whole, link) != 0) cannot_write(child, link);
    free(whole);
    return link;
}

/* ---- piperun ---- */

typedef VEC(char *) word_list;

static const char *base_name(const char *path)
{
    return strrchr(path, '/') + 1;
}

static word_list piperun_words(struct child *child, const char *container)
{
    struct arena *arena = child->cx.arena;
    word_list words = {0};
    vec_push(arena, &words, (char *)child->environment->piperun);
    vec_push(arena, &words, "-q");
    vec_push(arena, &words, "--device");
    vec_push(arena, &words, (char *)child->environment->device_name);
    vec_push(arena, &words, (char *)base_name(container));
    return words;
}

static void add_binding(struct child *child, word_list *words, const char *port, const char *path,
                        const char *format)
{
    vec_push(child->cx.arena, words,
             arena_printf(child->cx.arena, "%s=%s%s", port, base_name(path), format));
}

_Noreturn static void execute_piperun(struct child *child, word_list *words)
{
    vec_push(child->cx.arena, words, NULL);
    if (chdir(child->environment->folder) == 0) execvp(words->items[0], words->items);
    fprintf(stderr, "cannot start '%s': %s\n", words->items[0], strerror(errno));
    _exit(CHILD_NO_PIPERUN);
}

/* Converts a file of any format that piperun reads, by a pipeline that copies packets. */
static void convert_file(struct child *child, size_t index, const struct type *type,
                         const char *from, const char *to)
{
    const char *container = test_job_file(child->environment, child->job, "copy", index, ".pbc");
    struct graph *graph = test_copy_graph(&child->cx, child->job->program, type);
    if (graph == NULL) give_up(child, CHILD_FILES);
    struct passes passes = passes_of_graph(&child->cx, graph);
    write_test_container(child, &passes, container);
    word_list words = piperun_words(child, container);
    add_binding(child, &words, "x", link_test_file(child, "file", index, from), "");
    add_binding(child, &words, "y", to, ",raw");
    fflush(NULL);
    pid_t process = fork();
    if (process == 0) execute_piperun(child, &words);
    int status = -1;
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR)
        continue;
    if (status != 0) exit(WIFEXITED(status) ? WEXITSTATUS(status) : CHILD_FILES);
}

static const struct test_stream *test_input_of(const struct test_case *test, uint32_t buffer)
{
    for (size_t i = 0; i < test->inputs.count; i++)
        if (test->inputs.items[i].buffer == buffer) return &test->inputs.items[i];
    return NULL;
}

/* Binds an in-port. One that is not set is the empty stream. */
static void bind_input(struct child *child, word_list *words, uint32_t buffer)
{
    const struct test_case *test = child->job->test;
    const struct test_stream *input = test_input_of(test, buffer);
    const char *port = test->graph->buffers.items[buffer].name;
    const struct test_values *values = input != NULL ? input->values : NULL;
    if (values != NULL && values->kind == TEST_FILE) {
        add_binding(child, words, port, link_test_file(child, "in", buffer, values->path), "");
        return;
    }
    const char *path = test_job_file(child->environment, child->job, "in", buffer, ".raw");
    write_value_file(child, values, path);
    add_binding(child, words, port, path, ",raw");
}

static void bind_output(struct child *child, word_list *words, uint32_t buffer)
{
    const struct test_case *test = child->job->test;
    const char *port = test->graph->buffers.items[buffer].name;
    for (size_t i = 0; i < test->expected.count; i++) {
        const struct test_stream *expected = &test->expected.items[i];
        if (expected->buffer != buffer) continue;
        const char *path = test_job_file(child->environment, child->job, "expected", i, ".raw");
        if (expected->values != NULL && expected->values->kind == TEST_FILE)
            convert_file(child, i, expected->values->type, expected->values->path, path);
        else
            write_value_file(child, expected->values, path);
        add_binding(child, words, port,
                    test_job_file(child->environment, child->job, "out", i, ".raw"), ",raw");
        return;
    }
    vec_push(child->cx.arena, words, arena_printf(child->cx.arena, "%s=null", port));
}

void test_child(const struct test_environment *environment, const struct test_job *job)
{
    struct child child = {.environment = environment, .job = job, .cx = *environment->cx};
    child.cx.arena = job->arena;
    child.cx.diags = diags_fork(job->arena, environment->cx->diags);
    isolate_process(&child);
    const struct graph *graph = job->test->graph;
    const char *container = test_job_file(environment, job, "program", 0, ".pbc");
    word_list words = piperun_words(&child, container);
    for (uint32_t i = 0; i < graph->buffers.count; i++) {
        enum graph_outer outer = graph->buffers.items[i].outer;
        if (outer == GRAPH_OUTER_IN) bind_input(&child, &words, i);
        if (outer == GRAPH_OUTER_OUT) bind_output(&child, &words, i);
    }
    struct passes passes = job->passes;
    passes.cx = &child.cx;
    write_test_container(&child, &passes, container);
    /* The author of a test wants the libraries that its sources name. */
    const struct foreign_files *files = child.cx.foreign;
    for (size_t i = 0; files != NULL && i < files->items.count; i++)
        if (files->items.items[i].soname != NULL)
            vec_push(
                child.cx.arena, &words,
                arena_printf(child.cx.arena, "--allow-library=%s", files->items.items[i].soname));
    execute_piperun(&child, &words);
}
