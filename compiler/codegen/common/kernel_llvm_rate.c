/* SPDX-License-Identifier: MIT */
/*
 * Rates: the phases of firings, what firings append, what a batch reports.
 *
 * A port whose rate is one number *stays*: the window of firing i begins i times the rate after
 * the window of the batch, so LLVM sees a plain loop. Any other port *moves*: its pointers are
 * those of the current firing. When the firing ends, they advance by the packets that its phase
 * pops or that it appended. A firing that stops does not reach its end, so it has no effect.
 */

/* ---- which ports move ---- */
#include "compiler/codegen/common/kernel_llvm_rate.h"

#include "compiler/codegen/common/kernel_ends.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_expr.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_nans.h"

bool kernel_in_moves(const struct kernel_port *port)
{
    return port->pops != NULL;
}

/* Whether firings of the same phase may append different numbers of packets. */
static bool out_ranges(const struct kernel_port *port)
{
    return port->push_least != port->push;
}

/* The rate of a kernel that launches does not say how many packets its own code appends. */
bool kernel_out_moves(const struct kernel *kernel, const struct kernel_port *port)
{
    return port->pushes != NULL || out_ranges(port) || kernel_launches_any(&kernel->launches);
}

bool kernel_rates_vary(const struct kernel *kernel)
{
    bool vary = kernel->phases > 1 || kernel->stops || kernel->is_child ||
                kernel_launches_any(&kernel->launches);
    for (uint32_t i = 0; i < kernel->in_count; i++)
        vary = vary || kernel_in_moves(&kernel->in[i]);
    for (uint32_t i = 0; i < kernel->out_count; i++)
        vary = vary || kernel_out_moves(kernel, &kernel->out[i]);
    return vary;
}

/* ---- phases ---- */

uint64_t kernel_rate_least(const struct kernel *kernel, uint64_t single, const uint64_t *list)
{
    if (list == NULL) return single;
    uint64_t least = list[0];
    for (uint32_t i = 1; i < kernel->phases; i++) {
        if (list[i] < least) least = list[i];
    }
    return least;
}

static LLVMValueRef phase_table(struct kernel_emitter *e, const uint64_t *list)
{
    uint32_t phases = e->body->kernel->phases;
    LLVMValueRef *items = ARENA_ARRAY(e->scratch, LLVMValueRef, phases);
    for (uint32_t i = 0; i < phases; i++)
        items[i] = kernel_i64(e, list[i]);
    return kernel_private_constant(e, LLVMConstArray2(e->i64, items, phases), "rates");
}

static bool all_equal(const struct kernel *kernel, const uint64_t *list)
{
    for (uint32_t i = 1; i < kernel->phases; i++) {
        if (list[i] != list[0]) return false;
    }
    return true;
}

struct kernel_bound kernel_phase_rate(struct kernel_emitter *e, uint64_t single,
                                      const uint64_t *list)
{
    const struct kernel *kernel = e->body->kernel;
    if (list == NULL) return kernel_constant_bound(e, single);
    if (all_equal(kernel, list)) return kernel_constant_bound(e, list[0]);
    if (LLVMIsAConstantInt(e->body->phase) != NULL)
        return kernel_constant_bound(e, list[LLVMConstIntGetZExtValue(e->body->phase)]);
    LLVMValueRef at =
        kernel_array_item(e, e->i64, kernel->phases, phase_table(e, list), e->body->phase);
    return (struct kernel_bound){LLVMBuildLoad2(e->builder, e->i64, at, "rate"),
                                 kernel_rate_least(kernel, single, list)};
}

static void begin_phases(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    if (body->kernel->phases == 1) return;
    LLVMValueRef phases = kernel_i64(e, body->kernel->phases);
    LLVMValueRef first = LLVMGetParam(body->llvm, KERNEL_PARAM_FIRST);
    body->phase_slot = kernel_alloca(e, e->i64, "phase");
    LLVMBuildStore(e->builder, LLVMBuildURem(e->builder, first, phases, ""), body->phase_slot);
}

