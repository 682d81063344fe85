/* SPDX-License-Identifier: MIT */
/*
 * pipelines: small pipelines with kernels that are linked into the test, and hosts that feed them
 * from arrays.
 */
#ifndef TESTS_CONFORM_PIPELINES_H
#define TESTS_CONFORM_PIPELINES_H

#include "runtime/host/pipert.h"
#include "runtime/host/pipert_internal.h"
#include "tests/conform/made_container.h"

/* Kernels on i32, with the rates that a node has to be made with. */
int32_t kernel_copy(const struct kernel_batch *batch);  /* pop 1, push 1: y = x */
int32_t kernel_twice(const struct kernel_batch *batch); /* pop 1, push 2: y = x, x */
int32_t kernel_sum2(const struct kernel_batch *batch);  /* pop 2, push 1: y = x0 + x1 */
int32_t kernel_add(const struct kernel_batch *batch);   /* two inputs, pop 1 each: y = a + b */
int32_t kernel_diff(const struct kernel_batch *batch);  /* pop 1, peek 2: y = x1 - x0 */
int32_t kernel_total(const struct kernel_batch *batch); /* state: y = sum so far */
int32_t kernel_total_finish(const struct kernel_batch *batch); /* y = sum, then the tail left */
int32_t kernel_drop(const struct kernel_batch *batch);         /* pop 1, no output */
int32_t
kernel_divide(const struct kernel_batch *batch); /* pop 1, push 1: y = 100 / x, a fault on 0 */

/* Loads what `made` describes with these kernels, one per node; frees `made`. */
struct prt_program *pipelines_load(struct made *made, const struct prt_image_kernel *kernels);

/* A host's array that a port reads or writes. */
struct host {
    int32_t packets[65536];
    size_t count; /* there, or taken */
    size_t at;    /* given so far */
    size_t piece; /* most packets given at a time; 0: as asked for */
    size_t calls;
    size_t fails_after; /* packets, then `failure`; 0: never */
    enum prt_status failure;
};

enum prt_status host_read(void *context, void *packets, size_t capacity, size_t *count,
                          struct prt_error *error);
enum prt_status host_write(void *context, const void *packets, size_t count,
                           struct prt_error *error);
/* 0, 1, ... count - 1 */
void host_ramp(struct host *host, size_t count);

/* Ports "x" and "y" of the run to these hosts; NULL: not bound. */
void pipelines_bind(const struct prt_program *program, struct prt_run *run, struct host *x,
                    struct host *y);

/* Runs it; returns the status. */
enum prt_status pipelines_run(const struct prt_program *program, uint32_t host_threads,
                              struct host *x, struct host *y, struct prt_run_statistics *statistics,
                              struct prt_error *error);

#endif
