/* SPDX-License-Identifier: MIT */
/*
 * The entries of kernels (lang/kernel_abi.h) and the loop over the firings of a batch.
 *
 * An exported entry loads the fields of its `struct kernel_batch` and calls an internal function,
 * whose pointers are parameters: their attributes say that they do not overlap. With many ends (kernel_ends.c) it
 * gets the two arrays of windows.
 */
#include "compiler/codegen/common/kernel_llvm_batch.h"

#include <string.h>

#include "compiler/codegen/common/bitwidth.h"
#include "compiler/codegen/common/kernel_constants.h"
#include "compiler/codegen/common/kernel_count.h"
#include "compiler/codegen/common/kernel_ends.h"
#include "compiler/codegen/common/kernel_items.h"
#include "compiler/codegen/common/kernel_lanes.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_expr.h"
#include "compiler/codegen/common/kernel_llvm_rate.h"
#include "compiler/codegen/common/kernel_llvm_stmt.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_unroll.h"
#include "compiler/codegen/common/kernel_llvm_window.h"
#include "compiler/codegen/common/kernel_nans.h"
#include "compiler/codegen/common/kernel_origin.h"
#include "compiler/codegen/common/kernel_pad.h"
#include "compiler/codegen/common/kernel_phases.h"
#include "compiler/codegen/common/kernel_query.h"
#include "compiler/codegen/common/kernel_stream.h"
#include "compiler/codegen/common/kernel_threads.h"

/* ---- functions ---- */

void kernel_body_begin(struct kernel_emitter *e, struct kernel_body *body, LLVMValueRef function,
                       uint32_t local_count)
{
    e->body = body;
    body->llvm = function;
    body->weave = 1;
    body->locals = ARENA_ARRAY(e->scratch, LLVMValueRef, local_count);
    LLVMBasicBlockRef entry = kernel_block(e, "entry"), code = kernel_block(e, "code");
    kernel_position(e, entry);
    LLVMValueRef end = LLVMBuildBr(e->builder, code);
    body->setup = LLVMCreateBuilderInContext(e->context);
    LLVMPositionBuilderBefore(body->setup, end);
    kernel_position(e, code);
}

void kernel_body_end(struct kernel_emitter *e, struct kernel_body *outer,
                     LLVMBasicBlockRef outer_at)
{
    LLVMDisposeBuilder(e->body->setup);
    e->added_instructions += e->body->added_instructions;
    e->body = outer;
    if (outer_at != NULL) kernel_position(e, outer_at);
}

static const char *const param_names[] = {
    "arguments", "tables", "state", "first",    "count",   "fault",  "left",    "produced",
    "completed", "seen",   "most",  "launches", "indices", "cycles", "origins", "past.caches"};

/* The others are pointers. */
static bool is_number_parameter(unsigned param)
{
    return param == KERNEL_PARAM_FIRST || param == KERNEL_PARAM_COUNT ||
           param == KERNEL_PARAM_PAST_CACHES;
}

static LLVMValueRef add_internal(struct kernel_emitter *e, const char *name,
                                 struct kernel_end_counts ends, enum kernel_entry_kind entry)
{
    uint64_t windows = ends.many ? 2 : ends.in + ends.out, not_written = ends.many ? 2 : ends.in;
    unsigned count = (unsigned)(KERNEL_PARAM_WINDOWS + windows);
    LLVMTypeRef *types = ARENA_ARRAY(e->scratch, LLVMTypeRef, count);
    for (unsigned i = 0; i < count; i++) {
        types[i] = is_number_parameter(i) ? e->i64 : e->pointer;
    }
    LLVMValueRef function =
        LLVMAddFunction(e->module, name, LLVMFunctionType(e->i32, types, count, 0));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef param = LLVMGetParam(function, i);
        if (i < KERNEL_PARAM_WINDOWS)
            LLVMSetValueName2(param, param_names[i], strlen(param_names[i]));
        if (is_number_parameter(i)) continue;
        kernel_parameter_attribute(e, function, i, "noalias");
        bool read_only = i == KERNEL_PARAM_ARGUMENTS || i == KERNEL_PARAM_LEFT ||
                         i == KERNEL_PARAM_SEEN || i == KERNEL_PARAM_INDICES ||
                         i == KERNEL_PARAM_ORIGINS ||
                         (i == KERNEL_PARAM_TABLES && entry != ENTRY_INIT) ||
                         (i >= KERNEL_PARAM_WINDOWS && i < KERNEL_PARAM_WINDOWS + not_written);
        if (read_only) kernel_parameter_attribute(e, function, i, "readonly");
    }
    kernel_function_attribute(e, function, "nounwind");
    if (!e->code->threads) kernel_function_attribute(e, function, "noinline");
    return function;
}

/* ---- exported entries ---- */