static void step_phase(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    if (body->phase == NULL) return;
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, body->phase, kernel_i64(e, 1), "");
    LLVMValueRef phases = kernel_i64(e, body->kernel->phases);
    LLVMValueRef over = LLVMBuildICmp(e->builder, LLVMIntEQ, next, phases, "");
    next = LLVMBuildSelect(e->builder, over, kernel_i64(e, 0), next, "");
    LLVMBuildStore(e->builder, next, body->phase_slot);
}

/* ---- counts ---- */

static LLVMValueRef load_count(struct kernel_emitter *e, uint32_t port, LLVMValueRef element)
{
    LLVMValueRef slot = kernel_array_item(e, e->i64, e->body->kernel->out[port].arity,
                                          e->body->out[port].counts, element);
    return LLVMBuildLoad2(e->builder, e->i64, slot, "count");
}

void kernel_reset_counts(struct kernel_emitter *e)
{
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->out_count; i++)
        kernel_zero_ends(e, kernel->out[i].arity, e->body->out[i].counts);
}

/* The operands of code that is emitted for each element of a port. */
struct port_code {
    uint32_t port;
    LLVMValueRef value;
    struct span span;
    uint64_t first_output; /* number of element 0 among the outputs */
    LLVMValueRef told;     /* one number for each output */
};

static void check_end_count(struct kernel_emitter *e, LLVMValueRef element, void *data)
{
    const struct port_code *code = data;
    LLVMValueRef count = load_count(e, code->port, element);
    LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntULT, count, code->value, "");
    kernel_fault_if(e, bad, KERNEL_FAULT_PUSH, code->span, count, code->value);
}

/* A firing must have appended what it declares; that it is not more every append has checked.  Of one
 * that launches its tree counts, and the device queue checks that. */
static void check_firing_counts(struct kernel_emitter *e)
{
    const struct kernel *kernel = e->body->kernel;
    if (kernel_launches_any(&kernel->launches)) return;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        if (port->count_proven || port->indexed || port->push_least == 0) continue;
        struct span span = port->rate_declared ? port->rate_span : port->span;
        LLVMValueRef bound = kernel_phase_rate(e, port->push_least, port->push_leasts).value;
        struct port_code code = {.port = i, .value = bound, .span = span};
        kernel_each_end(e, port->arity, check_end_count, &code);
    }
}

/* ---- the largest firing ---- */

static LLVMValueRef port_most_slot(struct kernel_emitter *e, uint32_t port, LLVMValueRef element)
{
    return kernel_array_item(e, e->i64, e->body->kernel->out[port].arity, e->body->out[port].most,
                             element);
}

static void raise_one(struct kernel_emitter *e, LLVMValueRef element, void *data)
{
    const struct port_code *code = data;
    LLVMValueRef slot = port_most_slot(e, code->port, element);
    LLVMValueRef count = load_count(e, code->port, element);
    LLVMValueRef most = LLVMBuildLoad2(e->builder, e->i64, slot, "most");
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntUGT, count, most, "");
    LLVMBuildStore(e->builder, LLVMBuildSelect(e->builder, more, count, most, ""), slot);
}

static void raise_port_most(struct kernel_emitter *e)
{
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        struct port_code code = {.port = i};
        if (e->body->out[i].most != NULL)
            kernel_each_end(e, kernel->out[i].arity, raise_one, &code);
    }
}

/* ---- windows that move ---- */

static void move_pointer(struct kernel_emitter *e, const struct kernel_port *port,
                         LLVMValueRef pointers, LLVMValueRef element, LLVMValueRef packets)
{
    LLVMTypeRef memory = kernel_memory_type(e, port->type);
    LLVMValueRef slot = kernel_array_item(e, e->pointer, port->arity, pointers, element);
    LLVMValueRef pointer = LLVMBuildLoad2(e->builder, e->pointer, slot, port->name);
    pointer = LLVMBuildInBoundsGEP2(e->builder, memory, pointer, &packets, 1, "");
    LLVMBuildStore(e->builder, pointer, slot);
}

static void move_input(struct kernel_emitter *e, LLVMValueRef element, void *data)
{
    const struct port_code *code = data;
    const struct kernel_port *port = &e->body->kernel->in[code->port];
    move_pointer(e, port, e->body->in[code->port].pointers, element, code->value);
}

