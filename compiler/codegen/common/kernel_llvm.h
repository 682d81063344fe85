/* SPDX-License-Identifier: MIT */
/*
 * kernel_llvm: what the files of the kernel code generator share.  Private to codegen.
 *
 *   llvm_child.c         kernel_compile, kernel_emit: all that follows in a child process, then the linker
 *   kernel_llvm.c          the emitter's life: module, target, optimisation, object
 *   kernel_llvm_types.c    LLVM types and constants, loads and stores of scalars, faults
 *   kernel_llvm_batch.c    the entries of a kernel and the loop over firings; pipe_arguments
 *   kernel_ends.c          the ends of a kernel: their windows, and what is done for each
 *   kernel_llvm_stmt.c     statements
 *   kernel_llvm_expr.c     expressions
 *   kernel_llvm_address.c  addresses: variables, array items, packets
 *   kernel_llvm_call.c     functions and their calls
 *   kernel_llvm_arith.c    operators and conversions
 *   kernel_llvm_half.c     f16 and bf16, which are bit patterns in registers
 *   kernel_llvm_builtin.c  built-in functions
 *   kernel_llvm_rate.c     rates: phases, what firings append, the report of a batch
 *   kernel_llvm_window.c   2-D windows: runs of firings within rows, borders
 *   kernel_query.c         questions about typed trees: faults, effects, size
 *   kernel_live.c          how much of a body's locals is alive at one time
 *   kernel_gather.c        loads of lanes from places of their own
 *   kernel_phases.c        windows of such firings, cut into phases and put together from them
 *   kernel_weave.c         which of them lie side by side in the registers of a vector
 *   kernel_pairs.c         bytes of two such firings in one word
 *   kernel_unroll.c        which loops of such firings are written out
 *   kernel_lanes.c         which kernels can execute consecutive firings in the lanes of vectors
 *   kernel_constants.c     constants of such firings, where there are many
 *   kernel_stream.c        what such firings write past the caches
 *   kernel_compact.c       what only some of such firings append
 *   kernel_registers.c     vectors as whole registers of the target
 *   kernel_nans.c          canonical NaNs of whole vector registers
 *   kernel_items.c         the work-items of a firing
 *   kernel_launch.c        launches of child kernels, and what they have come to
 *   kernel_origin.c        debug mode: which statement wrote a packet
 *   kernel_count.c         counting what an execution costs
 *   kernel_count_items.c   the same of work-items
 *   link.c                 object to shared object
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
     * each lane; `items`: of the present work-item, `items_most`: the most of those of its warp. */
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
    bool moves;     /* its windows are those of the present firing: `pointers` go on behind each */
    bool canonical; /* out-ports: NaNs are made canonical */
    bool canonical_later; /* out-ports: when the batch ends */
    bool checked_end;     /* out-ports: the number of packets is checked when the firing ends */
};

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
    LLVMValueRef nowhere;    /* 8 bytes that nobody reads; NULL until needed */
    LLVMBasicBlockRef end;   /* where `return` goes: end of the firing, of init, of finish */
    LLVMValueRef item[3];    /* work-items: x, y, z of the present one, i32 */
    LLVMValueRef item_index; /* the same counted through, i64 */
    LLVMValueRef gone; /* by item: it has ended its firing; NULL: none does before the others */
    bool numbered;     /* work-items: the batch has them in order, x first */
    bool together;     /* work-items: statements are those of all, not of the present one */
    LLVMBasicBlockRef break_to, continue_to;
    LLVMValueRef switch_on; /* the innermost switch instruction */
    const struct type *switch_type;

    uint32_t lanes; /* 0: scalar code */
    uint32_t
        weave; /* lanes: parts of consecutive lanes, see kernel_weave.c; 1: they are in order */
    const struct kernel_constants
        *constants;                   /* lanes: loaded where they are used; NULL: none are */
    const bool *varying;              /* lanes: by variable->index */
    const struct kernel_loops *loops; /* lanes: that may be written out (kernel_unroll.c) */
    uint64_t
        added_instructions; /* by loops that are written out and functions that are put in place */
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
    const bool *canonical;  /* per output: bound to an out-port of the pipeline */
    uint64_t row_packets;   /* of the buffers that 2-D windows look at; 0: none */
    struct graph_warp warp; /* `counted`: the code counts */
    uint32_t lane_count;    /* of the device */
    bool stateful;
    uint32_t id;
};

