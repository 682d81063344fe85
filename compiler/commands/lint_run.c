/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

#include "compiler/commands/command_lint.h"
#include "compiler/diagnostics/diag_set.h"
#include "compiler/driver/driver_files.h"
#include "compiler/driver/passes.h"
#include "compiler/sema/sema.h"
#include "base/file_open.h"

enum { STACK_BYTES = 64 << 20 }; /* enough for nested programs, also in sanitized builds */

struct pool {
    struct lint_run *run;
    pthread_mutex_t lock;
    pthread_cond_t turned;
    size_t next; /* the next file to lint */
    size_t turn; /* the next file whose findings are added */
};

/* ---- definitions of -D ---- */

static bool has_parameter(const struct ast_signature *signature, const char *name)
{
    for (const struct ast_type_param *p = signature->type_params; p != NULL; p = p->next)
        if (strcmp(p->name.text, name) == 0) return true;
    for (const struct ast_param *p = signature->params; p != NULL; p = p->next)
        if (strcmp(p->name.text, name) == 0) return true;
    return false;
}

static bool has_argument(const struct ast_file *file, const char *name)
{
    for (const struct ast_item *i = file->items; i != NULL; i = i->next)
        if (i->kind == AST_ITEM_PIPELINE && has_parameter(&i->signature, name)) return true;
    for (const struct ast_command *c = file->commands; c != NULL; c = c->next)
        if (c->kind == AST_COMMAND_ARGUMENT && c->param != NULL &&
            strcmp(c->param->name.text, name) == 0)
            return true;
    return false;
}

/* ---- one file ---- */

/* A pipeline that a test expects to be refused is elaborated only by that test. */
static bool is_expected_refusal(const struct ast_file *file, const struct ast_item *pipeline)
{
    for (const struct ast_item *i = file->items; i != NULL; i = i->next) {
        if (i->kind != AST_ITEM_TEST || i->subject == NULL ||
            i->subject->name.text != pipeline->signature.name.text)
            continue;
        for (const struct ast_check *c = i->checks; c != NULL; c = c->next)
            if (c->kind == AST_CHECK_EXPECT_NAMED && strcmp(c->name.text, "error") == 0)
                return true;
    }
    return false;
}

/* It has separate diagnostics, so errors of other pipelines do not end its analysis. */
static void lint_pipeline(struct compile *cx, struct ast_program *program, const char *name)
{
    struct diags *all = cx->diags;
    cx->diags = diags_fork(cx->arena, all);
    cx->options.pipeline = name;
    struct passes passes = passes_of_program(cx, program);
    if (passes_run(&passes, PASS_ELABORATE)) {
        passes.lints = true; /* the source itself has been linted */
        passes.next = PASS_OPERATIONS;
        passes_run(&passes, PASS_LINT_GRAPH);
    }
    diag_take_other(all, cx->diags);
    cx->diags = all;
}

/* Lints the source with one pipeline, and then every other pipeline that could be compiled. */
static void lint_source(struct pool *pool, struct compile *cx, uint32_t source)
{
    struct passes passes = passes_of_source(cx, source);
    passes.lints = true;
    if (!passes_run(&passes, PASS_RECOVERY)) {
        pthread_mutex_lock(&pool->lock);
        pool->run->incomplete = true;
        pthread_mutex_unlock(&pool->lock);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < cx->options.definition_count; i++)
        pool->run->defines[i] |=
            has_argument(passes.program->files, cx->options.definitions[i].name);
    pthread_mutex_unlock(&pool->lock);
    cx->options.pipeline_optional = cx->options.definitions_shared = true;
    passes_run(&passes, PASS_LINT_GRAPH);
    /* Sema has chosen `done`. */
    const char *done = passes.graph != NULL ? passes.graph->name : NULL;
    cx->options.pipeline_alone = true;
    for (const struct ast_item *i = passes.program->files->items; i != NULL; i = i->next) {
        if (i->kind != AST_ITEM_PIPELINE || !sema_all_defined(cx, &i->signature)) continue;
        if (done != NULL && strcmp(done, i->signature.name.text) == 0) continue;
        if (!is_expected_refusal(passes.program->files, i))
            lint_pipeline(cx, passes.program, i->signature.name.text);
    }
}

/* ---- findings ---- */

