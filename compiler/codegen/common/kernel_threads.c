/* SPDX-License-Identifier: MIT */
/*
 * Entries for threads (lang/gpu_abi.h).
 *
 * The internal function of a kernel executes the firings of a batch in order, on every target. Here an entry calls it
 * with batches of one firing: those of its thread, with their windows. It is called from one place, so LLVM puts it in
 * that place, and the loop over one firing disappears.
 */
#include "compiler/codegen/common/kernel_threads.h"

#include <stdio.h>
#include <string.h>

#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_query.h"
#include "compiler/codegen/common/kernel_tiles.h"
#include "lang/gpu_abi.h"

enum { ENTRY_BATCH, ENTRY_BLOCK, ENTRY_BLOCKS, ENTRY_LOCAL, ENTRY_PARAMS };

struct threads {
    const struct kernel *kernel;
    const uint64_t *most; /* by output, of kernel_variant */
    struct kernel_end_counts ends;
    LLVMValueRef function, internal, batch;
    LLVMValueRef *args; /* of the internal function, as the batch has them */
    unsigned arg_count;
    LLVMValueRef first, count; /* of the batch */
    LLVMValueRef seen;         /* alloca: the 2-D windows of a firing; NULL: there are none */
    LLVMValueRef fault;        /* where a firing writes its fault */
    uint64_t together;         /* firings that a thread executes at the same time */
    struct kernel_tiles tiles;
    const struct kernel_tile *tile; /* of the firing that is emitted; NULL: it has none */
};

/* ---- questions ---- */

/* Firings follow one another in one thread. */
static bool is_sequential(struct kernel_emitter *e, const struct threads *t,
                          const struct kernel_variant *variant, enum kernel_entry_kind entry)
{
    const struct kernel *kernel = t->kernel;
    return entry != ENTRY_RUN || variant->stateful || kernel->states.count > 0 ||
           kernel->is_child || kernel_launches_any(&kernel->launches) || t->ends.many ||
           e->cx->options.debug_mode;
}

static bool has_output_ranges(const struct kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->out_count; i++)
        if (kernel->out[i].push_least != kernel->out[i].push) return true;
    return false;
}

/* ---- numbers of threads ---- */

static LLVMValueRef special_register(struct kernel_emitter *e, const char *name)
{
    LLVMTypeRef type = LLVMFunctionType(e->i32, NULL, 0, 0);
    LLVMValueRef function = LLVMGetNamedFunction(e->module, name);
    if (function == NULL) function = LLVMAddFunction(e->module, name, type);
    return LLVMBuildCall2(e->builder, type, function, NULL, 0, "");
}

/* How many bytes pipe_tiles has. */
static LLVMValueRef shared_bytes(struct kernel_emitter *e)
{
    static const char text[] = "mov.u32 $0, %dynamic_smem_size;", registers[] = "=r";
    LLVMTypeRef type = LLVMFunctionType(e->i32, NULL, 0, 0);
    LLVMValueRef read = LLVMGetInlineAsm(type, text, sizeof text - 1, registers,
                                         sizeof registers - 1, 0, 0, LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(e->builder, type, read, NULL, 0, "");
}

/* pipe_tiles, which has as many bytes as the caller says. */
static LLVMValueRef shared_memory(struct kernel_emitter *e)
{
    enum { SHARED_SPACE = 3, ALIGNMENT = 16 };
    LLVMValueRef memory = LLVMGetNamedGlobal(e->module, GPU_TILES);
    if (memory != NULL) return memory;
    memory =
        LLVMAddGlobalInAddressSpace(e->module, LLVMArrayType2(e->i8, 0), GPU_TILES, SHARED_SPACE);
    LLVMSetAlignment(memory, ALIGNMENT);
    return memory;
}

static LLVMValueRef widen_number(struct kernel_emitter *e, LLVMValueRef number)
{
    return LLVMBuildZExt(e->builder, number, e->i64, "");
}

static LLVMValueRef thread_number(struct kernel_emitter *e)
{
    return special_register(e, "llvm.nvvm.read.ptx.sreg.tid.x");
}

static LLVMValueRef entry_param(const struct threads *t, unsigned number)
{
    return LLVMGetParam(t->function, number);
}

/* The thread's number among those of all blocks, and how many these are.  The warps are dealt to the blocks one by one, so a
 * batch of few firings is divided among all of them. */
static void number_threads(struct kernel_emitter *e, const struct threads *t, LLVMValueRef *number,
                           LLVMValueRef *all)
{
    LLVMValueRef size = widen_number(e, special_register(e, "llvm.nvvm.read.ptx.sreg.ntid.x"));
    LLVMValueRef blocks = widen_number(e, entry_param(t, ENTRY_BLOCKS));
    LLVMValueRef own = widen_number(e, thread_number(e)), lanes = kernel_i64(e, GPU_WARP);
    LLVMValueRef lane = LLVMBuildURem(e->builder, own, lanes, "lane");
    LLVMValueRef row =
        LLVMBuildNUWMul(e->builder, LLVMBuildUDiv(e->builder, own, lanes, ""), blocks, "");
    LLVMValueRef warp =
        LLVMBuildNUWAdd(e->builder, row, widen_number(e, entry_param(t, ENTRY_BLOCK)), "warp");
    *number =
        LLVMBuildNUWAdd(e->builder, LLVMBuildNUWMul(e->builder, warp, lanes, ""), lane, "thread");
    *all = LLVMBuildNUWMul(e->builder, blocks, size, "threads");
}

/* ---- the windows of a firing ---- */

/* sums[n]: of the rates of the phases before n; sums[phases]: of all. */
static LLVMValueRef sum_table(struct kernel_emitter *e, const uint64_t *rates, uint32_t phases)
{
    LLVMValueRef *sums = ARENA_ARRAY(e->scratch, LLVMValueRef, phases);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < phases; i++) {
        sums[i] = kernel_i64(e, sum);
        sum += rates[i];
    }
    return kernel_private_constant(e, LLVMConstArray2(e->i64, sums, phases), "sums");
}