struct kernel_watch { /* is told what begins: "DOING" completes "it ended while ..." */
    void (*begins)(void *data, struct span at, const char *doing);
    void *data;
};

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
    uint64_t added_instructions;   /* the sum of those of all bodies */
    uint64_t written_instructions; /* of all functions, with loops written out */
};

/* ---- kernel_llvm.c ---- */

struct kernel_code { /* of one instruction set */
    const unsigned char *bytes;
    size_t size_bytes;
    const uint32_t *node_kernel, *child_kernel; /* as in struct kernel_image */
};

/* The kernels of the graph as text or as an object file, in cx->arena.  False: reported.  LLVM may end
 * the process: for a child (support/child.h). */
bool kernel_generate(struct compile *cx, const struct graph *graph,
                     const struct instruction_set *isa, struct place_table *places,
                     enum kernel_text kind, const struct kernel_watch *watch,
                     struct kernel_code *code);

/* Adds a string attribute; `value` may be "". */
void kernel_text_attribute(struct kernel_emitter *e, LLVMValueRef function, const char *name,
                           const char *value);

/* ---- kernel_llvm_types.c ---- */

/* Ends the process: exit 3.  For what cannot happen. */
_Noreturn void kernel_internal_error(const char *what);

LLVMTypeRef kernel_scalar_type(struct kernel_emitter *e,
                               enum scalar_type scalar); /* in registers */
LLVMTypeRef kernel_memory_type(struct kernel_emitter *e, const struct type *type); /* in memory */
/* In memory of that layout: scalars are vectors where it is LAYOUT_LANES. */
LLVMTypeRef kernel_layout_type(struct kernel_emitter *e, const struct type *type,
                               enum kernel_layout layout);
/* The same type with as many elements as `like` has, where that is a vector. */
LLVMTypeRef kernel_type_like(LLVMTypeRef scalar, LLVMValueRef like);
bool kernel_is_vector(LLVMValueRef value);
LLVMValueRef kernel_splat(struct kernel_emitter *e, LLVMValueRef value, uint32_t lanes);
/* Makes vectors of both where one is. */
void kernel_unify(struct kernel_emitter *e, LLVMValueRef *a, LLVMValueRef *b);
LLVMValueRef kernel_i64(struct kernel_emitter *e, uint64_t value);
LLVMValueRef kernel_integer_like(struct kernel_emitter *e, LLVMValueRef like, unsigned bits,
                                 uint64_t value);
LLVMValueRef kernel_constant(struct kernel_emitter *e, struct scalar_value value);
LLVMValueRef kernel_constant_global(struct kernel_emitter *e, const struct variable *variable);

LLVMValueRef kernel_alloca(struct kernel_emitter *e, LLVMTypeRef type, const char *name);
/* The same for a value of the language, with its alignment. */
LLVMValueRef kernel_alloca_value(struct kernel_emitter *e, const struct type *type,
                                 enum kernel_layout layout, const char *name);
LLVMValueRef kernel_load(struct kernel_emitter *e, const struct type *type,
                         struct kernel_address from);
/* What memory holds of a scalar: i8 for bool. */
LLVMValueRef kernel_memory_value(struct kernel_emitter *e, const struct type *type,
                                 LLVMValueRef value);
void kernel_store(struct kernel_emitter *e, const struct type *type, struct kernel_address to,
                  LLVMValueRef value);
LLVMValueRef kernel_offset(struct kernel_emitter *e, LLVMBuilderRef builder, LLVMValueRef pointer,
                           uint64_t bytes);
LLVMBasicBlockRef kernel_block(struct kernel_emitter *e, const char *name);
void kernel_position(struct kernel_emitter *e, LLVMBasicBlockRef block);
void kernel_function_attribute(struct kernel_emitter *e, LLVMValueRef function, const char *name);
void kernel_parameter_attribute(struct kernel_emitter *e, LLVMValueRef function, unsigned parameter,
                                const char *name);
LLVMValueRef kernel_intrinsic(struct kernel_emitter *e, const char *name, LLVMValueRef *args,
                              unsigned count, LLVMTypeRef *overloads, unsigned overload_count);