static void move_output(struct kernel_emitter *e, LLVMValueRef element, void *data)
{
    const struct port_code *code = data;
    const struct kernel_port *port = &e->body->kernel->out[code->port];
    LLVMValueRef count = code->value != NULL ? code->value : load_count(e, code->port, element);
    move_pointer(e, port, e->body->out[code->port].pointers, element, count);
}

/* By index all of a phase's packets are written: those that are not are zero. */
static void move_outputs(struct kernel_emitter *e)
{
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        if (!e->body->out[i].moves) continue;
        struct port_code code = {.port = i};
        if (port->indexed) code.value = kernel_phase_rate(e, port->push, port->pushes).value;
        kernel_each_end(e, port->arity, move_output, &code);
    }
}

/* ---- the loop over firings ---- */

void kernel_rates_begin(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    body->completed = kernel_alloca(e, e->i64, "completed");
    body->status = kernel_alloca(e, e->i32, "status");
    LLVMBuildStore(e->builder, LLVMGetParam(body->llvm, KERNEL_PARAM_COUNT), body->completed);
    LLVMBuildStore(e->builder, LLVMConstInt(e->i32, KERNEL_OK, 0), body->status);
    begin_phases(e);
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        const struct kernel_port *port = &kernel->out[i];
        if (!out_ranges(port) || port->indexed) continue;
        e->body->out[i].most = kernel_alloca(e, LLVMArrayType2(e->i64, port->arity), "most");
        kernel_zero_ends(e, port->arity, e->body->out[i].most);
    }
}

void kernel_firing_begin(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    if (body->phase_slot != NULL && body->phase == NULL) {
        body->phase = LLVMBuildLoad2(e->builder, e->i64, body->phase_slot, "phase");
    }
    kernel_reset_counts(e);
}

void kernel_firing_end(struct kernel_emitter *e)
{
    if (e->body->lanes > 0) return;
    check_firing_counts(e);
    raise_port_most(e);
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        if (!e->body->in[i].moves) continue;
        struct port_code code = {.port = i,
                                 .value = kernel_phase_rate(e, port->pop, port->pops).value};
        kernel_each_end(e, port->arity, move_input, &code);
    }
    move_outputs(e);
    step_phase(e);
    e->body->phase = NULL;
}

/* The present firing and those that follow do not count. */
void kernel_leave_batch(struct kernel_emitter *e, LLVMValueRef status)
{
    struct kernel_body *body = e->body;
    if (body->stop == NULL) body->stop = kernel_block(e, "stop");
    LLVMBuildStore(e->builder, body->firing, body->completed);
    LLVMBuildStore(e->builder, status, body->status);
    LLVMBuildBr(e->builder, body->stop);
}

void kernel_stop(struct kernel_emitter *e, const struct kx *report)
{
    if (e->body->entry == ENTRY_FINISH) {
        LLVMValueRef to = LLVMGetParam(e->body->llvm, KERNEL_PARAM_COMPLETED);
        LLVMBuildStore(e->builder, kernel_expression(e, report), to);
        return;
    }
    kernel_leave_batch(e, LLVMConstInt(e->i32, KERNEL_STOPPED, 0));
    kernel_position(e, kernel_block(e, "after"));
}

/* ---- reports ---- */

/* Of the present element of the port. */
static void store_rate(struct kernel_emitter *e, const struct port_code *code, LLVMValueRef element,
                       LLVMValueRef packets)
{
    LLVMValueRef first =
        kernel_offset(e, e->builder, code->told, code->first_output * sizeof(uint64_t));
    uint64_t arity = e->body->kernel->out[code->port].arity;
    LLVMBuildStore(e->builder, packets, kernel_array_item(e, e->i64, arity, first, element));
}

static void tell_count(struct kernel_emitter *e, LLVMValueRef element, void *data)
{
    const struct port_code *code = data;
    store_rate(e, code, element, load_count(e, code->port, element));
}

void kernel_report_finish(struct kernel_emitter *e, LLVMValueRef produced)
{
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        struct port_code code = {
            .port = i, .first_output = e->body->out[i].first_output, .told = produced};
        kernel_each_end(e, kernel->out[i].arity, tell_count, &code);
    }
}

