/* SPDX-License-Identifier: MIT */
/*
 * image_run: executes all nodes of a graph by their compiled kernels, on streams of any length, each
 * firing as soon as its packets are there: what a scheduler with unbounded buffers would compute.
 */
#ifndef TESTS_IMAGE_RUN_H
#define TESTS_IMAGE_RUN_H

#include "compiler/codegen/common/codegen.h"

struct image_stream {
    unsigned char *bytes; /* in memory of its own */
    uint64_t packets, capacity, width_bytes;
};

struct image_run {
    const struct graph *graph;
    struct image_stream *streams; /* by buffer: every packet ever written */
    uint64_t *fired, *limits;     /* by node; limits: firings at most, the caller's to change */
    uint64_t **read;              /* by node, input: packets consumed */
    const struct kernel_image *image;
    void *library;
    int file;
    void **arguments, **tables, **states; /* by node */
};

/* Loads the image of the graph, evaluates arguments (the pipeline's have their defaults), initialises. An image can be
 * run any number of times. */
struct image_run image_run_begin(const struct graph *graph, const struct kernel_image *image);
/* Appends packets to a buffer. */
void image_run_write(struct image_run *run, uint32_t buffer, const void *bytes, uint64_t packets);
/* Fires until nothing can, at most `batch` firings at a time. */
void image_run_fire(struct image_run *run, uint64_t batch);
void image_run_end(struct image_run *run);

#endif