/* The loop that ends with `branch` is neither unrolled nor vectorised. */
void kernel_leave_loop_alone(struct kernel_emitter *e, LLVMValueRef branch);
/* It is written out. */
void kernel_unroll_loop(struct kernel_emitter *e, LLVMValueRef branch);
/* Has the line at `address` brought to the first-level cache; an address that cannot be read does no harm. */
void kernel_prefetch(struct kernel_emitter *e, LLVMValueRef address);
/* Goes to `unlikely` where `condition` (i1, uniform) is true. */
void kernel_branch_unlikely(struct kernel_emitter *e, LLVMValueRef condition,
                            LLVMBasicBlockRef unlikely, LLVMBasicBlockRef likely);
/* Goes on where `bad` (i1, uniform) is false; where it is true the body ends with the fault. */
void kernel_fault_if(struct kernel_emitter *e, LLVMValueRef bad, enum kernel_status status,
                     struct span span, LLVMValueRef index, LLVMValueRef bound);
/* Goes on where `status` is KERNEL_OK; else the body ends with it. */
void kernel_fault_through(struct kernel_emitter *e, LLVMValueRef status);

/* ---- kernel_llvm_batch.c ---- */

/* Parameters of the internal functions; the windows follow. */
enum kernel_param {
    KERNEL_PARAM_ARGUMENTS,
    KERNEL_PARAM_TABLES,
    KERNEL_PARAM_STATE,
    KERNEL_PARAM_FIRST,
    KERNEL_PARAM_COUNT,
    KERNEL_PARAM_FAULT,
    KERNEL_PARAM_LEFT,
    KERNEL_PARAM_PRODUCED,
    KERNEL_PARAM_COMPLETED,
    KERNEL_PARAM_SEEN,
    KERNEL_PARAM_MOST,
    KERNEL_PARAM_LAUNCHES,
    KERNEL_PARAM_INDICES,
    KERNEL_PARAM_CYCLES,
    KERNEL_PARAM_ORIGINS,
    KERNEL_PARAM_PAST_CACHES,
    KERNEL_PARAM_WINDOWS,
    KERNEL_PARAM_IN = KERNEL_PARAM_WINDOWS, /* of many ends: arrays of windows */
    KERNEL_PARAM_OUT
};

void kernel_emit_variant(struct kernel_emitter *e, const struct kernel_variant *variant);
void kernel_emit_arguments_entry(struct kernel_emitter *e);
/* The firings from .. to - 1 of the batch, in lanes where the plan has some. */
/* for (i = from; i < to; i += step) one firing (lanes 0), or those of all lanes. */
void kernel_emit_firings(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to,
                         uint32_t lanes);
void kernel_emit_run(struct kernel_emitter *e, const struct kernel_lane_plan *plan,
                     LLVMValueRef from, LLVMValueRef to);
/* Begins a function: entry block, `setup`, first block of its code.  The caller fills in the rest
 * of *body. */
void kernel_body_begin(struct kernel_emitter *e, struct kernel_body *body, LLVMValueRef function,
                       uint32_t local_count);
void kernel_body_end(struct kernel_emitter *e, struct kernel_body *outer,
                     LLVMBasicBlockRef outer_at);

struct kernel_bound {
    LLVMValueRef value; /* i64 */
    uint64_t limit;     /* it is at least that: the same where it is constant */
};

/* ---- kernel_ends.c ---- */

uint64_t kernel_end_count(const struct kernel_port *ports, uint32_t count);
/* So many that their windows are found in arrays, and what is done for each is a loop. */
bool kernel_has_many_ends(const struct kernel *kernel);
/* Emits that code for each element of a port, or a loop of it; `element` is an i64. */
typedef void (*kernel_end_code)(struct kernel_emitter *e, LLVMValueRef element, void *data);
void kernel_each_end(struct kernel_emitter *e, uint64_t arity, kernel_end_code emit, void *data);
/* Stores 0 in each item of an alloca of `arity` i64. */
void kernel_zero_ends(struct kernel_emitter *e, uint64_t arity, LLVMValueRef array);
/* At setup: an array of the windows of a port; `changes`: one that may be written. */
LLVMValueRef kernel_bind_windows(struct kernel_emitter *e, const struct kernel_port *port,
                                 const struct kernel_port_state *state, const char *name,
                                 bool changes);
/* The window of an element as the batch begins: without many ends a constant. */
LLVMValueRef kernel_first_window(struct kernel_emitter *e, const struct kernel_port *port,
                                 const struct kernel_port_state *state, LLVMValueRef element);

/* ---- kernel_llvm_rate.c ---- */

