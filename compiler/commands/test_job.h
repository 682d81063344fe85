/* SPDX-License-Identifier: MIT */
/*
 * test_job: one test of `pipec test`: compiled by a child process, run by piperun, compared.
 *
 * The front end runs in this process, so its findings are diagnostics of `cx`. A child compiles native
 * code, writes the inputs and runs the test, in a process group of its own.  All files are in the run's
 * folder, named by the number of the test.
 */
#ifndef PIPEC_TEST_JOB_H
#define PIPEC_TEST_JOB_H

#include <sys/types.h>

#include "compiler/driver/passes.h"
#include "compiler/sema/test_block.h"
#include "lang/devdesc.h"

struct test_environment {
    struct compile *cx;
    const struct devdesc *device;
    const char *device_name; /* as piperun names it */
    const char *piperun;     /* absolute, or a name to search in PATH */
    const char *folder;      /* private; removed with its files at the end */
    double timeout_seconds;
};

enum test_verdict { TEST_WAITS, TEST_RUNS, TEST_OK, TEST_FAILED };

struct test_job {
    const struct ast_program *program;
    const struct ast_item *item;
    const char *file; /* as on the command line */
    size_t number;    /* of all tests of this run, counted from 1 */
    enum test_verdict verdict;
    const char *story;   /* TEST_FAILED: the cause, in one line */
    struct span place;   /* the place of the expectation */
    struct arena *arena; /* of the front end, while the job runs */
    struct test_case *test;
    struct passes passes; /* of the test's graph, up to the plan; the child runs the rest */
    pid_t process;
    double deadline_seconds; /* of the monotonic clock */
    bool timed_out, killed;
};

double test_clock_seconds(void);
/* Compiles the test and, if there is something to run, starts the child. The verdict is TEST_RUNS,
 * or final. */
void test_job_start(const struct test_environment *environment, struct test_job *job);
/* Fills the verdict: the child has ended with `status` of waitpid. */
void test_job_finish(const struct test_environment *environment, struct test_job *job, int status);
/* Stops a child whose deadline has passed, with SIGKILL the second time. */
void test_job_stop(struct test_job *job);
/* Sets the verdict TEST_FAILED, and reports it at `place`. */
struct diag *test_job_fail(const struct test_environment *environment, struct test_job *job,
                           struct span place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The path of `t3.KIND0.raw` in the folder. */
const char *test_job_file(const struct test_environment *environment, const struct test_job *job,
                          const char *kind, size_t index, const char *ending);

/* ---- test_child.c ---- */

enum { CHILD_REFUSED = 101, CHILD_FILES = 102, CHILD_NO_PIPERUN = 103 };
/* Does everything up to and including piperun; never returns. */
_Noreturn void test_child(const struct test_environment *environment, const struct test_job *job);

/* ---- test_compare.c ---- */

/* Compares output `index` with the expected stream; false after test_job_fail. */
bool test_compare(const struct test_environment *environment, struct test_job *job, size_t index);

#endif