static LLVMValueRef sum_before(struct kernel_emitter *e, LLVMValueRef table, uint32_t phases,
                               LLVMValueRef phase)
{
    LLVMTypeRef type = LLVMArrayType2(e->i64, phases);
    LLVMValueRef indices[] = {kernel_i64(e, 0), phase};
    LLVMValueRef at = LLVMBuildInBoundsGEP2(e->builder, type, table, indices, 2, "");
    return LLVMBuildLoad2(e->builder, e->i64, at, "");
}

/* The packets of all firings of the batch before firing i, at the rate of a port. */
static LLVMValueRef packets_before(struct kernel_emitter *e, const struct threads *t,
                                   LLVMValueRef i, uint64_t rate, const uint64_t *rates)
{
    uint32_t phases = t->kernel->phases;
    if (rates == NULL) return LLVMBuildMul(e->builder, i, kernel_i64(e, rate), "");
    uint64_t cycle = 0;
    for (uint32_t phase = 0; phase < phases; phase++)
        cycle += rates[phase];
    LLVMValueRef table = sum_table(e, rates, phases), all = kernel_i64(e, phases);
    LLVMValueRef begin = LLVMBuildURem(e->builder, t->first, all, "");
    LLVMValueRef at = LLVMBuildAdd(e->builder, begin, i, "");
    LLVMValueRef cycles = LLVMBuildUDiv(e->builder, at, all, "");
    LLVMValueRef whole = LLVMBuildMul(e->builder, cycles, kernel_i64(e, cycle), "");
    LLVMValueRef rest = sum_before(e, table, phases, LLVMBuildURem(e->builder, at, all, ""));
    LLVMValueRef before = sum_before(e, table, phases, begin);
    return LLVMBuildSub(e->builder, LLVMBuildAdd(e->builder, whole, rest, ""), before, "");
}

static LLVMValueRef advance_pointer(struct kernel_emitter *e, LLVMValueRef pointer,
                                    LLVMValueRef count, uint64_t bytes)
{
    LLVMValueRef offset = LLVMBuildMul(e->builder, count, kernel_i64(e, bytes), "");
    return LLVMBuildInBoundsGEP2(e->builder, e->i8, pointer, &offset, 1, "");
}