/* The packets that the completed firings of the batch appended. */
static LLVMValueRef appended_packets(struct kernel_emitter *e, uint32_t out, LLVMValueRef element,
                                     LLVMValueRef completed)
{
    if (e->body->out[out].moves) {
        /* Packets between where the batch's window began and where the pointer stands now. */
        const struct kernel_port *port = &e->body->kernel->out[out];
        const struct kernel_port_state *state = &e->body->out[out];
        LLVMValueRef begin = kernel_first_window(e, port, state, element);
        LLVMValueRef slot = kernel_array_item(e, e->pointer, port->arity, state->pointers, element);
        LLVMValueRef end = LLVMBuildLoad2(e->builder, e->pointer, slot, "");
        LLVMValueRef bytes =
            LLVMBuildSub(e->builder, LLVMBuildPtrToInt(e->builder, end, e->i64, ""),
                         LLVMBuildPtrToInt(e->builder, begin, e->i64, ""), "");
        return LLVMBuildExactUDiv(e->builder, bytes, kernel_i64(e, port->type->width_bytes), "");
    }
    LLVMValueRef push = kernel_i64(e, e->body->kernel->out[out].push);
    return LLVMBuildMul(e->builder, completed, push, "produced");
}

static void tell_appended(struct kernel_emitter *e, LLVMValueRef element, void *data)
{
    const struct port_code *code = data;
    store_rate(e, code, element, appended_packets(e, code->port, element, code->value));
}

static void report_produced(struct kernel_emitter *e, LLVMValueRef produced, LLVMValueRef completed)
{
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        struct port_code code = {.port = i,
                                 .value = completed,
                                 .first_output = e->body->out[i].first_output,
                                 .told = produced};
        kernel_each_end(e, kernel->out[i].arity, tell_appended, &code);
    }
}

static void tell_most(struct kernel_emitter *e, LLVMValueRef element, void *data)
{
    const struct port_code *code = data;
    LLVMValueRef slot = port_most_slot(e, code->port, element);
    store_rate(e, code, element, LLVMBuildLoad2(e->builder, e->i64, slot, ""));
}

static void report_most(struct kernel_emitter *e, LLVMValueRef most)
{
    const struct kernel *kernel = e->body->kernel;
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        struct port_code code = {
            .port = i, .first_output = e->body->out[i].first_output, .told = most};
        if (e->body->out[i].most != NULL)
            kernel_each_end(e, kernel->out[i].arity, tell_most, &code);
    }
}

static bool has_rate_ranges(const struct kernel_emitter *e)
{
    bool any = false;
    for (uint32_t i = 0; i < e->body->kernel->out_count; i++)
        any |= e->body->out[i].most != NULL;
    return any;
}

LLVMBasicBlockRef kernel_begin_asked(struct kernel_emitter *e, LLVMValueRef pointer)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(e->builder));
    LLVMBasicBlockRef report = LLVMAppendBasicBlockInContext(e->context, function, "report");
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(e->context, function, "reported");
    LLVMBuildCondBr(e->builder, LLVMBuildIsNull(e->builder, pointer, ""), end, report);
    kernel_position(e, report);
    return end;
}

void kernel_end_asked(struct kernel_emitter *e, LLVMBasicBlockRef end)
{
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
}

void kernel_report_batch(struct kernel_emitter *e, LLVMValueRef produced, LLVMValueRef completed,
                         LLVMValueRef most)
{
    LLVMValueRef firings = LLVMBuildLoad2(e->builder, e->i64, e->body->completed, "firings");
    for (uint32_t i = 0; i < e->body->kernel->out_count; i++) {
        if (!e->body->out[i].canonical_later) continue;
        kernel_canonical_window(e, i, appended_packets(e, i, kernel_i64(e, 0), firings));
    }
    LLVMBasicBlockRef end = kernel_begin_asked(e, produced);
    report_produced(e, produced, firings);
    kernel_end_asked(e, end);
    end = kernel_begin_asked(e, completed);
    LLVMBuildStore(e->builder, firings, completed);
    kernel_end_asked(e, end);
    if (!has_rate_ranges(e)) return;
    end = kernel_begin_asked(e, most);
    report_most(e, most);
    kernel_end_asked(e, end);
}