static LLVMValueRef kernel_batch_field(struct kernel_emitter *e, LLVMValueRef batch,
                                       LLVMTypeRef type, size_t offset)
{
    return LLVMBuildLoad2(e->builder, type, kernel_offset(e, e->builder, batch, offset), "");
}

/* The arguments that are windows, or the arrays of them.  Returns their number. */
static unsigned load_windows(struct kernel_emitter *e, LLVMValueRef batch,
                             struct kernel_end_counts ends, LLVMValueRef *args)
{
    static const size_t offsets[] = {offsetof(struct kernel_batch, in),
                                     offsetof(struct kernel_batch, out)};
    const uint64_t counts[] = {ends.in, ends.out};
    unsigned loaded = 0;
    for (int side = 0; side < 2; side++) {
        if (!ends.many && counts[side] == 0) continue;
        LLVMValueRef windows = kernel_batch_field(e, batch, e->pointer, offsets[side]);
        if (ends.many) args[loaded++] = windows;
        for (uint64_t i = 0; !ends.many && i < counts[side]; i++)
            args[loaded++] = kernel_batch_field(e, windows, e->pointer, i * sizeof(void *));
    }
    return loaded;
}

unsigned kernel_batch_arguments(struct kernel_emitter *e, LLVMValueRef batch,
                                struct kernel_end_counts ends, LLVMValueRef *args)
{
    static const size_t offsets[] = {
        offsetof(struct kernel_batch, arguments), offsetof(struct kernel_batch, tables),
        offsetof(struct kernel_batch, state),     offsetof(struct kernel_batch, first_firing),
        offsetof(struct kernel_batch, count),     offsetof(struct kernel_batch, fault),
        offsetof(struct kernel_batch, left),      offsetof(struct kernel_batch, produced),
        offsetof(struct kernel_batch, completed), offsetof(struct kernel_batch, windows),
        offsetof(struct kernel_batch, most),      offsetof(struct kernel_batch, launches),
        offsetof(struct kernel_batch, indices),   offsetof(struct kernel_batch, warp_cycles),
        offsetof(struct kernel_batch, origins),   offsetof(struct kernel_batch, past_caches)};
    for (unsigned i = 0; i < KERNEL_PARAM_WINDOWS; i++) {
        LLVMTypeRef field = is_number_parameter(i) ? e->i64 : e->pointer;
        args[i] = kernel_batch_field(e, batch, field, offsets[i]);
    }
    return KERNEL_PARAM_WINDOWS + load_windows(e, batch, ends, args + KERNEL_PARAM_WINDOWS);
}

/* `padded`: of batches of fewer firings than that; 0: of none. */
static void add_exported(struct kernel_emitter *e, const char *name, const struct kernel *kernel,
                         LLVMValueRef internal, struct kernel_end_counts ends, uint32_t padded)
{
    LLVMTypeRef type = LLVMFunctionType(e->i32, &e->pointer, 1, 0);
    LLVMValueRef function = LLVMAddFunction(e->module, name, type);
    kernel_function_attribute(e, function, "nounwind");
    kernel_position(e, LLVMAppendBasicBlockInContext(e->context, function, "entry"));
    LLVMValueRef batch = LLVMGetParam(function, 0);
    LLVMSetValueName2(batch, "batch", strlen("batch"));
    LLVMValueRef *args = ARENA_ARRAY(e->scratch, LLVMValueRef, LLVMCountParams(internal));
    unsigned count = kernel_batch_arguments(e, batch, ends, args);
    if (padded > 0) kernel_emit_padded(e, kernel, internal, args, count, padded);
    LLVMBuildRet(e->builder, LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(internal), internal,
                                            args, count, ""));
}

/* ---- what a body starts with ---- */

/* The windows of a port's elements in an array of the batch: from that number on. */
static LLVMValueRef windows_from(struct kernel_emitter *e, unsigned array_param, uint64_t first)
{
    struct kernel_body *body = e->body;
    if (!body->many_ends) return NULL;
    LLVMValueRef all = LLVMGetParam(body->llvm, array_param);
    return kernel_offset(e, body->setup, all, first * sizeof(void *));
}

