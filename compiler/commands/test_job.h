/* SPDX-License-Identifier: MIT */
/*
 * test_job: one test of `pipec test`: compiled by a child process, run by piperun, compared.
 *
 * The front end runs in this process, so what it finds are diagnostics of `cx`; native code, inputs
 * and the run are a child's, in a process group of its own.  All files are in the run's folder,
 * named by the number of the test.
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
    const char *device_name; /* what piperun is told */
    const char *piperun;     /* absolute, or a name that is looked for in PATH */
    const char *folder;      /* private; whatever is in it is removed at the end */
    double timeout_seconds;
};

enum test_verdict { TEST_WAITS, TEST_RUNS, TEST_OK, TEST_FAILED };

struct test_job {
    const struct ast_program *program;
    const struct ast_item *item;
    const char *file; /* as on the command line */
    size_t number;    /* of all tests of this run, 1.. */
    enum test_verdict verdict;
    const char *story;   /* TEST_FAILED: what happened, in a line */
    struct span place;   /* and where that was expected */
    struct arena *arena; /* of the front end, while the job runs */
    struct test_case *test;
    struct passes passes; /* of the test's graph, up to the plan; the child runs the rest */
    pid_t process;
    double deadline_seconds; /* of the clock that does not jump */
    bool timed_out, killed;
};

double test_clock_seconds(void);
/* Compiles and, if there is something to run, starts the child: the verdict is TEST_RUNS, or
 * final. */
void test_job_start(const struct test_environment *environment, struct test_job *job);
/* The child has ended with `status` of waitpid: fills the verdict. */
void test_job_finish(const struct test_environment *environment, struct test_job *job, int status);
/* Ends a child whose time is over, with more force the second time. */
void test_job_stop(struct test_job *job);
/* The verdict is TEST_FAILED, as a diagnostic at `place` too. */
struct diag *test_job_fail(const struct test_environment *environment, struct test_job *job,
                           struct span place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* `t3.KIND0.raw`, in the folder. */
const char *test_job_file(const struct test_environment *environment, const struct test_job *job,
                          const char *kind, size_t index, const char *ending);

/* ---- test_child.c ---- */

enum { CHILD_REFUSED = 101, CHILD_FILES = 102, CHILD_NO_PIPERUN = 103 };
/* Everything up to and with piperun; never returns. */
_Noreturn void test_child(const struct test_environment *environment, const struct test_job *job);

/* ---- test_compare.c ---- */

/* Compares output `index` with what is expected; false after test_job_fail. */
bool test_compare(const struct test_environment *environment, struct test_job *job, size_t index);

#endif