/* A 2-D window stays where it is: `place` moves, in the firing's own copy of the records. */
static LLVMValueRef move_windows(struct kernel_emitter *e, const struct threads *t, LLVMValueRef i)
{
    const struct kernel *kernel = t->kernel;
    uint64_t input = 0;
    LLVMBuildMemCpy(e->builder, t->seen, 8, t->args[KERNEL_PARAM_SEEN], 8,
                    kernel_i64(e, t->ends.in * sizeof(struct kernel_window)));
    for (uint32_t p = 0; p < kernel->in_count; p++)
        for (uint64_t n = 0; n < kernel->in[p].arity; n++, input++) {
            if (kernel->in[p].window_width == 0) continue;
            LLVMValueRef at = kernel_offset(e, e->builder, t->seen,
                                            input * sizeof(struct kernel_window) +
                                                offsetof(struct kernel_window, place));
            LLVMValueRef place = LLVMBuildLoad2(e->builder, e->i64, at, "");
            LLVMBuildStore(e->builder, LLVMBuildAdd(e->builder, place, i, ""), at);
        }
    return t->seen;
}

static void move_ends(struct kernel_emitter *e, const struct threads *t, LLVMValueRef i,
                      LLVMValueRef *args)
{
    const struct kernel *kernel = t->kernel;
    unsigned param = KERNEL_PARAM_WINDOWS;
    uint64_t output = 0;
    for (uint32_t p = 0; p < kernel->in_count; p++) {
        const struct kernel_port *port = &kernel->in[p];
        LLVMValueRef before =
            port->window_width > 0 ? NULL : packets_before(e, t, i, port->pop, port->pops);
        for (uint64_t n = 0; n < port->arity; n++, param++)
            if (before != NULL)
                args[param] = advance_pointer(e, args[param], before, port->type->width_bytes);
    }
    for (uint32_t p = 0; p < kernel->out_count; p++) {
        const struct kernel_port *port = &kernel->out[p];
        for (uint64_t n = 0; n < port->arity; n++, param++, output++) {
            LLVMValueRef before = packets_before(e, t, i, t->most[output], port->pushes);
            args[param] = advance_pointer(e, args[param], before, port->type->width_bytes);
        }
    }
}

/* ---- firings ---- */

/* Windows of ends that are in the tile are rows of it. */
static void use_rows(struct kernel_emitter *e, const struct threads *t, LLVMValueRef *windows)
{
    for (uint64_t n = 0; n < t->tiles.count; n++)
        if (t->tiles.ends[n].firing_bytes > 0)
            windows[n] = kernel_tile_window(e, &t->tiles.ends[n], t->tile);
}

/* Firing i of the batch as a batch of its own.  Returns its status. */
static LLVMValueRef call_firing(struct kernel_emitter *e, const struct threads *t, LLVMValueRef i)
{
    LLVMValueRef nothing = LLVMConstNull(e->pointer);
    LLVMValueRef *args = ARENA_ARRAY(e->scratch, LLVMValueRef, t->arg_count);
    memcpy(args, t->args, t->arg_count * sizeof *args);
    args[KERNEL_PARAM_FIRST] = LLVMBuildAdd(e->builder, t->first, i, "firing");
    args[KERNEL_PARAM_COUNT] = kernel_i64(e, 1);
    args[KERNEL_PARAM_FAULT] = t->fault;
    args[KERNEL_PARAM_PRODUCED] =
        has_output_ranges(t->kernel)
            ? advance_pointer(e, args[KERNEL_PARAM_PRODUCED], i, t->ends.out * sizeof(uint64_t))
            : nothing;
    args[KERNEL_PARAM_SEEN] = t->seen != NULL ? move_windows(e, t, i) : nothing;
    args[KERNEL_PARAM_PAST_CACHES] = kernel_i64(e, 0);
    static const enum kernel_param unused[] = {
        KERNEL_PARAM_LEFT,    KERNEL_PARAM_COMPLETED, KERNEL_PARAM_MOST,   KERNEL_PARAM_LAUNCHES,
        KERNEL_PARAM_INDICES, KERNEL_PARAM_CYCLES,    KERNEL_PARAM_ORIGINS};
    for (size_t n = 0; n < sizeof unused / sizeof unused[0]; n++)
        args[unused[n]] = nothing;
    move_ends(e, t, i, args);
    if (t->tile != NULL) use_rows(e, t, args + KERNEL_PARAM_WINDOWS);
    return LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(t->internal), t->internal, args,
                          t->arg_count, "status");
}

static LLVMBasicBlockRef add_block(struct kernel_emitter *e, const struct threads *t,
                                   const char *name)
{
    return LLVMAppendBasicBlockInContext(e->context, t->function, name);
}

static LLVMValueRef entry_alloca(struct kernel_emitter *e, uint64_t bytes, const char *name)
{
    LLVMValueRef place = LLVMBuildAlloca(e->builder, LLVMArrayType2(e->i8, bytes), name);
    LLVMSetAlignment(place, 8);
    return place;
}

