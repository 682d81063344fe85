/* SPDX-License-Identifier: MIT */
#include "tests/conform/pipelines.h"

#include "tests/conform/made_certificate.h"
#include "tests/conform/made_load.h"

#include "tests/test.h"

#define IN(n) ((const int32_t *)batch->in[n])
#define OUT(n) ((int32_t *)batch->out[n])

/* Sums wrap, as in the language. */
static int32_t add(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

int32_t kernel_copy(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = IN(0)[i];
    return KERNEL_OK;
}

int32_t kernel_twice(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[2 * i] = OUT(0)[2 * i + 1] = IN(0)[i];
    return KERNEL_OK;
}

int32_t kernel_sum2(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = add(IN(0)[2 * i], IN(0)[2 * i + 1]);
    return KERNEL_OK;
}

int32_t kernel_add(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = add(IN(0)[i], IN(1)[i]);
    return KERNEL_OK;
}

int32_t kernel_diff(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = IN(0)[i + 1] - IN(0)[i];
    return KERNEL_OK;
}

int32_t kernel_total(const struct kernel_batch *batch)
{
    int32_t *state = batch->state;
    for (uint64_t i = 0; i < batch->count; i++)
        OUT(0)[i] = *state = add(*state, IN(0)[i]);
    return KERNEL_OK;
}

int32_t kernel_total_finish(const struct kernel_batch *batch)
{
    OUT(0)[0] = *(const int32_t *)batch->state;
    OUT(0)[1] = (int32_t)batch->left[0];
    batch->produced[0] = 2;
    return KERNEL_OK;
}

int32_t kernel_drop(const struct kernel_batch *batch)
{
    (void)batch;
    return KERNEL_OK;
}

int32_t kernel_divide(const struct kernel_batch *batch)
{
    for (uint64_t i = 0; i < batch->count; i++) {
        if (IN(0)[i] == 0) {
            *batch->fault =
                (struct kernel_fault){.firing = batch->first_firing + i, .line = 12, .column = 9};
            return KERNEL_FAULT_DIVISION;
        }
        OUT(0)[i] = 100 / IN(0)[i];
    }
    return KERNEL_OK;
}

struct prt_program *pipelines_load(struct made *made, const struct prt_image_kernel *kernels)
{
    /* A pipeline that stops for ever is loaded as one that its author accepts. */
    if (!made_certify(made)) made->pipeline.flags |= CONTAINER_PIPELINE_UNPROVEN;
    return made_load(made, kernels);
}

enum prt_status host_read(void *context, void *packets, size_t capacity, size_t *count,
                          struct prt_error *error)
{
    struct host *host = context;
    size_t given = host->count - host->at;
    host->calls++;
    if (host->fails_after > 0 && host->at >= host->fails_after)
        return prt_error_set(error, host->failure, "the host fails");
    if (given > capacity) given = capacity;
    if (host->piece > 0 && given > host->piece) given = host->piece;
    memcpy(packets, host->packets + host->at, given * sizeof host->packets[0]);
    host->at += given;
    *count = given;
    return PRT_OK;
}

enum prt_status host_write(void *context, const void *packets, size_t count,
                           struct prt_error *error)
{
    struct host *host = context;
    host->calls++;
    if (host->fails_after > 0 && host->count >= host->fails_after)
        return prt_error_set(error, host->failure, "the host fails");
    assert_true(count <= sizeof host->packets / sizeof host->packets[0] - host->count);
    memcpy(host->packets + host->count, packets, count * sizeof host->packets[0]);
    host->count += count;
    return PRT_OK;
}

void host_ramp(struct host *host, size_t count)
{
    *host = (struct host){.count = count};
    for (size_t i = 0; i < count; i++)
        host->packets[i] = (int32_t)i;
}

void pipelines_bind(const struct prt_program *program, struct prt_run *run, struct host *x,
                    struct host *y)
{
    struct prt_error error;
    if (x != NULL)
        assert_int_equal(
            prt_run_bind_input(run, prt_program_find_port(program, "x"), host_read, x, &error),
            PRT_OK);
    if (y != NULL)
        assert_int_equal(
            prt_run_bind_output(run, prt_program_find_port(program, "y"), host_write, y, &error),
            PRT_OK);
}

enum prt_status pipelines_run(const struct prt_program *program, uint32_t host_threads,
                              struct host *x, struct host *y, struct prt_run_statistics *statistics,
                              struct prt_error *error)
{
    struct prt_run *run;
    struct prt_run_options options = {.host_threads = host_threads};
    assert_int_equal(prt_run_create(program, &options, &run, error), PRT_OK);
    pipelines_bind(program, run, x, y);
    enum prt_status status = prt_run_execute(run, error);
    if (statistics != NULL) prt_run_statistics(run, statistics);
    prt_run_destroy(run);
    return status;
}