static void bind_batch_ports(struct kernel_emitter *e, const struct kernel_variant *variant)
{
    struct kernel_body *body = e->body;
    const struct kernel *kernel = variant->kernel;
    unsigned param = KERNEL_PARAM_WINDOWS;
    uint64_t input = 0, output = 0;
    body->many_ends = kernel_has_many_ends(kernel);
    body->in = ARENA_ARRAY(e->scratch, struct kernel_port_state, kernel->in_count);
    body->out = ARENA_ARRAY(e->scratch, struct kernel_port_state, kernel->out_count);
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        struct kernel_port_state *state = &body->in[i];
        state->first_param = param;
        state->moves = body->entry == ENTRY_RUN && kernel_in_moves(port);
        state->windows = windows_from(e, KERNEL_PARAM_IN, input);
        bool changes = state->moves || port->window_width > 0;
        state->pointers = kernel_bind_windows(e, port, state, port->name, changes);
        param += (unsigned)port->arity;
        input += port->arity;
    }
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        body->out[i].first_param = param;
        body->out[i].moves = body->entry == ENTRY_RUN && kernel_out_moves(kernel, port);
        body->out[i].windows = windows_from(e, KERNEL_PARAM_OUT, output);
        body->out[i].pointers =
            kernel_bind_windows(e, port, &body->out[i], port->name, body->out[i].moves);
        body->out[i].counts = kernel_alloca(e, LLVMArrayType2(e->i64, port->arity), "count");
        body->out[i].canonical_later = body->entry == ENTRY_RUN && variant->canonical[i] &&
                                       kernel_canonical_later(e, kernel, i);
        body->out[i].canonical = variant->canonical[i] && !body->out[i].canonical_later;
        body->out[i].first_output = output;
        kernel_origins_begin(e, i);
        param += (unsigned)port->arity;
        output += port->arity;
    }
}

static LLVMValueRef load_scalar_at_setup(struct kernel_emitter *e, const struct variable *variable,
                                         LLVMValueRef base)
{
    LLVMBuilderRef code = e->builder;
    struct kernel_address at = {.pointer =
                                    kernel_offset(e, e->body->setup, base, variable->offset_bytes)};
    e->builder = e->body->setup;
    LLVMValueRef value = kernel_load(e, variable->type, at);
    e->builder = code;
    return value;
}

/* Scalar arguments become values, scalar state variables live in allocas. */
static void load_block_scalars(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    const struct kernel *kernel = body->kernel;
    body->argument_values = ARENA_ARRAY(e->scratch, LLVMValueRef, kernel->argument_count);
    for (uint32_t i = 0; i < kernel->argument_count; i++) {
        const struct variable *variable = kernel->arguments[i];
        if (!type_is_scalar(variable->type)) continue;
        body->argument_values[i] = load_scalar_at_setup(e, variable, body->arguments);
    }
    body->state_values = ARENA_ARRAY(e->scratch, LLVMValueRef, kernel->states.count);
    for (size_t i = 0; i < kernel->states.count; i++) {
        const struct variable *variable = kernel->states.items[i];
        if (!type_is_scalar(variable->type)) continue;
        LLVMValueRef value = load_scalar_at_setup(e, variable, body->state);
        LLVMBuilderRef code = e->builder;
        e->builder = body->setup;
        body->state_values[i] =
            kernel_alloca(e, kernel_memory_type(e, variable->type), variable->name);
        struct kernel_address local = {.pointer = body->state_values[i]};
        kernel_store(e, variable->type, local, value);
        e->builder = code;
    }
}

static void store_state_scalars(struct kernel_emitter *e)
{
    const struct kernel *kernel = e->body->kernel;
    for (size_t i = 0; i < kernel->states.count; i++) {
        const struct variable *variable = kernel->states.items[i];
        if (!type_is_scalar(variable->type)) continue;
        struct kernel_address local = {.pointer = e->body->state_values[i]};
        struct kernel_address block = {
            .pointer = kernel_offset(e, e->builder, e->body->state, variable->offset_bytes)};
        kernel_store(e, variable->type, block, kernel_load(e, variable->type, local));
    }
}

/* ---- the loop over firings ---- */

/* The same pointer, but LLVM must not know that it is the same in every round. So values are loaded through it
 * where they are used. Otherwise LLVM would keep a large table or many arguments as vectors on the stack. */
static LLVMValueRef launder_pointer(struct kernel_emitter *e, LLVMValueRef pointer)
{
    enum { INACCESSIBLE_MEMORY = 3 << 2 };
    static const char tie[] = "=r,0", memory[] = "memory";
    LLVMTypeRef type = LLVMFunctionType(e->pointer, &e->pointer, 1, 0);
    LLVMValueRef same =
        LLVMGetInlineAsm(type, "", 0, tie, sizeof tie - 1, 1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMValueRef call = LLVMBuildCall2(e->builder, type, same, &pointer, 1, "");
    unsigned kind = LLVMGetEnumAttributeKindForName(memory, sizeof memory - 1);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(e->context, kind, INACCESSIBLE_MEMORY));
    kind = LLVMGetEnumAttributeKindForName("nounwind", strlen("nounwind"));
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(e->context, kind, 0));
    return call;
}

/* The next window of a kernel that takes long blocks is fetched meanwhile: its packets may be read in an order that
 * no processor foresees.  An address past the last window is never read. */