/* All firings of the thread share this; in the entry block. */
static void begin_firings(struct kernel_emitter *e, struct threads *t)
{
    t->first = t->args[KERNEL_PARAM_FIRST];
    t->count = t->args[KERNEL_PARAM_COUNT];
    if (kernel_has_windows(t->kernel))
        t->seen = entry_alloca(e, t->ends.in * sizeof(struct kernel_window), "seen");
    /* A record that the caller has not asked for is the thread's own. */
    LLVMValueRef own = entry_alloca(e, sizeof(struct kernel_fault), "fault");
    LLVMValueRef asked = t->args[KERNEL_PARAM_FAULT];
    LLVMValueRef none = LLVMBuildIsNull(e->builder, asked, "");
    t->fault = LLVMBuildSelect(e->builder, none, own, asked, "");
}

/* Firing i stops or faults. */
static void lower_completed(struct kernel_emitter *e, const struct threads *t, LLVMValueRef i)
{
    LLVMBuildAtomicRMW(e->builder, LLVMAtomicRMWBinOpUMin, t->args[KERNEL_PARAM_COMPLETED], i,
                       LLVMAtomicOrderingMonotonic, 0);
}

/* for (i = from; i < count; i += step) the firing, until one stops or faults: `completed` becomes at most its number.
 * Returns from the function. */
static void emit_firings(struct kernel_emitter *e, const struct threads *t, LLVMValueRef from,
                         LLVMValueRef step)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = add_block(e, t, "firings"), next = add_block(e, t, "next");
    LLVMBasicBlockRef stop = add_block(e, t, "stop"), end = add_block(e, t, "end");
    LLVMValueRef any = LLVMBuildICmp(e->builder, LLVMIntULT, from, t->count, "");
    LLVMBuildCondBr(e->builder, any, loop, end);
    kernel_position(e, loop);
    LLVMValueRef i = LLVMBuildPhi(e->builder, e->i64, "i");
    LLVMValueRef status = call_firing(e, t, i), good = LLVMConstInt(e->i32, KERNEL_OK, 0);
    LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntNE, status, good, "");
    kernel_branch_unlikely(e, bad, stop, next);
    kernel_position(e, stop);
    lower_completed(e, t, i);
    LLVMBuildRet(e->builder, status);
    kernel_position(e, next);
    LLVMValueRef following = LLVMBuildAdd(e->builder, i, step, "i.next");
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, following, t->count, "");
    LLVMBuildCondBr(e->builder, more, loop, end);
    LLVMAddIncoming(i, &from, &before, 1);
    LLVMAddIncoming(i, &following, &next, 1);
    kernel_position(e, end);
    LLVMBuildRet(e->builder, good);
}

/* Firings base + lane, base + lane + 32, ..., `together` of them: all load before one stores. */
static void emit_group(struct kernel_emitter *e, const struct threads *t, LLVMValueRef base)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = add_block(e, t, "group"), next = add_block(e, t, "grouped");
    LLVMBasicBlockRef stop = add_block(e, t, "stop"), end = add_block(e, t, "group.end");
    LLVMBuildBr(e->builder, loop);
    kernel_position(e, loop);
    LLVMValueRef n = LLVMBuildPhi(e->builder, e->i64, "n"), zero = kernel_i64(e, 0);
    LLVMValueRef later = LLVMBuildNUWMul(e->builder, n, kernel_i64(e, GPU_WARP), "");
    LLVMValueRef i = LLVMBuildNUWAdd(e->builder, base, later, "i");
    LLVMValueRef status = call_firing(e, t, i), good = LLVMConstInt(e->i32, KERNEL_OK, 0);
    kernel_branch_unlikely(e, LLVMBuildICmp(e->builder, LLVMIntNE, status, good, ""), stop, next);
    kernel_position(e, stop);
    lower_completed(e, t, i);
    LLVMBuildRet(e->builder, status);
    kernel_position(e, next);
    LLVMValueRef following = LLVMBuildNUWAdd(e->builder, n, kernel_i64(e, 1), "n.next");
    LLVMValueRef more =
        LLVMBuildICmp(e->builder, LLVMIntULT, following, kernel_i64(e, t->together), "");
    kernel_interleave_loop(e, LLVMBuildCondBr(e->builder, more, loop, end), t->together);
    LLVMAddIncoming(n, &zero, &before, 1);
    LLVMAddIncoming(n, &following, &next, 1);
    kernel_position(e, end);
}