/* A firing's window is not found by its number times a rate, for some port. */
bool kernel_rates_vary(const struct kernel *kernel);
bool kernel_in_moves(const struct kernel_port *port);
bool kernel_out_moves(const struct kernel *kernel, const struct kernel_port *port);
/* Of the present firing's phase: one of the list, or `single` where that is NULL.  `limit` is the
 * least of the list. */
struct kernel_bound kernel_phase_rate(struct kernel_emitter *e, uint64_t single,
                                      const uint64_t *list);
/* The least that the list holds, or `single` where it is NULL. */
uint64_t kernel_rate_least(const struct kernel *kernel, uint64_t single, const uint64_t *list);
/* Around the loop over firings, and around each of them. */
void kernel_rates_begin(struct kernel_emitter *e);
void kernel_firing_begin(struct kernel_emitter *e);
void kernel_firing_end(struct kernel_emitter *e);
void kernel_reset_counts(struct kernel_emitter *e);
/* Ends the batch: the present firing does not count.  In `finish`: says that packets are left over. */
void kernel_stop(struct kernel_emitter *e);
/* Ends the batch of a run with that status; the block is terminated. */
void kernel_leave_batch(struct kernel_emitter *e, LLVMValueRef status);
/* What stands between the two is told only to a caller that asks: whose pointer is not NULL. */
LLVMBasicBlockRef kernel_begin_asked(struct kernel_emitter *e, LLVMValueRef pointer);
void kernel_end_asked(struct kernel_emitter *e, LLVMBasicBlockRef end);
/* What the batch has appended and completed, to who asks. */
void kernel_report_batch(struct kernel_emitter *e, LLVMValueRef produced, LLVMValueRef completed,
                         LLVMValueRef most);
void kernel_report_finish(struct kernel_emitter *e, LLVMValueRef produced);

/* ---- kernel_llvm_window.c ---- */

/* Before the firings of a batch, where the kernel has 2-D windows. */
void kernel_windows_begin(struct kernel_emitter *e);
/* Some window is larger than the packet consumed. */
bool kernel_has_borders(const struct kernel *kernel);
/* The firings of a batch from `first` on, up to `count`. */
void kernel_emit_rows(struct kernel_emitter *e, const struct kernel_lane_plan *plan,
                      LLVMValueRef first, LLVMValueRef count);
struct kernel_address kernel_window_address(struct kernel_emitter *e, const struct kx *x);

/* ---- kernel_llvm_stmt.c ---- */

void kernel_statements(struct kernel_emitter *e, const struct ks *first);
void kernel_statement(struct kernel_emitter *e, const struct ks *s);

/* ---- kernel_llvm_expr.c ---- */

/* Scalars: the value.  Arrays, vectors, structs, void: NULL. */
LLVMValueRef kernel_expression(struct kernel_emitter *e, const struct kx *x);
/* Evaluates an expression of any type and writes it.  `fresh`: nothing in `x` can see the
 * destination. */
void kernel_expression_into(struct kernel_emitter *e, const struct kx *x, struct kernel_address to,
                            bool fresh);
void kernel_store_zero(struct kernel_emitter *e, const struct type *type, struct kernel_address to);
/* An address that holds the value of `x`, a new one where it has none. */
struct kernel_address kernel_value_address(struct kernel_emitter *e, const struct kx *x);
/* The place of each operand of an operation on vectors, or its value where all elements have one. */
struct kernel_operand {
    struct kernel_address at;
    LLVMValueRef value; /* NULL: at `at` */
    const struct type *item;
};
struct kernel_operand kernel_operand(struct kernel_emitter *e, const struct kx *x, bool copied);
LLVMValueRef kernel_operand_item(struct kernel_emitter *e, const struct kernel_operand *operand,
                                 uint64_t lanes, uint64_t i);
void kernel_copy(struct kernel_emitter *e, const struct type *type, struct kernel_address to,
                 struct kernel_address from);

/* ---- kernel_llvm_address.c ---- */

/* The address of a variable, or of an item or packet of something that has one. */
struct kernel_address kernel_address_of(struct kernel_emitter *e, const struct kx *x);
struct kernel_address kernel_variable_address(struct kernel_emitter *e,
                                              const struct variable *variable);
struct kernel_address kernel_member(struct kernel_emitter *e, struct kernel_address base,
                                    uint64_t offset_bytes);
struct kernel_address kernel_item(struct kernel_emitter *e, const struct type *array,
                                  struct kernel_address base, LLVMValueRef index);