static void fetch_next_windows(struct kernel_emitter *e)
{
    enum { BYTES_MIN = 512, BYTES_MAX = 4096 };
    const struct kernel *kernel = e->body->kernel;
    if (e->body->lanes > 0 || e->body->entry != ENTRY_RUN || e->cx->options.optimisation == 0)
        return;
    if (e->code->threads) return;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        if (port->is_array || port->window_width > 0 || port->pop > BYTES_MAX) continue;
        uint64_t bytes = port->pop * port->type->width_bytes;
        if (bytes < BYTES_MIN || bytes > BYTES_MAX) continue;
        LLVMValueRef window = kernel_in_packet(e, i, kernel_i64(e, 0), kernel_i64(e, 0)).pointer;
        for (uint64_t at = 0; at < bytes; at += KERNEL_LINE_BYTES) {
            LLVMValueRef place = kernel_i64(e, bytes + at);
            kernel_prefetch(e, LLVMBuildGEP2(e->builder, e->i8, window, &place, 1, ""));
        }
    }
}

/* Firings that write past the caches are light: they wait for memory, and the processor by itself fetches nothing beyond
 * a page.  So their inputs are fetched earlier, by half of a small first-level cache.  An address past the last packet
 * is never read. */
static void fetch_lines_ahead(struct kernel_emitter *e)
{
    enum { AHEAD_BYTES = 16384 };
    const struct kernel *kernel = e->body->kernel;
    if (!e->body->streamed || kernel->in_count == 0) return;
    uint64_t ahead = AHEAD_BYTES / kernel->in_count;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        if (port->is_array) continue;
        uint64_t bytes = e->body->lanes * port->type->width_bytes;
        LLVMValueRef packet = kernel_in_packet(e, i, kernel_i64(e, 0), kernel_i64(e, 0)).pointer;
        for (uint64_t at = 0; at < bytes; at += KERNEL_LINE_BYTES) {
            LLVMValueRef place = kernel_i64(e, ahead + at);
            kernel_prefetch(e, LLVMBuildGEP2(e->builder, e->i8, packet, &place, 1, ""));
        }
    }
}

/* Emits one firing, or the firings of all lanes: from `i` on. */
static void emit_firing(struct kernel_emitter *e, LLVMValueRef i, LLVMValueRef first)
{
    struct kernel_body *body = e->body;
    const struct kernel *kernel = body->kernel;
    body->firing = i;
    body->firing_number = LLVMBuildAdd(e->builder, first, i, "firing");
    body->locals = ARENA_ARRAY(e->scratch, LLVMValueRef, kernel->local_count);
    body->end = kernel_block(e, "firing.end");
    /* Arguments, tables and constants of a block of firings in lanes. */
    body->tables = LLVMGetParam(body->llvm, KERNEL_PARAM_TABLES);
    body->arguments = LLVMGetParam(body->llvm, KERNEL_PARAM_ARGUMENTS);
    body->arguments_anew = false;
    if (body->lanes != 0) {
        uint32_t registers = e->isa.vector_registers / 2;
        body->tables = launder_pointer(e, body->tables);
        body->arguments_anew = body->kernel->argument_count > registers;
        if (body->arguments_anew) body->arguments = launder_pointer(e, body->arguments);
        if (body->constants != NULL)
            body->constants_at = launder_pointer(e, body->constants->table);
    }
    kernel_firing_begin(e);
    kernel_count_firing_begin(e);
    kernel_cut_phases(e);
    fetch_next_windows(e);
    fetch_lines_ahead(e);
    if (kernel->grouped) kernel_items_begin(e);
    kernel_statements(e, kernel->body);
    body->together = false;
    LLVMBuildBr(e->builder, body->end);
    kernel_position(e, body->end);
    kernel_join_phases(e);
    kernel_count_firing_end(e);
    kernel_firing_end(e);
}

/* for (i = from; i < to; i += step) one firing, or `lanes` firings; in none of these rounds i is above `last`. */
static void emit_rounds(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to,
                        LLVMValueRef last, uint32_t lanes)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = kernel_block(e, lanes > 0 ? "lanes" : "firings");
    LLVMBasicBlockRef end = kernel_block(e, "firings.end");
    LLVMValueRef any = LLVMBuildICmp(e->builder, LLVMIntULT, from, to, "");
    LLVMBuildCondBr(e->builder, any, loop, end);
    kernel_position(e, loop);
    LLVMValueRef i = LLVMBuildPhi(e->builder, e->i64, "i");
    e->body->lanes = lanes;
    emit_firing(e, i, LLVMGetParam(e->body->llvm, KERNEL_PARAM_FIRST));
    e->body->lanes = 0;
    LLVMValueRef step = kernel_i64(e, lanes > 0 ? lanes : 1);
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, i, step, "i.next");
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, to, "");
    if (last != NULL) next = kernel_smaller(e, next, last);
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    LLVMValueRef repeat = LLVMBuildCondBr(e->builder, more, loop, end);
    if (e->body->varying != NULL || e->body->border_row != NULL) kernel_leave_loop_alone(e, repeat);
    LLVMAddIncoming(i, &from, &before, 1);
    LLVMAddIncoming(i, &next, &latch, 1);
    kernel_position(e, end);
}