/* Batches of at least one group: each warp executes groups.  The last one ends with the batch, so it may execute firings
 * again that belong to the one before.  That writes the same packets once more. */
static void emit_groups(struct kernel_emitter *e, const struct threads *t, LLVMValueRef number,
                        LLVMValueRef all)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef lanes = kernel_i64(e, GPU_WARP), size = kernel_i64(e, GPU_WARP * t->together);
    LLVMBasicBlockRef many = add_block(e, t, "many"), few = add_block(e, t, "few");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntUGE, t->count, size, ""), many, few);
    kernel_position(e, many);
    LLVMValueRef lane = LLVMBuildURem(b, number, lanes, "lane");
    LLVMValueRef last = LLVMBuildSub(b, t->count, size, "last");
    LLVMValueRef begin = LLVMBuildNUWMul(b, LLVMBuildUDiv(b, number, lanes, ""), size, "");
    LLVMValueRef step = LLVMBuildNUWMul(b, LLVMBuildUDiv(b, all, lanes, ""), size, "");
    LLVMBasicBlockRef test = add_block(e, t, "test"), body = add_block(e, t, "body");
    LLVMBasicBlockRef end = add_block(e, t, "end");
    LLVMBuildBr(b, test);
    kernel_position(e, test);
    LLVMValueRef first = LLVMBuildPhi(b, e->i64, "first");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, first, t->count, ""), body, end);
    kernel_position(e, body);
    emit_group(e, t, LLVMBuildNUWAdd(b, kernel_smaller(e, first, last), lane, "base"));
    LLVMValueRef following = LLVMBuildNUWAdd(b, first, step, "");
    LLVMBasicBlockRef back = LLVMGetInsertBlock(b);
    kernel_leave_loop_alone(e, LLVMBuildBr(b, test));
    LLVMAddIncoming(first, &begin, &many, 1);
    LLVMAddIncoming(first, &following, &back, 1);
    kernel_position(e, end);
    LLVMBuildRet(b, LLVMConstInt(e->i32, KERNEL_OK, 0));
    kernel_position(e, few);
}

static uint64_t visible_packets(const struct kernel_port *port)
{
    return port->window_width > 0 ? (uint64_t)port->window_width * port->window_height : port->peek;
}

/* How many firings a thread executes at the same time: light ones, so that their packets fit in registers. */
static uint64_t find_together(struct kernel_emitter *e, const struct threads *t)
{
    enum { PACKETS_MAX = 40, FIRINGS_MAX = 8, SIZE_MAX_NODES = 512 };
    const struct kernel *kernel = t->kernel;
    uint64_t packets = 1;
    if (e->cx->options.optimisation == 0 || t->ends.many) return 1;
    if (kernel_size(e, kernel->body) > SIZE_MAX_NODES) return 1;
    for (uint32_t i = 0; i < kernel->in_count && packets <= PACKETS_MAX; i++)
        packets += visible_packets(&kernel->in[i]) * kernel->in[i].arity;
    uint64_t firings = PACKETS_MAX / packets;
    return firings > FIRINGS_MAX ? FIRINGS_MAX : firings < 2 ? 1 : firings;
}

/* A pointer differs from others where the function runs; in a firing, that follows. */
static void move_noalias(struct kernel_emitter *e, const struct threads *t, unsigned parameter)
{
    static const char name[] = "noalias";
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    LLVMRemoveEnumAttributeAtIndex(t->internal, parameter + 1, kind);
    kernel_parameter_attribute(e, t->function, parameter, name);
}