/* An index as i64, checked against `bound` where it has to be. */
LLVMValueRef kernel_index(struct kernel_emitter *e, const struct kx *index, enum access_check check,
                          struct kernel_bound bound, struct span span);
struct kernel_bound kernel_constant_bound(struct kernel_emitter *e, uint64_t limit);
/* The packet `index` (i64, within the firing) of in-port and out-port `port`. */
struct kernel_address kernel_in_packet(struct kernel_emitter *e, uint32_t port,
                                       LLVMValueRef element, LLVMValueRef index);
struct kernel_address kernel_out_packet(struct kernel_emitter *e, uint32_t port,
                                        LLVMValueRef element, LLVMValueRef index);
/* The element of a port array, checked; 0 where `element` is NULL. */
LLVMValueRef kernel_port_element(struct kernel_emitter *e, const struct kernel_port *port,
                                 const struct kx *element, enum access_check check);
LLVMValueRef kernel_array_item(struct kernel_emitter *e, LLVMTypeRef item, uint64_t length,
                               LLVMValueRef array, LLVMValueRef index);

/* ---- kernel_llvm_call.c ---- */

/* The result of a scalar type; an array is written to `to`.  Void: NULL. */
LLVMValueRef kernel_call(struct kernel_emitter *e, const struct kx *x, LLVMValueRef to);
/* Ends a function with that value (NULL: none). */
void kernel_return(struct kernel_emitter *e, LLVMValueRef value);

/* ---- kernel_llvm_arith.c ---- */

LLVMValueRef kernel_binary(struct kernel_emitter *e, enum kx_op op, const struct type *type,
                           LLVMValueRef left, LLVMValueRef right, const struct kx *at);
LLVMValueRef kernel_compare(struct kernel_emitter *e, enum kx_op op, const struct type *type,
                            LLVMValueRef left, LLVMValueRef right);
LLVMValueRef kernel_negate(struct kernel_emitter *e, const struct type *type, LLVMValueRef value);
LLVMValueRef kernel_convert(struct kernel_emitter *e, LLVMValueRef value, const struct type *from,
                            const struct type *to);
/* The value with the flags of --fast-math where it is an instruction that takes them. */
LLVMValueRef kernel_relaxed(struct kernel_emitter *e, LLVMValueRef value);

/* ---- kernel_llvm_half.c ---- */

LLVMValueRef kernel_half_to_f32(struct kernel_emitter *e, LLVMValueRef half, enum scalar_type from);
LLVMValueRef kernel_f32_to_half(struct kernel_emitter *e, LLVMValueRef value, enum scalar_type to);
/* f64 to f32 by rounding to odd, so that rounding again gives the correctly rounded result. */
LLVMValueRef kernel_round_to_odd(struct kernel_emitter *e, LLVMValueRef value);

/* ---- kernel_llvm_builtin.c ---- */

LLVMValueRef kernel_builtin(struct kernel_emitter *e, const struct kx *x);
/* One element of a call on vectors, whose arguments have these elements. */
LLVMValueRef kernel_builtin_item(struct kernel_emitter *e, const struct kx *x, LLVMValueRef *args);
/* The bits of a float, those of any NaN replaced by the canonical NaN's. */
LLVMValueRef kernel_canonical_bits(struct kernel_emitter *e, LLVMValueRef value,
                                   enum scalar_type scalar);
LLVMValueRef kernel_select(struct kernel_emitter *e, LLVMValueRef condition, LLVMValueRef yes,
                           LLVMValueRef no);

/* ---- kernel_query.c ---- */

struct kernel_function *kernel_function_of(struct kernel_emitter *e, const struct function *f);
bool kernel_function_faults(struct kernel_emitter *e, const struct function *function);
bool kernel_may_fault(struct kernel_emitter *e, const struct kx *x);
bool kernel_has_effects(const struct kx *x);
/* May be evaluated though its value is not wanted: no fault, no effect, no loop, no access that
 * might be outside. */
bool kernel_is_speculatable(struct kernel_emitter *e, const struct kx *x);
bool kernel_index_is_checked(const struct kernel_emitter *e, const struct kx *index,
                             enum access_check check, uint64_t bound);
/* The same of a row or column, counted from the centre of a 2-D window. */
bool kernel_offset_is_checked(const struct kernel_emitter *e, const struct kx *offset,
                              enum access_check check, uint32_t side);
/* Is the code emitted now executed even where the conditions around it do not hold?  The analyses prove indices and
 * divisors only under these conditions, so such code keeps each of them in range. */
