/* SPDX-License-Identifier: MIT */
/*
 * kernel_llvm: the structs that the files of the kernel code generator share, and its entry. Private to codegen.
 *
 * llvm_child.c runs kernel_generate in a child process for each instruction set, and link.c makes the shared
 * object. Every other file kernel_X.c has its functions in kernel_X.h, whose first line names its subject; those of
 * kernel_count_items.c are in kernel_count.h and kernel_counter.h.
 *
 * One body is emitted at a time (`emitter.body`).  A value of scalar type is an LLVM value of the
 * scalar's register type or, while lanes are emitted, a vector of it: one element for each of
 * `body.lanes` consecutive firings. A scalar there is *uniform*: the same for all of them.  A value
 * of an array, vector or struct is an address.
 */
#ifndef PIPEC_KERNEL_LLVM_H
#define PIPEC_KERNEL_LLVM_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "compiler/bodies/cost.h"
#include "compiler/codegen/common/code_generator.h"
#include "compiler/codegen/common/codegen.h"
#include "compiler/codegen/common/instruction_set.h"
#include "compiler/ir/graph.h"
#include "lang/kernel_abi.h"

/* ---- addresses ---- */

enum { KERNEL_WEAVE_MAX = 4 };

enum kernel_layout {
    LAYOUT_UNIFORM, /* one object for all lanes */
    LAYOUT_STRIDED, /* lane l's is `stride_bytes` x l further */
    LAYOUT_LANES,   /* each scalar is a vector of all lanes' */
    LAYOUT_GATHER,  /* `pointer` is a vector: one pointer for each lane */
    LAYOUT_WOVEN, /* the lanes of part k of `body.weave` parts lie side by side, `parts[k]` bytes from `pointer` */
    LAYOUT_PAIRS, /* lane l of part k is the byte 2l + k from `pointer`, see kernel_pairs.c */
};

struct kernel_address {
    LLVMValueRef pointer;
    enum kernel_layout layout;
    uint64_t stride_bytes; /* STRIDED */
    uint64_t
        item_bytes; /* from one scalar of the object to the next; 0: as in memory of that layout */
    bool invariant; /* never written while the body runs */
    bool
        streamed; /* STRIDED: a block of lanes is aligned to KERNEL_LINE_BYTES; it is written past the caches */
    LLVMValueRef
        parts[KERNEL_WEAVE_MAX]; /* WOVEN; PAIRS of an in-port: [0] is the place in the window */
};

/* ---- counting ---- */

enum kernel_counting_kind { COUNT_SUM, COUNT_WARPS, COUNT_PIECES }; /* see kernel_count.c */

struct kernel_counting {
    enum kernel_counting_kind kind;
    const struct cost_plan *plan;
    LLVMBuilderRef reset; /* where counters become 0 */
    bool many;            /* SUM: of all firings of a batch */
    bool in_items;        /* what is emitted is executed by one work-item after the other */
    /* By counter: allocas, NULL where nothing has counted so far; `lanes`: of vectors, one number for
     * each lane; `items`: of the current work-item, `items_most`: the maximum over its warp. */
    LLVMValueRef *counts, *lanes, *items, *items_most;
    LLVMValueRef out; /* takes the cycles; kernels: may be NULL when running */
    struct graph_warp warp;
    uint32_t lane_count; /* of the device */
    /* WARPS */
    LLVMTypeRef table_type;
    LLVMValueRef table, base; /* counters of the firings of a block; the block's first firing */
    uint64_t block_firings;
    LLVMValueRef reduction;
    /* PIECES */
    LLVMValueRef pieces, sum; /* cycles of each warp; of all firings, where there is state */
    LLVMValueRef ended;       /* of kernels that launch: the cycles in `pieces`, added up */
};

/* A number that code checks or counts against. */
struct kernel_bound {
    LLVMValueRef value; /* i64 */
    uint64_t limit;     /* it is at least that: the same where it is constant */
};

/* ---- bodies ---- */

struct kernel_loops { /* in order of their addresses, see kernel_unroll.c */
    const struct ks **items;
    size_t count, capacity;
};

enum kernel_entry_kind { ENTRY_RUN, ENTRY_INIT, ENTRY_FINISH, ENTRY_FUNCTION, ENTRY_ARGUMENTS };