/* In a function of its own, in which windows differ from each other in all firings, not only in each. */
static void emit_threads(struct kernel_emitter *e, struct threads *t, const char *name)
{
    LLVMValueRef *args = ARENA_ARRAY(e->scratch, LLVMValueRef, t->arg_count + 2);
    LLVMTypeRef *types = ARENA_ARRAY(e->scratch, LLVMTypeRef, t->arg_count + 2);
    memcpy(args, t->args, t->arg_count * sizeof *args);
    number_threads(e, t, &args[t->arg_count], &args[t->arg_count + 1]);
    for (unsigned i = 0; i < t->arg_count + 2; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMTypeRef type = LLVMFunctionType(e->i32, types, t->arg_count + 2, 0);
    t->function = LLVMAddFunction(e->module, arena_printf(e->scratch, "%s.firings", name), type);
    LLVMSetLinkage(t->function, LLVMInternalLinkage);
    kernel_function_attribute(e, t->function, "nounwind");
    LLVMBuildRet(e->builder,
                 LLVMBuildCall2(e->builder, type, t->function, args, t->arg_count + 2, ""));
    kernel_position(e, LLVMAppendBasicBlockInContext(e->context, t->function, "entry"));
    for (unsigned i = 0; i < t->arg_count; i++) {
        t->args[i] = LLVMGetParam(t->function, i);
        if (types[i] == e->pointer) move_noalias(e, t, i);
    }
    LLVMValueRef number = LLVMGetParam(t->function, t->arg_count);
    LLVMValueRef all = LLVMGetParam(t->function, t->arg_count + 1);
    begin_firings(e, t);
    t->together = find_together(e, t);
    if (t->together > 1) emit_groups(e, t, number, all);
    emit_firings(e, t, number, all);
}

/* ---- tiles ---- */

/* Of the warps of all blocks that have a tile: the number of this one, and how many these are.  Those without return. */
static void number_tiles(struct kernel_emitter *e, const struct threads *t, LLVMValueRef *number,
                         LLVMValueRef *all, struct kernel_tile *tile)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef lanes = LLVMConstInt(e->i32, GPU_WARP, 0), thread = thread_number(e);
    LLVMValueRef each = LLVMConstInt(e->i32, t->tiles.bytes, 0);
    LLVMValueRef room = LLVMBuildUDiv(b, shared_bytes(e), each, "");
    LLVMValueRef size = special_register(e, "llvm.nvvm.read.ptx.sreg.ntid.x");
    LLVMValueRef warps = LLVMBuildUDiv(b, size, lanes, ""),
                 warp = LLVMBuildUDiv(b, thread, lanes, "");
    LLVMValueRef scarce = LLVMBuildICmp(b, LLVMIntULT, room, warps, "");
    warps = LLVMBuildSelect(b, scarce, room, warps, "");
    LLVMBasicBlockRef own = add_block(e, t, "own"), none = add_block(e, t, "none");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, warp, warps, ""), own, none);
    kernel_position(e, none);
    LLVMBuildRet(b, LLVMConstInt(e->i32, KERNEL_OK, 0));
    kernel_position(e, own);
    LLVMValueRef blocks = widen_number(e, entry_param(t, ENTRY_BLOCKS));
    LLVMValueRef row = LLVMBuildNUWMul(b, widen_number(e, warp), blocks, "");
    *number = LLVMBuildNUWAdd(b, row, widen_number(e, entry_param(t, ENTRY_BLOCK)), "tile");
    *all = LLVMBuildNUWMul(b, blocks, widen_number(e, warps), "tiles");
    LLVMValueRef distance = widen_number(e, LLVMBuildMul(b, warp, each, ""));
    tile->memory = LLVMBuildInBoundsGEP2(b, e->i8, shared_memory(e), &distance, 1, "");
    tile->lane = LLVMBuildURem(b, thread, lanes, "lane");
}

/* The first lane by itself executes one firing and copies its packets: other lanes may not be there. */
static LLVMValueRef find_lanes(struct kernel_emitter *e, const struct threads *t,
                               LLVMValueRef alone, struct kernel_tile *tile)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef one = LLVMConstInt(e->i32, 1, 0), none = LLVMConstNull(e->i32);
    LLVMBasicBlockRef wanted = add_block(e, t, "wanted"), other = add_block(e, t, "other");
    LLVMValueRef later = LLVMBuildICmp(b, LLVMIntNE, tile->lane, none, "");
    LLVMBuildCondBr(b, LLVMBuildAnd(b, alone, later, ""), other, wanted);
    kernel_position(e, other);
    LLVMBuildRet(b, LLVMConstInt(e->i32, KERNEL_OK, 0));
    kernel_position(e, wanted);
    tile->lanes = LLVMBuildSelect(b, alone, one, LLVMConstInt(e->i32, GPU_WARP, 0), "lanes");
    return LLVMBuildSelect(b, alone, one, LLVMConstAllOnes(e->i32), "mask");
}

static void meet_warp(struct kernel_emitter *e, LLVMValueRef mask)
{
    kernel_intrinsic(e, "llvm.nvvm.bar.warp.sync", &mask, 1, NULL, 0);
}