void kernel_emit_firings(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to,
                         uint32_t lanes)
{
    emit_rounds(e, from, to, NULL, lanes);
}

/* The firings from *from on, all of them: the last block begins as early as it has to be whole, and executes some
 * once more.  *from: `to`, or as it was where from `begin` to `to` are too few for a block. */
static void emit_overlapping(struct kernel_emitter *e, LLVMValueRef begin, LLVMValueRef *from,
                             LLVMValueRef to, uint32_t lanes)
{
    LLVMValueRef width = kernel_i64(e, lanes);
    LLVMValueRef all = LLVMBuildSub(e->builder, to, begin, "");
    LLVMValueRef whole = LLVMBuildICmp(e->builder, LLVMIntUGE, all, width, "");
    LLVMValueRef last = LLVMBuildSub(e->builder, to, width, "last");
    LLVMValueRef any = LLVMBuildICmp(e->builder, LLVMIntULT, *from, to, "");
    LLVMValueRef first = LLVMBuildSelect(e->builder, any, kernel_smaller(e, *from, last), to, "");
    LLVMValueRef end = LLVMBuildSelect(e->builder, whole, to, *from, "end");
    emit_rounds(e, LLVMBuildSelect(e->builder, whole, first, *from, ""), end, last, lanes);
    *from = end;
}

/* Blocks of so many firings from *from on, as far as they are whole.  Where firings may repeat and what is left over is
 * half a block or more, another one overlaps the last: it takes less than several of the second width. */
static void emit_blocks(struct kernel_emitter *e, bool repeats, LLVMValueRef *from, LLVMValueRef to,
                        uint32_t lanes)
{
    LLVMValueRef count = LLVMBuildSub(e->builder, to, *from, "");
    LLVMValueRef whole = LLVMBuildAnd(e->builder, count, kernel_i64(e, ~(uint64_t)(lanes - 1)), "");
    LLVMValueRef middle = LLVMBuildAdd(e->builder, *from, whole, "middle"), last = NULL;
    if (repeats) {
        LLVMValueRef rest = LLVMBuildSub(e->builder, count, whole, "");
        LLVMValueRef much =
            LLVMBuildICmp(e->builder, LLVMIntUGE, rest, kernel_i64(e, lanes / 2), "");
        LLVMValueRef some = LLVMBuildICmp(e->builder, LLVMIntUGE, count, kernel_i64(e, lanes), "");
        LLVMValueRef overlaps = LLVMBuildAnd(e->builder, much, some, "overlaps");
        middle = LLVMBuildSelect(e->builder, overlaps, to, middle, "");
        last = LLVMBuildSub(e->builder, to, kernel_i64(e, lanes), "last");
    }
    emit_rounds(e, *from, middle, last, lanes);
    *from = middle;
}

void kernel_emit_run(struct kernel_emitter *e, const struct kernel_lane_plan *plan,
                     LLVMValueRef from, LLVMValueRef to)
{
    LLVMValueRef begin = from;
    for (int i = 0; i < 2 && plan->widths[i] > 0; i++) {
        /* Counters are of lanes in order. */
        e->body->weave = i == 0 && kernel_counts_nothing(e) ? plan->weave : 1;
        e->body->pairs = e->body->weave > 1 && plan->pairs;
        bool is_last = i == 1 || plan->widths[i + 1] == 0;
        if (plan->repeats && is_last)
            emit_overlapping(e, begin, &from, to, plan->widths[i]);
        else
            emit_blocks(e, plan->repeats, &from, to, plan->widths[i]);
    }
    e->body->weave = 1;
    e->body->pairs = false;
    e->body->remainder = plan->widths[0] > 0;
    kernel_emit_firings(e, from, to, 0);
    e->body->remainder = false;
}

/* for (i = from; i + phases <= to; i += phases) the firings of a cycle, whose phases are constants
 * there. */
static void emit_cycles(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to)
{
    uint32_t phases = e->body->kernel->phases;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = kernel_block(e, "cycles"), end = kernel_block(e, "cycles.end");
    LLVMBuildBr(e->builder, loop);
    kernel_position(e, loop);
    LLVMValueRef i = LLVMBuildPhi(e->builder, e->i64, "i");
    for (uint32_t phase = 0; phase < phases; phase++) {
        e->body->phase = kernel_i64(e, phase);
        emit_firing(e, LLVMBuildNUWAdd(e->builder, i, e->body->phase, ""),
                    LLVMGetParam(e->body->llvm, KERNEL_PARAM_FIRST));
    }
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, i, kernel_i64(e, phases), "i.next");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntULT, next, to, ""), loop, end);
    LLVMAddIncoming(i, &from, &before, 1);
    LLVMAddIncoming(i, &next, &latch, 1);
    kernel_position(e, end);
}