static bool source_is_linted(const struct lint_run *run, const char *name)
{
    struct stat info;
    if (stat(name, &info) != 0) return false;
    for (size_t i = 0; i < run->paths->items.count; i++)
        if (run->paths->items.items[i].device == info.st_dev &&
            run->paths->items.items[i].inode == info.st_ino)
            return true;
    return false;
}

struct filter {
    const struct lint_run *run;
    const struct compile *cx;
};

/* Of imported files, takes only errors, and only if these files are not linted themselves. */
static bool is_added_finding(void *data, const struct diag *diag)
{
    const struct filter *filter = data;
    uint32_t source = diag_span(diag).source;
    if (source <= 1) return true;
    if (diag_level(diag) != DIAG_ERROR || rule_level(diag_rule(diag)) != DIAG_ERROR) return false;
    if (source_is_library(filter->cx->sources, source)) return true;
    return !source_is_linted(filter->run, source_get(filter->cx->sources, source)->name);
}

static void add_findings(struct lint_run *run, const struct compile *cx, const char *path,
                         enum source_status status, int error)
{
    struct filter filter = {run, cx};
    if (status == SOURCE_OK) {
        diag_absorb(run->diags, run->sources, cx->diags, is_added_finding, &filter);
        return;
    }
    run->unreadable = true;
    if (status == SOURCE_TOO_LARGE)
        fprintf(stderr, "pipec: error: '%s' is larger than %u MiB\n", path, SOURCE_MAX_BYTES >> 20);
    else
        fprintf(stderr, "pipec: error: cannot read '%s': %s\n", path, file_error_text(error));
}

static void lint_file(struct pool *pool, size_t index)
{
    const struct command_line *line = pool->run->line;
    struct baseline *baseline = pool->run->baseline;
    struct arena *arena = arena_create();
    struct compile cx = compile_begin(arena, line->options);
    uint32_t source;
    diagnostics_set_levels(&line->diagnostics, cx.diags);
    if (pool->run->prepare != NULL) pool->run->prepare(pool->run->prepare_data, cx.sources);
    if (baseline != NULL) baseline_apply(baseline, &cx, true);
    const char *path = pool->run->paths->items.items[index].path;
    enum source_status status = source_read(cx.sources, path, &source);
    int error = status == SOURCE_NOT_FOUND ? ENOENT : errno;
    if (status == SOURCE_OK && devdesc_is_file_name(path)) {
        struct devdesc device;
        device_read(&cx, source, &device);
    } else if (status == SOURCE_OK) {
        lint_source(pool, &cx, source);
        diag_check_suppressions(cx.diags, !diag_failed(cx.diags));
        if (baseline != NULL && !diag_failed(cx.diags))
            baseline_examined(baseline, source_get(cx.sources, source)->name);
    }
    /* Adds findings in order of path: a thread that is early waits for its turn. */
    pthread_mutex_lock(&pool->lock);
    while (pool->turn != index)
        pthread_cond_wait(&pool->turned, &pool->lock);
    add_findings(pool->run, &cx, pool->run->paths->items.items[index].path, status, error);
    pool->turn++;
    pthread_cond_broadcast(&pool->turned);
    pthread_mutex_unlock(&pool->lock);
    arena_destroy(arena);
}

/* ---- all files ---- */

static bool take_next_file(struct pool *pool, size_t *index)
{
    pthread_mutex_lock(&pool->lock);
    bool taken = pool->next < pool->run->paths->items.count;
    if (taken) *index = pool->next++;
    pthread_mutex_unlock(&pool->lock);
    return taken;
}

static void *lint_on_thread(void *data)
{
    size_t index;
    while (take_next_file(data, &index))
        lint_file(data, index);
    return NULL;
}

/* Starts the threads that the system allows. Without any, the caller's thread does the work. */
void lint_files(struct lint_run *run)
{
    struct pool pool = {.run = run};
    pthread_t threads[256];
    pthread_attr_t attributes;
    unsigned started = 0;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.turned, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    while (started < run->threads && started < sizeof threads / sizeof threads[0] &&
           started < run->paths->items.count &&
           pthread_create(&threads[started], &attributes, lint_on_thread, &pool) == 0)
        started++;
    if (started == 0) lint_on_thread(&pool);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
    pthread_cond_destroy(&pool.turned);
    pthread_mutex_destroy(&pool.lock);
}