/* Firing i with its row of the tile.  Leaves its status in `status` if it stops or faults. */
static void fire_in_tile(struct kernel_emitter *e, struct threads *t,
                         const struct kernel_tile *tile, LLVMValueRef i, LLVMValueRef status)
{
    LLVMBasicBlockRef fire = add_block(e, t, "fire"), stop = add_block(e, t, "stop");
    LLVMBasicBlockRef fired = add_block(e, t, "fired");
    LLVMValueRef some = LLVMBuildICmp(e->builder, LLVMIntULT, tile->lane, tile->firings, "");
    LLVMBuildCondBr(e->builder, some, fire, fired);
    kernel_position(e, fire);
    t->tile = tile;
    LLVMValueRef own = call_firing(e, t, i), good = LLVMConstInt(e->i32, KERNEL_OK, 0);
    t->tile = NULL;
    kernel_branch_unlikely(e, LLVMBuildICmp(e->builder, LLVMIntNE, own, good, ""), stop, fired);
    kernel_position(e, stop);
    lower_completed(e, t, i);
    LLVMBuildStore(e->builder, own, status);
    LLVMBuildBr(e->builder, fired);
    kernel_position(e, fired);
}

/* The windows of firing `first`, by end. */
static LLVMValueRef *tile_windows(struct kernel_emitter *e, const struct threads *t,
                                  LLVMValueRef first)
{
    LLVMValueRef *args = ARENA_ARRAY(e->scratch, LLVMValueRef, t->arg_count);
    memcpy(args, t->args, t->arg_count * sizeof *args);
    move_ends(e, t, first, args);
    return args + KERNEL_PARAM_WINDOWS;
}

/* for (number; number x firings < count; number += all) a tile */
static void emit_tiles(struct kernel_emitter *e, struct threads *t)
{
    LLVMBuilderRef b = e->builder;
    struct kernel_tile tile;
    LLVMValueRef number, all, each = kernel_i64(e, t->tiles.firings);
    begin_firings(e, t);
    LLVMValueRef status = entry_alloca(e, sizeof(uint32_t), "status");
    LLVMBuildStore(b, LLVMConstInt(e->i32, KERNEL_OK, 0), status);
    number_tiles(e, t, &number, &all, &tile);
    LLVMValueRef alone = LLVMBuildICmp(b, LLVMIntEQ, t->count, kernel_i64(e, 1), "alone");
    LLVMValueRef mask = find_lanes(e, t, alone, &tile);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), test = add_block(e, t, "test");
    LLVMBasicBlockRef body = add_block(e, t, "tile"), end = add_block(e, t, "end");
    LLVMBuildBr(b, test);
    kernel_position(e, test);
    LLVMValueRef n = LLVMBuildPhi(b, e->i64, "n");
    LLVMValueRef first = LLVMBuildNUWMul(b, n, each, "first");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, first, t->count, ""), body, end);
    kernel_position(e, body);
    LLVMValueRef rest = kernel_smaller(e, LLVMBuildSub(b, t->count, first, ""), each);
    tile.firings = LLVMBuildTrunc(b, rest, e->i32, "");
    const LLVMValueRef *windows = tile_windows(e, t, first);
    kernel_copy_tile(e, &t->tiles, &tile, windows, false);
    meet_warp(e, mask);
    LLVMValueRef i = LLVMBuildNUWAdd(b, first, widen_number(e, tile.lane), "");
    fire_in_tile(e, t, &tile, i, status);
    meet_warp(e, mask);
    kernel_copy_tile(e, &t->tiles, &tile, windows, true);
    LLVMValueRef next = LLVMBuildNUWAdd(b, n, all, "");
    LLVMBasicBlockRef last = LLVMGetInsertBlock(b);
    kernel_leave_loop_alone(e, LLVMBuildBr(b, test));
    LLVMAddIncoming(n, &number, &before, 1);
    LLVMAddIncoming(n, &next, &last, 1);
    kernel_position(e, end);
    LLVMBuildRet(b, LLVMBuildLoad2(b, e->i32, status, ""));
}