/* at = first; while (at < count) all whole cycles that begin here, or one firing where there is none. */
static void emit_phased(struct kernel_emitter *e, LLVMValueRef first, LLVMValueRef count)
{
    struct kernel_body *body = e->body;
    LLVMValueRef at = kernel_alloca(e, e->i64, "at"), phases = kernel_i64(e, body->kernel->phases);
    LLVMBasicBlockRef test = kernel_block(e, "parts"), part = kernel_block(e, "part");
    LLVMBasicBlockRef whole = kernel_block(e, "whole"), single = kernel_block(e, "single");
    LLVMBasicBlockRef next = kernel_block(e, "part.end"), end = kernel_block(e, "parts.end");
    LLVMBuildStore(e->builder, first, at);
    LLVMBuildBr(e->builder, test);
    kernel_position(e, test);
    LLVMValueRef from = LLVMBuildLoad2(e->builder, e->i64, at, "from");
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntULT, from, count, ""), part, end);
    kernel_position(e, part);
    LLVMValueRef phase = LLVMBuildLoad2(e->builder, e->i64, body->phase_slot, "phase");
    LLVMValueRef firings = LLVMBuildSub(e->builder, count, from, "");
    LLVMValueRef rest = LLVMBuildURem(e->builder, firings, phases, "");
    LLVMValueRef many = LLVMBuildICmp(e->builder, LLVMIntUGE, firings, phases, "");
    LLVMValueRef begins = LLVMBuildICmp(e->builder, LLVMIntEQ, phase, kernel_i64(e, 0), "");
    LLVMBuildCondBr(e->builder, LLVMBuildAnd(e->builder, many, begins, ""), whole, single);
    kernel_position(e, whole);
    LLVMValueRef to = LLVMBuildSub(e->builder, count, rest, "to");
    emit_cycles(e, from, to);
    LLVMBuildStore(e->builder, to, at);
    LLVMBuildBr(e->builder, next);
    kernel_position(e, single);
    emit_firing(e, from, LLVMGetParam(body->llvm, KERNEL_PARAM_FIRST));
    LLVMBuildStore(e->builder, LLVMBuildNUWAdd(e->builder, from, kernel_i64(e, 1), ""), at);
    LLVMBuildBr(e->builder, next);
    kernel_position(e, next);
    LLVMBuildBr(e->builder, test);
    kernel_position(e, end);
}

/* Cycles that are emitted firing by firing, so that each phase is a constant in its body. */
static bool unrolls_cycles(struct kernel_emitter *e, const struct kernel *kernel)
{
    enum { PHASES_MAX = 16, NODES_MAX = 2000 };
    if (kernel->phases == 1 || kernel->phases > PHASES_MAX || e->code->threads) return false;
    return e->cx->options.optimisation > 0 &&
           kernel_size(e, kernel->body) * kernel->phases <= NODES_MAX;
}

static void emit_all(struct kernel_emitter *e, const struct kernel_lane_plan *plan,
                     LLVMValueRef from, LLVMValueRef to)
{
    if (kernel_has_borders(e->body->kernel))
        kernel_emit_rows(e, plan, from, to);
    else if (unrolls_cycles(e, e->body->kernel))
        emit_phased(e, from, to);
    else
        kernel_emit_run(e, plan, kernel_emit_streamed(e, from, to), to);
}

/* For work-items in the order that they always have, and for any: kernel_items.c says why. */
static void emit_items_twice(struct kernel_emitter *e, const struct kernel_lane_plan *plan,
                             LLVMValueRef from, LLVMValueRef to)
{
    LLVMBasicBlockRef numbered = kernel_block(e, "numbered"), any = kernel_block(e, "any");
    LLVMBasicBlockRef end = kernel_block(e, "items.done");
    LLVMBuildCondBr(e->builder, kernel_items_numbered(e), numbered, any);
    kernel_position(e, numbered);
    e->body->numbered = true;
    emit_all(e, plan, from, to);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, any);
    e->body->numbered = false;
    emit_all(e, plan, from, to);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
}

static void emit_part(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to, void *data)
{
    const struct kernel_lane_plan *plan = data;
    if (e->code->threads) e->body->numbered = true;
    if (e->body->kernel->grouped && e->cx->options.optimisation > 0 && !e->code->threads)
        emit_items_twice(e, plan, from, to);
    else
        emit_all(e, plan, from, to);
}

