/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cuda/cuda_rings.h"

#include "base/arithmetic.h"

#include <stdlib.h>

enum { ON_DEVICE = 1, PINNED = 1, READS_AND_WRITES = 3 };

static struct prt_cuda_memory_kind memory_kind(const struct prt_cuda_run *run)
{
    return (struct prt_cuda_memory_kind){.type = PINNED, .location = {ON_DEVICE, run->device}};
}

/* Both mappings; what has been made is noted. */
static int map_ring(struct prt_cuda_run *run, struct prt_cuda_ring *ring, size_t bytes)
{
    const struct prt_cuda_driver *driver = run->driver;
    const struct prt_cuda_memory_kind kind = memory_kind(run);
    const struct prt_cuda_access access = {{ON_DEVICE, run->device}, READS_AND_WRITES};
    int result = driver->virtual_reserve(&ring->address, bytes * 2, 0, 0, 0);
    if (result != PRT_CUDA_SUCCESS) return result;
    ring->bytes = bytes;
    result = driver->virtual_create(&ring->handle, bytes, &kind, 0);
    ring->created = result == PRT_CUDA_SUCCESS;
    while (result == PRT_CUDA_SUCCESS && ring->mapped < 2) {
        result =
            driver->virtual_map(ring->address + ring->mapped * bytes, bytes, 0, ring->handle, 0);
        ring->mapped += result == PRT_CUDA_SUCCESS;
    }
    if (result == PRT_CUDA_SUCCESS)
        result = driver->virtual_access(ring->address, bytes * 2, &access, 1);
    return result;
}

/* The ring of the device is longer than that of the host, so the place after the initial packets is another one. */
static int fill_ring(struct prt_cuda_run *run, const struct prt_cuda_ring *ring,
                     const struct prt_ring *host, struct core_fifo *fifo)
{
    uint64_t bytes = fifo->written_packets * fifo->width_bytes;
    fifo->ring_bytes = ring->bytes;
    fifo->write_offset_bytes = bytes % ring->bytes;
    if (bytes == 0) return PRT_CUDA_SUCCESS;
    return run->driver->copy_to_device(ring->address, host->memory, (size_t)bytes);
}

static int create_inner(struct prt_cuda_run *run, uint32_t number, size_t granularity)
{
    struct core_fifo *fifo = &core_buffers(run->work->core)[number].fifo;
    size_t bytes = (size_t)fifo->ring_bytes; /* at most a quarter of the address space */
    bytes = align_up(bytes, granularity);
    struct prt_cuda_ring *ring = &run->rings[number];
    int result = map_ring(run, ring, bytes);
    if (result != PRT_CUDA_SUCCESS) return result;
    return fill_ring(run, ring, run->work->rings[number], fifo);
}

static int share_port(struct prt_cuda_run *run, uint32_t number)
{
    const struct prt_cuda_driver *driver = run->driver;
    const struct prt_ring *host = run->work->rings[number];
    struct prt_cuda_ring *ring = &run->rings[number];
    int result =
        driver->host_register(host->own, (size_t)host->own_bytes * 2, PRT_CUDA_HOST_MAPPED);
    if (result != PRT_CUDA_SUCCESS) return result;
    ring->registered = host->own;
    return driver->host_address(&ring->address, host->own, 0);
}

enum prt_status prt_cuda_rings_create(struct prt_cuda_run *run, struct prt_error *error)
{
    const struct prt_cuda_driver *driver = run->driver;
    const struct prt_cuda_memory_kind kind = memory_kind(run);
    size_t granularity = 0;
    int result = driver->virtual_granularity(&granularity, &kind, 0);
    run->ring_count = run->work->core->buffer_count;
    run->rings = calloc((size_t)run->ring_count + 1, sizeof *run->rings);
    if (run->rings == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < run->ring_count && result == PRT_CUDA_SUCCESS; i++)
        result = core_buffers(run->work->core)[i].port == CORE_INNER
                     ? create_inner(run, i, granularity)
                     : share_port(run, i);
    return result == PRT_CUDA_SUCCESS ? PRT_OK
                                      : prt_cuda_refuse(driver, result, "making buffers", error);
}

static void destroy_ring(const struct prt_cuda_driver *driver, struct prt_cuda_ring *ring)
{
    if (ring->registered != NULL) (void)driver->host_unregister(ring->registered);
    for (; ring->mapped > 0; ring->mapped--)
        (void)driver->virtual_unmap(ring->address + (ring->mapped - 1) * ring->bytes,
                                    (size_t)ring->bytes);
    if (ring->created) (void)driver->virtual_release(ring->handle);
    if (ring->bytes > 0) (void)driver->virtual_free(ring->address, (size_t)ring->bytes * 2);
}

void prt_cuda_rings_destroy(struct prt_cuda_run *run)
{
    for (uint32_t i = 0; run->rings != NULL && i < run->ring_count; i++)
        destroy_ring(run->driver, &run->rings[i]);
    free(run->rings);
    run->rings = NULL;
}