/* All firings in thread 0 of block 0. */
static void emit_one_thread(struct kernel_emitter *e, const struct threads *t)
{
    LLVMBasicBlockRef first = add_block(e, t, "first"), other = add_block(e, t, "other");
    LLVMValueRef any = LLVMBuildOr(e->builder, entry_param(t, ENTRY_BLOCK), thread_number(e), "");
    LLVMValueRef is_first =
        LLVMBuildICmp(e->builder, LLVMIntEQ, any, LLVMConstInt(e->i32, 0, 0), "");
    LLVMBuildCondBr(e->builder, is_first, first, other);
    kernel_position(e, first);
    LLVMBuildRet(e->builder, LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(t->internal),
                                            t->internal, t->args, t->arg_count, ""));
    kernel_position(e, other);
    LLVMBuildRet(e->builder, LLVMConstInt(e->i32, KERNEL_OK, 0));
}

/* ---- entries ---- */

static LLVMTypeRef entry_type(struct kernel_emitter *e)
{
    LLVMTypeRef params[ENTRY_PARAMS] = {e->pointer, e->i32, e->i32, e->pointer};
    return LLVMFunctionType(e->i32, params, ENTRY_PARAMS, 0);
}

void kernel_export_threads(struct kernel_emitter *e, const char *name,
                           const struct kernel_variant *variant, enum kernel_entry_kind entry,
                           LLVMValueRef internal, struct kernel_end_counts ends)
{
    struct threads t = {
        .kernel = variant->kernel, .most = variant->most, .ends = ends, .internal = internal};
    t.function = LLVMAddFunction(e->module, name, entry_type(e));
    kernel_function_attribute(e, t.function, "nounwind");
    kernel_function_attribute(e, t.function, "noinline");
    kernel_position(e, LLVMAppendBasicBlockInContext(e->context, t.function, "entry"));
    t.batch = entry_param(&t, ENTRY_BATCH);
    t.args = ARENA_ARRAY(e->scratch, LLVMValueRef, LLVMCountParams(internal));
    t.arg_count = kernel_batch_arguments(e, t.batch, ends, t.args);
    if (is_sequential(e, &t, variant, entry))
        emit_one_thread(e, &t);
    else if (kernel_plan_tiles(e, t.kernel, ends, &t.tiles))
        emit_tiles(e, &t);
    else
        emit_threads(e, &t, name);
}

/* ---- pipe_call ---- */

struct call {
    LLVMValueRef function, branch;
    LLVMBasicBlockRef other;
};

static void add_case(struct kernel_emitter *e, const struct call *call, uint32_t number,
                     const char *name)
{
    LLVMValueRef entry = LLVMGetNamedFunction(e->module, name), args[ENTRY_PARAMS];
    if (entry == NULL) return;
    LLVMBasicBlockRef block = LLVMAppendBasicBlockInContext(e->context, call->function, name);
    kernel_position(e, block);
    for (unsigned i = 0; i < ENTRY_PARAMS; i++)
        args[i] = LLVMGetParam(call->function, i + 1);
    LLVMBuildRet(e->builder,
                 LLVMBuildCall2(e->builder, entry_type(e), entry, args, ENTRY_PARAMS, ""));
    LLVMAddCase(call->branch, LLVMConstInt(e->i32, number, 0), block);
}

void kernel_emit_call(struct kernel_emitter *e)
{
    static const char *const names[GPU_ENTRY_KINDS] = {"run", "init", "finish"};
    LLVMTypeRef params[ENTRY_PARAMS + 1] = {e->i32, e->pointer, e->i32, e->i32, e->pointer};
    struct call call = {.function =
                            LLVMAddFunction(e->module, "pipe_call",
                                            LLVMFunctionType(e->i32, params, ENTRY_PARAMS + 1, 0))};
    kernel_function_attribute(e, call.function, "nounwind");
    kernel_position(e, LLVMAppendBasicBlockInContext(e->context, call.function, "entry"));
    call.other = LLVMAppendBasicBlockInContext(e->context, call.function, "other");
    call.branch = LLVMBuildSwitch(e->builder, LLVMGetParam(call.function, 0), call.other, 8);
    for (size_t i = 0; i < e->variants.count; i++)
        for (uint32_t kind = 0; kind < GPU_ENTRY_KINDS; kind++) {
            uint32_t id = e->variants.items[i].id;
            add_case(e, &call, GPU_ENTRY(id, kind),
                     arena_printf(e->scratch, "pipe_k%u_%s", id, names[kind]));
        }
    kernel_position(e, call.other);
    LLVMBuildRet(e->builder, LLVMConstInt(e->i32, KERNEL_OK, 0));
}