/* Returns kernel_lane_plan.padded. */
static uint32_t emit_batch(struct kernel_emitter *e)
{
    LLVMValueRef count = LLVMGetParam(e->body->llvm, KERNEL_PARAM_COUNT);
    struct kernel_lane_plan plan = {0};
    kernel_rates_begin(e);
    if (e->body->row_packets > 0) kernel_windows_begin(e);
    if (kernel_plan_lanes(e, e->body->kernel, &plan)) {
        e->body->varying = plan.varying;
        e->body->loops = plan.loops;
        e->body->constants =
            kernel_collect_constants(e, e->body->kernel, e->isa.vector_registers / 2);
    } else if (e->code->threads && e->cx->options.optimisation > 0) {
        e->body->loops = kernel_plan_loops(e, e->body->kernel->body, NULL);
    }
    kernel_count_blocks(e, count, emit_part, &plan);
    if (e->body->stop == NULL) return plan.padded;
    LLVMBuildBr(e->builder, e->body->stop);
    kernel_position(e, e->body->stop);
    kernel_count_stopped(e);
    return 0;
}

/* ---- init and finish ---- */

static void emit_once(struct kernel_emitter *e, const struct ks *code)
{
    struct kernel_body *body = e->body;
    body->firing_number = kernel_i64(e, UINT64_MAX);
    body->end = kernel_block(e, "done");
    if (body->entry == ENTRY_FINISH) kernel_reset_counts(e);
    kernel_statements(e, code);
    LLVMBuildBr(e->builder, body->end);
    kernel_position(e, body->end);
}

/* ---- kernels ---- */

static const char *entry_name(enum kernel_entry_kind entry)
{
    switch (entry) {
    case ENTRY_RUN: return "run";
    case ENTRY_INIT: return "init";
    default: return "finish";
    }
}

/* Reports to the caller; returns the status. */
static LLVMValueRef report_to_caller(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    LLVMValueRef produced = LLVMGetParam(body->llvm, KERNEL_PARAM_PRODUCED);
    LLVMValueRef completed = LLVMGetParam(body->llvm, KERNEL_PARAM_COMPLETED);
    LLVMValueRef most = LLVMGetParam(body->llvm, KERNEL_PARAM_MOST);
    if (body->entry == ENTRY_FINISH) kernel_report_finish(e, produced);
    if (body->entry != ENTRY_RUN) return LLVMConstInt(e->i32, KERNEL_OK, 0);
    kernel_report_batch(e, produced, completed, most);
    return LLVMBuildLoad2(e->builder, e->i32, body->status, "");
}

/* Returns kernel_lane_plan.padded. */
static uint32_t emit_internal(struct kernel_emitter *e, const struct kernel_variant *variant,
                              enum kernel_entry_kind entry, LLVMValueRef function)
{
    uint32_t padded = 0;
    const struct kernel *kernel = variant->kernel;
    struct kernel_body body = {
        .entry = entry, .kernel = kernel, .row_packets = variant->row_packets};
    kernel_body_begin(e, &body, function, kernel->local_count);
    body.arguments = LLVMGetParam(function, KERNEL_PARAM_ARGUMENTS);
    body.tables = LLVMGetParam(function, KERNEL_PARAM_TABLES);
    body.state = LLVMGetParam(function, KERNEL_PARAM_STATE);
    body.fault = LLVMGetParam(function, KERNEL_PARAM_FAULT);
    body.left = LLVMGetParam(function, KERNEL_PARAM_LEFT);
    body.launches = LLVMGetParam(function, KERNEL_PARAM_LAUNCHES);
    if (entry != ENTRY_INIT) bind_batch_ports(e, variant);
    load_block_scalars(e);
    struct kernel_counting counting;
    kernel_count_begin(e, &counting, variant, LLVMGetParam(function, KERNEL_PARAM_CYCLES));
    if (entry == ENTRY_RUN)
        padded = emit_batch(e);
    else
        emit_once(e, entry == ENTRY_INIT ? kernel->init : kernel->finish);
    store_state_scalars(e);
    kernel_count_report(e);
    LLVMBuildRet(e->builder, report_to_caller(e));
    kernel_body_end(e, NULL, NULL);
    return padded;
}

static void emit_entry(struct kernel_emitter *e, const struct kernel_variant *variant,
                       enum kernel_entry_kind entry)
{
    const struct kernel *kernel = variant->kernel;
    struct kernel_end_counts ends = {0};
    if (entry != ENTRY_INIT) {
        ends.in = kernel_end_count(kernel->in, kernel->in_count);
        ends.out = kernel_end_count(kernel->out, kernel->out_count);
        ends.many = kernel_has_many_ends(kernel);
    }
    const char *internal_name =
        arena_printf(e->scratch, "%s.k%u.%s", kernel->name, variant->id, entry_name(entry));
    LLVMValueRef function = add_internal(e, internal_name, ends, entry);
    uint32_t padded = emit_internal(e, variant, entry, function);
    const char *name = arena_printf(e->scratch, "pipe_k%u_%s", variant->id, entry_name(entry));
    if (e->code->threads)
        kernel_export_threads(e, name, variant, entry, function, ends);
    else
        add_exported(e, name, kernel, function, ends, padded);
}