bool kernel_speculates(const struct kernel_emitter *e);
/* There are indices or divisors in the function, or in those that it calls, that a condition around the call may keep in
 * range. */
bool kernel_function_rests_on_proofs(struct kernel_emitter *e, const struct function *function);
/* Bytes of the local variables that the statements declare. */
uint64_t kernel_locals_bytes(const struct ks *first);
uint64_t kernel_size(struct kernel_emitter *e, const struct ks *first);

/* ---- kernel_live.c ---- */

/* Most bytes of those locals, by variable->index, that are alive at one time. */
uint64_t kernel_live_bytes(struct arena *scratch, const struct ks *first, const bool *counted,
                           uint32_t local_count);

/* ---- kernel_constants.c ---- */

struct kernel_constants {
    const struct scalar_value *values; /* each once */
    size_t count;
    LLVMValueRef table; /* a global of `type`, a struct with an item for each */
    LLVMTypeRef type;
};

/* Those of the body, if there are more than so many; else NULL. */
struct kernel_constants *kernel_collect_constants(struct kernel_emitter *e,
                                                  const struct kernel *kernel, uint32_t registers);

/* A constant as an operand: in lanes loaded from `constants`, if it is there. */
LLVMValueRef kernel_constant_in_lanes(struct kernel_emitter *e, struct scalar_value value);

/* ---- kernel_lanes.c ---- */

struct kernel_lane_plan {
    uint32_t widths[2];               /* lanes of the first and second vector loop; 0: none */
    uint32_t weave;                   /* parts of the first one's lanes, see kernel_weave.c */
    bool pairs;                       /* two parts, see kernel_pairs.c */
    const bool *varying;              /* by variable->index */
    const struct kernel_loops *loops; /* that may be written out */
    bool repeats; /* a firing may be executed twice: the second time it does the same */
    uint32_t
        padded; /* batches of fewer firings are executed as one of so many: kernel_pad.c; 0: none are */
};
/* Whether, and how, consecutive firings of the kernel are executed in the lanes of vectors. */
bool kernel_plan_lanes(struct kernel_emitter *e, const struct kernel *kernel,
                       struct kernel_lane_plan *plan);

/* ---- kernel_pad.c ---- */

/* Is that worth it for short batches of a kernel that is executed in lanes? */
bool kernel_pads(const struct kernel_emitter *e, const struct kernel *kernel);
/* In an exported entry: batches of 2 firings and more, below `lanes`, are executed as one of `lanes` by the internal
 * function.  Goes on where the others are. */
void kernel_emit_padded(struct kernel_emitter *e, const struct kernel *kernel,
                        LLVMValueRef internal, const LLVMValueRef *args, unsigned arg_count,
                        uint32_t lanes);

/* The same as kernel_plan_lanes for a kernel of a few operations, which takes and gives packet by packet: for firings whose output is
 * written past the caches. */
bool kernel_plan_stream(struct kernel_emitter *e, const struct kernel *kernel,
                        struct kernel_lane_plan *plan);

/* ---- kernel_stream.c ---- */

enum { KERNEL_LINE_BYTES = 64 }; /* of a cache, and of its memory */

/* The firings from `from` on that are executed with stores past the caches: where the batch asks for it, there are many
 * and the kernel is admitted.  Returns where the others begin. */
LLVMValueRef kernel_emit_streamed(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to);

/* Rounds of a loop that counts from a constant to a constant; 0: it is of another form, or has many. */
uint64_t kernel_rounds_of(const struct ks *loop);

/* The varying variables of a function whose scalar arguments vary, or NULL where it is not
 * admitted. */
const bool *kernel_function_lanes(struct kernel_emitter *e, const struct function *f);

/* ---- kernel_unroll.c ---- */

/* The loops of a body in lanes that may be written out; `varying` by variable->index.  In e->scratch. */
const struct kernel_loops *kernel_plan_loops(struct kernel_emitter *e, const struct ks *body,
                                             const bool *varying);
/* Whether the loop is one of them; `loops` may be NULL. */
bool kernel_is_written_out(const struct kernel_loops *loops, const struct ks *loop);
/* Whether the loop whose blocks have just been built, from `first` on, is written out: what is left of the budgets
 * decides, and becomes less.  `added_before`: body.added_instructions when the loop began. */
bool kernel_writes_out(struct kernel_emitter *e, const struct ks *s, LLVMBasicBlockRef first,
                       uint64_t added_before);
