/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: bytes as a program that goes through everything but LLVM: parser, sema, analyses, lint,
 * fusion, plan, scheduler program, container, or all that `inspect` says.  Text ends at the first
 * zero byte; after it the bytes choose a device and options, so that a program as it is, is compiled
 * as by default.  A refused program has an error; the loader accepts an accepted one.
 */
#include "compiler/diagnostics/diag_set.h"
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/common/codegen.h"
#include "compiler/codegen/common/source_map.h"
#include "compiler/describe/describe.h"
#include "compiler/driver/passes.h"
#include "runtime/verify/verify.h"

enum { MEMORY_BYTES = 1 << 26 };

struct choices {
    const uint8_t *bytes;
    size_t left;
};

static unsigned choose(struct choices *choices, unsigned end)
{
    if (choices->left == 0) return 0;
    choices->left--;
    return *choices->bytes++ % end;
}

/* As `pipec` does without options, for the bytes that are missing. */
static struct compile_options choose_options(struct choices *choices)
{
    struct compile_options options = {
        .optimisation = 2, .bounds_checks = true, .max_memory_bytes = MEMORY_BYTES};
    options.buffers = (enum buffers_mode)choose(choices, BUFFERS_FAST + 1);
    options.fuse = (enum fuse_mode)choose(choices, FUSE_NEVER + 1);
    options.layout = (enum layout_wish)choose(choices, LAYOUT_GROUPS + 1);
    options.debug_mode = choose(choices, 2) == 1;
    options.fast_math = choose(choices, 2) == 1;
    options.explores = choose(choices, 2) == 1;
    options.bounds_checks = choose(choices, 2) == 0;
    options.pipeline_optional = choose(choices, 2) == 1;
    return options;
}

/* The first is the one that `pipec` compiles for by default. */
static void choose_device(struct choices *choices, struct devdesc *device)
{
    static const char *const names[] = {"sim16", "cpu", "sim1", "sim4", "sim-h100"};
    if (!devdesc_builtin(names[choose(choices, sizeof names / sizeof *names)], device)) abort();
}

/* Kernels without code: each node one of its own. */
static struct kernel_image *empty_image(struct compile *cx, const struct graph *graph)
{
    struct kernel_image *image = ARENA_NEW(cx->arena, struct kernel_image);
    struct kernel_object *object = ARENA_NEW(cx->arena, struct kernel_object);
    size_t nodes = graph->nodes.count, children = graph->child_kernels;
    uint32_t *numbers = ARENA_ARRAY(cx->arena, uint32_t, nodes + children + 1);
    for (size_t i = 0; i < nodes + children; i++)
        numbers[i] = (uint32_t)i;
    *object = (struct kernel_object){.bytes = (const unsigned char *)"", .isa = "x86-64"};
    *image = (struct kernel_image){.objects = object,
                                   .object_count = 1,
                                   .node_kernel = numbers,
                                   .child_kernel = numbers + nodes,
                                   .places = places_create(cx->arena, cx->sources)};
    return image;
}

static void check_container(const struct container_bytes *file)
{
    struct prt_container container;
    struct prt_error error = {0};
    enum prt_status status =
        prt_container_read_memory(file->bytes, file->size_bytes, &container, &error);
    if (status == PRT_OK) status = prt_verify(&container, &error);
    prt_container_free(&container);
    if (status == PRT_OK) return;
    fprintf(stderr, "the loader refuses what the compiler has made: %s\n", error.message);
    abort();
}

static void must_have_failed(const struct compile *cx)
{
    if (!diag_failed(cx->diags)) abort();
}

/* As `pipec FILE -o FILE`. */
static void compile(struct passes *passes)
{
    struct compile *cx = passes->cx;
    passes_run(passes, PASS_PLAN);
    if (passes->plan == NULL && (passes->graph != NULL || !cx->options.pipeline_optional))
        must_have_failed(cx);
    if (diag_failed(cx->diags) || passes->plan == NULL || !passes_run(passes, PASS_SCHEDULE))
        return;
    struct container_bytes file = container_build(cx, passes->graph, passes->plan, passes->schedule,
                                                  empty_image(cx, passes->graph));
    if (!diag_failed(cx->diags)) check_container(&file);
}

/* As `pipec inspect --json FILE`, and with --trace-deadlock. */
static void inspect(struct passes *passes, FILE *to)
{
    struct compile *cx = passes->cx;
    passes_run(passes, PASS_SUPPRESSIONS);
    if (passes->written == NULL) return;
    struct verdict verdict = passes_verdict(passes);
    struct inspection inspection = inspect_graph(cx, passes->written, &verdict, NULL, NULL, NULL);
    inspection.counterexample = verdict.consistent == KNOWN_TRUE
                                    ? counterexample_find(cx, passes->written)
                                    : &(struct counterexample){.kind = COUNTER_UNSEARCHED};
    inspection.diags = cx->diags;
    inspection_print_json(to, &inspection);
    counterexample_print(to, passes->written, inspection.counterexample);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    struct devdesc device;
    if (nowhere == NULL) nowhere = fopen("/dev/null", "w");
    if (nowhere == NULL) abort();
    size_t length = size > 0 ? strnlen((const char *)data, size) : 0;
    struct choices choices = {data + length, size - length};
    (void)choose(&choices, 1); /* the zero */
    choose_device(&choices, &device);
    bool inspects = choose(&choices, 2) == 1;
    struct compile cx = compile_begin(arena_create(), choose_options(&choices));
    cx.device = &device;
    uint32_t source = source_add(cx.sources, "fuzz.pipe", (const char *)data, length);
    struct passes passes = passes_of_source(&cx, source);
    passes.lints = true;
    if (!passes_run(&passes, PASS_RECOVERY))
        must_have_failed(&cx);
    else if (inspects)
        inspect(&passes, nowhere);
    else
        compile(&passes);
    diag_flush(cx.diags, nowhere, true);
    arena_destroy(cx.arena);
    return 0;
}