struct kernel_port_state {
    LLVMValueRef pointers; /* the window of each element: alloca, or `windows` */
    LLVMValueRef rows;     /* alloca, in-ports with a 2-D window: of the frame, of each element */
    LLVMValueRef phases;   /* lanes: alloca, see kernel_phases.c; NULL: none */
    uint64_t phase_bytes;  /* in-ports: of a phase */
    LLVMValueRef counts;   /* alloca, out-ports: packets appended so far, of each element */
    LLVMValueRef most;     /* alloca, out-ports: of the largest firing so far; NULL: none varies */
    unsigned first_param;  /* of the function, the window of element 0 */
    LLVMValueRef windows;  /* of many ends: the batch's array, at element 0; NULL: parameters */
    LLVMValueRef begins;   /* out-ports, debug mode: alloca, where each element's window begins */
    uint64_t first_output; /* out-ports: number of element 0 among the outputs */
    bool moves;     /* its windows are those of the present firing: `pointers` move after each */
    bool canonical; /* out-ports: NaNs are made canonical */
    bool canonical_later; /* out-ports: when the batch ends */
};

/* The function that is being emitted.  One struct because a function that is emitted in between has one of its own. */
struct kernel_body {
    enum kernel_entry_kind entry;
    const struct kernel *kernel;     /* NULL in functions and pipe_arguments */
    const struct function *function; /* ENTRY_FUNCTION */
    LLVMValueRef llvm;
    LLVMBuilderRef setup; /* before the end of the entry block: allocas, loads done once */
    LLVMValueRef arguments, tables, state, left, fault, launches;
    bool arguments_anew; /* scalars of `arguments` are loaded where they are used */
    LLVMValueRef firing; /* index in the batch, of the first lane; NULL where there is none */
    LLVMValueRef firing_number;     /* absolute, for faults */
    LLVMValueRef phase;             /* i64, of the firing; NULL between firings, or: there is one */
    LLVMValueRef phase_slot;        /* alloca: of the next firing; NULL likewise */
    LLVMValueRef completed, status; /* run: allocas */
    uint64_t row_packets;           /* of the 2-D windows; 0: none */
    LLVMValueRef place, rows_least; /* of the batch's first firing; of all windows' frames */
    LLVMValueRef border_row; /* of the firing, where windows may leave the frame; else NULL */
    LLVMBasicBlockRef stop;  /* run: where a stop or a fault goes; NULL: there is none */
    struct kernel_port_state *in, *out;
    LLVMValueRef *locals; /* allocas, by variable->index; NULL until needed */
    LLVMValueRef *argument_values, *state_values; /* parallel to kernel->arguments, ->states */
    LLVMValueRef result;     /* FUNCTION: pointer to the result where it is an array */
    LLVMValueRef nowhere;    /* 8 bytes that no code reads; NULL until needed */
    LLVMBasicBlockRef end;   /* where `return` goes: end of the firing, of init, of finish */
    LLVMValueRef item[3];    /* work-items: x, y, z of the present one, i32 */
    LLVMValueRef item_index; /* the same counted through, i64 */
    LLVMValueRef gone; /* by item: it has ended its firing; NULL: none does before the others */
    bool numbered;     /* work-items: the batch has them in order, x first */
    bool together;     /* work-items: statements are those of all, not of the present one */
    LLVMBasicBlockRef break_to, continue_to;
    LLVMValueRef switch_on; /* the innermost switch instruction */

    uint32_t lanes; /* 0: scalar code */
    uint32_t
        weave; /* lanes: parts of consecutive lanes, see kernel_weave.c; 1: they are in order */
    const struct kernel_constants
        *constants;                   /* lanes: loaded where they are used; NULL: none are */
    const bool *varying;              /* lanes: by variable->index */
    const struct kernel_loops *loops; /* lanes: that may be written out (kernel_unroll.c) */
    uint64_t
        added_instructions; /* by loops that are written out and functions that are put in place */
    bool remainder;         /* scalar code for the firings that do not fill a block of lanes */
    bool streamed;          /* lanes: what is appended goes past the caches (kernel_stream.c) */
    bool pairs;             /* lanes woven in two parts: packets are LAYOUT_PAIRS */
    bool many_ends;         /* what is done for each end is a loop */
    LLVMValueRef constants_at; /* where they are, in these lanes */
    LLVMValueRef mask;         /* lanes: which ones execute; NULL: all */
    LLVMValueRef
        wanted; /* where what is emitted counts although it is executed anyway; NULL: it does */
    struct kernel_counting *counting; /* NULL: what is executed is not counted */
    bool strict;                      /* floats are exact even under --fast-math */
    uint32_t speculative;             /* > 0: see kernel_speculates */
};