uint64_t kernel_count_instructions(LLVMValueRef function);

/* ---- kernel_gather.c ---- */

/* For each lane the item at its pointer, which is aligned as LLVM expects of its type.  `invariant`: never written while
 * the body runs. */
LLVMValueRef kernel_gather(struct kernel_emitter *e, LLVMTypeRef item, LLVMValueRef pointers,
                           bool invariant);
/* Writes them out: in the module as LLVM has optimised it. */
void kernel_expand_gathers(struct kernel_emitter *e);

/* ---- kernel_weave.c ---- */

/* In how many parts the first lanes of the plan are woven; 1: they are not. */
uint32_t kernel_weave(struct kernel_emitter *e, const struct kernel *kernel,
                      const struct kernel_lane_plan *plan);
/* Whether they are woven in pairs of bytes. */
bool kernel_weaves_pairs(struct kernel_emitter *e, const struct kernel *kernel,
                         const struct kernel_lane_plan *plan);

/* ---- kernel_pairs.c ---- */

/* An integer of 16 bits that is a packet of 8. */
bool kernel_is_packet_word(const struct kx *x);
/* A byte of each lane, LAYOUT_PAIRS: as 16 bits, and as it is. */
LLVMValueRef kernel_load_pair_words(struct kernel_emitter *e, struct kernel_address from,
                                    bool is_signed);
LLVMValueRef kernel_load_pairs(struct kernel_emitter *e, struct kernel_address from);
void kernel_store_pairs(struct kernel_emitter *e, struct kernel_address to, LLVMValueRef bytes);

/* ---- kernel_phases.c ---- */

/* Whether so many firings of the port, woven in so many parts (1: in order), are read, or appended, by phases. */
bool kernel_has_in_phases(struct kernel_emitter *e, const struct kernel_port *port, uint32_t lanes,
                          uint32_t weave);
bool kernel_has_out_phases(struct kernel_emitter *e, const struct kernel_port *port, uint32_t lanes,
                           uint32_t weave);
/* Begins a block of firings: copies the windows that are read by phases, makes room for what is appended so; and
 * ends it. */
void kernel_cut_phases(struct kernel_emitter *e);
void kernel_join_phases(struct kernel_emitter *e);
/* The packet of an in-port that has phases; the index is uniform. */
struct kernel_address kernel_phase_packet(struct kernel_emitter *e, uint32_t in,
                                          LLVMValueRef index);
/* The packet of an out-port that has phases. */
struct kernel_address kernel_appended_packet(struct kernel_emitter *e, uint32_t out,
                                             LLVMValueRef index);

/* ---- kernel_registers.c ---- */

enum { KERNEL_REGISTERS_MAX = 8 };

/* How many registers of so many bits a vector of f32 or f64 takes, a power of two; 0: it is no such vector, or does
 * not fill them, or takes more than KERNEL_REGISTERS_MAX. */
unsigned kernel_float_registers(LLVMTypeRef type, unsigned register_bits);
LLVMValueRef kernel_register_of(struct kernel_emitter *e, LLVMValueRef vector, unsigned registers,
                                unsigned index);
/* The vector of these; what the array holds is lost. */
LLVMValueRef kernel_join_registers(struct kernel_emitter *e, LLVMValueRef *registers,
                                   unsigned count);
/* A call of an intrinsic of the target. */
LLVMValueRef kernel_target_call(struct kernel_emitter *e, const char *name, LLVMValueRef *arguments,
                                unsigned count);

/* ---- kernel_nans.c ---- */

/* A scalar that is appended to an out-port of the pipeline: itself, or bits of the canonical NaN. */
LLVMValueRef kernel_canonical_packet(struct kernel_emitter *e, LLVMValueRef value,
                                     enum scalar_type scalar);
/* Is what a batch appends to that out-port made canonical when it ends? */
bool kernel_canonical_later(const struct kernel_emitter *e, const struct kernel *kernel,
                            uint32_t port);
/* Then: so many packets (i64), from where the batch's window begins. */
void kernel_canonical_window(struct kernel_emitter *e, uint32_t port, LLVMValueRef packets);

/* ---- kernel_compact.c ---- */

