/* SPDX-License-Identifier: MIT */
/*
 * context: what every pass of one compilation shares.  One compilation is one thread.
 */
#ifndef PIPEC_CONTEXT_H
#define PIPEC_CONTEXT_H

#include "base/arena.h"
#include "compiler/diagnostics/diag.h"
#include "compiler/support/intern.h"
#include "compiler/support/source.h"

struct definition { /* -D NAME=VALUE */
    const char *name, *value;
};

/* --buffers: what undeclared depths are for. */
enum buffers_mode {
    BUFFERS_DEFAULT, /* free of deadlock, with room for full dispatches on the device */
    BUFFERS_MIN,     /* the least memory that is free of deadlock */
    BUFFERS_FAST,    /* the least memory at which the maximum throughput is reached */
};

/* --layout: which of the layouts of a plan is wanted. */
enum layout_wish { LAYOUT_ANY, LAYOUT_SEQUENCE, LAYOUT_SIDE_BY_SIDE, LAYOUT_GROUPS };

/* --fuse, --no-fuse: do neighbours become one stage? */
enum fuse_mode { FUSE_BY_DEVICE, FUSE_ALWAYS, FUSE_NEVER };

struct compile_options {
    const char *pipeline;   /* -p, or NULL */
    bool pipeline_optional; /* none, or none that is chosen, is no error: a library */
    bool pipeline_alone;    /* what it does not use is not checked again */
    const char *const *import_folders;
    size_t import_folder_count;
    const struct definition *definitions;
    size_t definition_count;
    bool definitions_shared; /* by several pipelines: not each need have what they name */
    const char *isa;         /* --march: a list with commas; NULL is x86-64-v3 */
    int optimisation;        /* 0..3 */
    bool bounds_checks;      /* off with --no-bounds-checks */
    bool fast_math;
    uint64_t max_memory_bytes;
    enum buffers_mode buffers;
    enum layout_wish layout; /* --layout */
    const char *policy;      /* --policy, a name that graph_policy_named knows; NULL: as declared */
    enum fuse_mode fuse;
    bool debug_mode;    /* least depths, one kernel at a time, packets that tell who wrote them */
    bool explores;      /* --pareto: memory against throughput as well */
    const char *linker; /* path, or NULL: the one of this build */
};

/* What ended the compilation that is not the program's: reported, as a diagnostic. */
enum compile_halt {
    HALT_NONE,
    HALT_RESOURCES /* memory, processes */,
    HALT_INTERNAL /* a crash */
};

struct phase_times; /* phase_times.h */

struct compile {
    struct arena *arena; /* lives as long as the compilation */
    struct intern *names;
    struct sources *sources;
    struct diags *diags;
    struct compile_options options;
    const struct devdesc *device; /* whose operations are counted as costs; NULL: the default's */
    /* Spent so far, of what the analyses of all bodies and all constants may take together. */
    uint64_t walk_steps, constant_steps, constant_values;
    /* Of a program with errors, as sema left it: its kernels that have none; else NULL. */
    struct graph *sound;
    enum compile_halt halt;
    struct phase_times *times; /* where the time goes; NULL: nobody asks */
};

/* A compilation without sources; everything of it lives in `arena`. */
struct compile compile_begin(struct arena *arena, struct compile_options options);

#endif