/* ---- functions ---- */

enum { KERNEL_LANES_MIN = 8, KERNEL_LANES_MAX = 64, KERNEL_LANE_WIDTHS = 4 };

struct kernel_function {
    LLVMValueRef llvm; /* NULL: not emitted yet */
    LLVMValueRef
        lanes_llvm[KERNEL_LANE_WIDTHS]; /* for 8, 16, ... lanes: scalar parameters are vectors */
    LLVMValueRef speculative_llvm;      /* for calls that kernel_speculates; NULL likewise */
    signed char faults, heavy, lanes_admitted; /* -1 no, 1 yes, 0: not known yet */
    signed char rests_on_proofs;               /* likewise: see kernel_function_rests_on_proofs */
    signed char loops, loops_openly;           /* likewise, calls expanded */
    const bool *varying; /* lanes_admitted > 0: by variable->index, all scalar parameters varying */
    uint64_t size;       /* of the tree, calls expanded; 0: not known yet */
    uint64_t widest_bytes; /* of the scalars in it, calls expanded; 0: not known yet */
    /* LLVM instructions as built, with what is put in their place; of each of those above. */
    uint64_t instructions, lanes_instructions[KERNEL_LANE_WIDTHS], speculative_instructions;
};

struct kernel_lane_plan; /* kernel_lanes.c */

struct kernel_variant { /* a kernel as its nodes use it */
    struct kernel *kernel;
    const bool *canonical; /* per output: bound to an out-port of the pipeline */
    const uint64_t
        *most; /* by output: the maximum of a firing as the container says it; NULL: a child */
    uint64_t row_packets;   /* of the buffers that 2-D windows look at; 0: none */
    struct graph_warp warp; /* `counted`: the code counts */
    uint32_t lane_count;    /* of the device */
    bool stateful;
    uint32_t id;
};

struct kernel_watch { /* called as a step begins; `doing` completes "it ended while ..." */
    void (*begins)(void *data, struct span at, const char *doing);
    void *data;
};

/* The module that is being emitted.  One struct because every function of code generation gets it. */
struct kernel_emitter {
    struct compile *cx;
    const struct graph *graph;
    struct arena *scratch;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTargetMachineRef machine;
    const struct code_generator *code; /* of the target */
    struct instruction_set isa;
    LLVMTypeRef pointer, i1, i8, i16, i32, i64, f32, f64;
    LLVMValueRef fault_function;
    LLVMMetadataRef empty_node, unlikely;
    unsigned invariant_kind, prof_kind;
    VEC(struct kernel_variant) variants;
    uint32_t *node_kernel, *child_kernel;
    struct place_table *places;
    const struct kernel_watch *watch;
    bool uncounted; /* for a device that needs no cycles: nothing is counted */
    VEC(struct kernel_function) functions; /* by function->id */
    VEC(struct kernel_constant {
        const struct variable *variable;
        LLVMValueRef global;
    })
    constants;
    struct kernel_body *body;
    VEC(LLVMValueRef) remainder_loops; /* the branches that end loops of remainders */
    uint64_t added_instructions;       /* the sum of those of all bodies */
    uint64_t written_instructions;     /* of all functions, with loops written out */
};

/* ---- kernel_llvm.c ---- */

struct kernel_code { /* of one instruction set */
    const unsigned char *bytes;
    size_t size_bytes;
    const uint32_t *node_kernel, *child_kernel; /* as in struct kernel_image */
};
/* The kernels of the graph as text or as an object file, in cx->arena.  False: reported.  LLVM may end
 * the process, so call this in a child process only (support/child.h). */
bool kernel_generate(struct compile *cx, const struct graph *graph,
                     const struct instruction_set *isa, struct place_table *places,
                     enum kernel_text kind, const struct kernel_watch *watch,
                     struct kernel_code *code);
/* Adds a string attribute; `value` may be "". */
void kernel_text_attribute(struct kernel_emitter *e, LLVMValueRef function, const char *name,
                           const char *value);

#endif