/* As it is emitted: integers are narrow, where no debugger looks at them. */
static struct kernel_variant narrow_variant(struct kernel_emitter *e,
                                            const struct kernel_variant *variant)
{
    struct kernel_variant narrow = *variant;
    const struct compile_options *options = &e->cx->options;
    if (options->optimisation > 0 && !options->debug_mode)
        narrow.kernel = narrow_kernel(e->cx, e->graph->types, e->scratch, variant->kernel);
    return narrow;
}

void kernel_emit_variant(struct kernel_emitter *e, const struct kernel_variant *variant)
{
    struct kernel_variant narrow = narrow_variant(e, variant);
    emit_entry(e, &narrow, ENTRY_RUN);
    if (variant->kernel->init != NULL) emit_entry(e, variant, ENTRY_INIT);
    if (variant->kernel->finish != NULL) emit_entry(e, variant, ENTRY_FINISH);
}

/* ---- pipe_arguments ---- */

/* LLVM takes time with the square of the length of what does not branch: of more nodes with arguments than these one
 * function calls others, each of so many. */
enum { NODES_AT_ONCE = 64 };

static LLVMTypeRef arguments_type(struct kernel_emitter *e)
{
    LLVMTypeRef params[] = {e->pointer, e->pointer, e->pointer};
    return LLVMFunctionType(e->i32, params, 3, 0);
}

static void begin_arguments(struct kernel_emitter *e, struct kernel_body *body,
                            LLVMValueRef function)
{
    kernel_function_attribute(e, function, "nounwind");
    kernel_body_begin(e, body, function, 0);
    body->arguments = LLVMGetParam(function, 0);
    body->fault = LLVMGetParam(function, 2);
    body->firing_number = kernel_i64(e, UINT64_MAX);
}

static void end_arguments(struct kernel_emitter *e, struct kernel_body *outer,
                          LLVMBasicBlockRef outer_at)
{
    LLVMBuildRet(e->builder, LLVMConstInt(e->i32, KERNEL_OK, 0));
    kernel_body_end(e, outer, outer_at);
}

/* The arguments of `count` nodes from *node on; *node becomes the first node after them. */
static void emit_some_arguments(struct kernel_emitter *e, size_t *node, size_t count)
{
    for (; count > 0 && *node < e->graph->nodes.count; ++*node) {
        const struct graph_node *of = &e->graph->nodes.items[*node];
        if (of->kernel->argument_count == 0) continue;
        LLVMValueRef blocks = LLVMGetParam(e->body->llvm, 1);
        LLVMValueRef slot = kernel_offset(e, e->builder, blocks, *node * sizeof(void *));
        LLVMValueRef block = LLVMBuildLoad2(e->builder, e->pointer, slot, of->name);
        const struct kernel *kernel = of->kernel;
        for (uint32_t i = 0; i < kernel->argument_count; i++) {
            const struct variable *variable = kernel->arguments[i];
            struct kernel_address to = {
                .pointer = kernel_offset(e, e->builder, block, variable->offset_bytes)};
            kernel_expression_into(e, of->arguments[i], to, true);
        }
        count--;
    }
}

static void call_arguments_part(struct kernel_emitter *e, size_t *node)
{
    LLVMTypeRef type = arguments_type(e);
    LLVMValueRef part = LLVMAddFunction(e->module, "arguments", type);
    LLVMSetLinkage(part, LLVMInternalLinkage);
    kernel_function_attribute(e, part, "noinline");
    struct kernel_body *outer = e->body, body = {.entry = ENTRY_ARGUMENTS};
    LLVMBasicBlockRef outer_at = LLVMGetInsertBlock(e->builder);
    begin_arguments(e, &body, part);
    emit_some_arguments(e, node, NODES_AT_ONCE);
    end_arguments(e, outer, outer_at);
    LLVMValueRef args[] = {LLVMGetParam(outer->llvm, 0), LLVMGetParam(outer->llvm, 1),
                           LLVMGetParam(outer->llvm, 2)};
    kernel_fault_through(e, LLVMBuildCall2(e->builder, type, part, args, 3, "status"));
}

void kernel_emit_arguments_entry(struct kernel_emitter *e)
{
    struct kernel_body body = {.entry = ENTRY_ARGUMENTS};
    size_t with_arguments = 0, node = 0;
    for (size_t i = 0; i < e->graph->nodes.count; i++)
        with_arguments += e->graph->nodes.items[i].kernel->argument_count > 0;
    begin_arguments(e, &body, LLVMAddFunction(e->module, "pipe_arguments", arguments_type(e)));
    if (with_arguments <= NODES_AT_ONCE)
        emit_some_arguments(e, &node, with_arguments);
    else
        while (node < e->graph->nodes.count)
            call_arguments_part(e, &node);
    end_arguments(e, NULL, NULL);
}