/* The kernel's rates vary, in lanes as well, by packets alone that single firings append or do not. */
bool kernel_compacts(struct kernel_emitter *e, const struct kernel *kernel);
/* Of an out-port: its firings append one packet or none, in one statement. */
bool kernel_port_compacts(struct kernel_emitter *e, const struct kernel *kernel, uint32_t port);
/* The lanes that execute append `value`, a vector as memory holds it. */
void kernel_append_some(struct kernel_emitter *e, uint32_t port, LLVMValueRef value);

/* ---- kernel_launch.c ---- */

void kernel_launch_statement(struct kernel_emitter *e, const struct ks *s);
LLVMValueRef kernel_done(struct kernel_emitter *e, const struct kx *x);

/* ---- kernel_origin.c ---- */

/* Remembers where the windows of an out-port begin; nothing without debug mode. */
void kernel_origins_begin(struct kernel_emitter *e, uint32_t port);
/* The packet at that address was written by the statement at `span`. */
void kernel_origin_store(struct kernel_emitter *e, uint32_t port, LLVMValueRef element,
                         LLVMValueRef packet, struct span span);

/* ---- kernel_items.c ---- */

/* Whether (i1) the registers of the batch are those of items numbered x first. */
LLVMValueRef kernel_items_numbered(struct kernel_emitter *e);
/* Begins a firing of work-items: what follows is emitted for all of them. */
void kernel_items_begin(struct kernel_emitter *e);
/* The statements of all items, which are cut into what is done together and runs in between. */
void kernel_items_statements(struct kernel_emitter *e, const struct ks *first);
/* The parts of a statement that is done together: a value (evaluated for its effects, too), the
 * beginning of a loop, the zero of a variable. */
LLVMValueRef kernel_items_value(struct kernel_emitter *e, const struct kx *x);
void kernel_items_init(struct kernel_emitter *e, const struct ks *first);
void kernel_items_zero(struct kernel_emitter *e, const struct variable *variable);
/* The present item ends its firing. */
void kernel_items_leave(struct kernel_emitter *e);

/* ---- kernel_count.c ---- */

/* Control arrives at the region (0: none), where mask and `wanted` say so. */
void kernel_count(struct kernel_emitter *e, uint32_t region);
/* A call in that region has counted so many cycles. */
void kernel_count_cycles(struct kernel_emitter *e, uint32_t region, LLVMValueRef cycles);

/* Functions: whether a call delivers cycles, and as what; begin, and before each return. */
bool kernel_function_counts(const struct kernel_emitter *e, const struct function *f);
LLVMTypeRef kernel_cycles_type(struct kernel_emitter *e, uint32_t lanes);
void kernel_count_function(struct kernel_emitter *e, struct kernel_counting *counting,
                           const struct function *f, LLVMValueRef cycles);
void kernel_count_return(struct kernel_emitter *e);
/* In the body of a kernel that launches: the value of kernel_launch.timestamp at this place. */
LLVMValueRef kernel_count_so_far(struct kernel_emitter *e);

/* Kernels: begins the body, where it counts: `counting` is its memory, `out` takes the cycles;
 * around a firing; around the work-items of a run, and behind each; at the end. */
void kernel_count_begin(struct kernel_emitter *e, struct kernel_counting *counting,
                        const struct kernel_variant *variant, LLVMValueRef out);
void kernel_count_firing_begin(struct kernel_emitter *e);
void kernel_count_firing_end(struct kernel_emitter *e);
void kernel_count_items_begin(struct kernel_emitter *e);
void kernel_count_item_end(struct kernel_emitter *e);
void kernel_count_items_end(struct kernel_emitter *e);
/* A firing costs what every other does. */
bool kernel_counts_nothing(const struct kernel_emitter *e);
/* Whether a firing that is executed twice counts once. */
bool kernel_counts_by_firing(const struct kernel_emitter *e);
void kernel_count_report(struct kernel_emitter *e);

/* Emits the firings from .. to - 1 of the batch. */
typedef void kernel_firings(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to,
                            void *data);
/* All firings of the batch, block by block where the warps of each are to be counted. */
void kernel_count_blocks(struct kernel_emitter *e, LLVMValueRef count, kernel_firings *firings,
                         void *data);
/* Where a batch that may have stopped ends. */
void kernel_count_stopped(struct kernel_emitter *e);

/* ---- link.c ---- */

struct link_bytes {
    const unsigned char *bytes;
    size_t size_bytes;
};
/* The shared object of an object file, in cx->arena.  False after RULE_CODEGEN. */
bool link_shared_object(struct compile *cx, struct link_bytes object, struct link_bytes *image);

#endif
