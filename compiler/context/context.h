/* SPDX-License-Identifier: MIT */
/*
 * context: the data that all passes of one compilation share. One compilation is one thread.
 */
#ifndef PIPEC_CONTEXT_H
#define PIPEC_CONTEXT_H

#include "base/arena.h"
#include "base/vec.h"
#include "compiler/diagnostics/diag.h"
#include "compiler/support/intern.h"
#include "compiler/support/source.h"

struct definition { /* -D NAME=VALUE */
    const char *name, *value;
};

/* --buffers: the purpose of depths that are not declared. */
enum buffers_mode {
    BUFFERS_DEFAULT, /* free of deadlock, with room for full dispatches on the device */
    BUFFERS_MIN,     /* the minimum of memory without deadlock */
    BUFFERS_FAST,    /* the minimum of memory for full speed: of the device's clock, or idealised */
};

/* --layout: the requested layout of the plan. */
enum layout_wish { LAYOUT_ANY, LAYOUT_SEQUENCE, LAYOUT_SIDE_BY_SIDE, LAYOUT_GROUPS };

/* --fuse, --no-fuse: whether neighbours become one stage. */
enum fuse_mode { FUSE_BY_DEVICE, FUSE_ALWAYS, FUSE_NEVER };

struct compile_options {
    const char *pipeline; /* -p, or NULL */
    bool
        pipeline_optional; /* a file without a pipeline, or with a choice of several, is no error: a library */
    bool pipeline_alone; /* the rest of the file is not checked again */
    const char *const *import_folders;
    size_t import_folder_count;
    const struct definition *definitions;
    size_t definition_count;
    bool definitions_shared; /* several pipelines share them: each may lack some of the names */
    const char *isa;         /* --march: a list with commas; NULL is x86-64-v3 */
    int optimisation;        /* 0..3 */
    bool bounds_checks;      /* off with --no-bounds-checks */
    bool fast_math;
    uint64_t max_memory_bytes;
    enum buffers_mode buffers;
    bool
        depths_by_clock; /* a plan follows, for a device whose clock measures --buffers=fast and --pareto */
    enum layout_wish layout; /* --layout */
    const char *policy;      /* --policy, a name that graph_policy_named knows; NULL: as declared */
    enum fuse_mode fuse;
    bool checks_purity; /* pure extern kernels are fired twice; with debug_mode anyway */
    bool debug_mode;    /* minimum depths, one kernel at a time, packets that record their writer */
    bool explores;      /* --pareto: the trade-off between memory and throughput */
    const char *linker; /* path, or NULL: the linker that pipec was built with */
    /* Files that the command reads beside the sources. None of its outputs may replace one. */
    VEC(const char *) also_read;
};

/* A cause outside of the program that ended the compilation. It was reported as a diagnostic. */
enum compile_halt {
    HALT_NONE,
    HALT_RESOURCES /* memory, processes */,
    HALT_INTERNAL /* a crash */
};

struct kernel;        /* ir/kernel.h */
struct phase_times;   /* phase_times.h */
struct foreign_files; /* codegen/common/foreign_files.h */

struct compile {
    struct arena *arena; /* lives as long as the compilation */
    struct intern *names;
    struct sources *sources;
    struct diags *diags;
    struct compile_options options;
    const struct devdesc *device; /* gives the costs of operations; NULL: the default device */
    /* Spent so far, of the budgets that the analyses of all bodies and all constants share. */
    uint64_t walk_steps, constant_steps, constant_values;
    /* After errors in a program: the kernels without errors, from sema; otherwise NULL. */
    struct graph *sound;
    enum compile_halt halt;
    struct phase_times *times; /* NULL: times are not measured */
    VEC(const struct kernel *)
    foreign_kernels;                     /* extern kernels without errors, in order of first use */
    const struct foreign_files *foreign; /* of extern kernels, while code is generated; else NULL */
    VEC(const char *) read_files;        /* on which the output depends beside the sources */
};

/* The device of the compilation: without one, the default device becomes it. */
const struct devdesc *compile_device(struct compile *cx);
/* A compilation without sources. Everything it owns lives in `arena`. */
struct compile compile_begin(struct arena *arena, struct compile_options options);

#endif
