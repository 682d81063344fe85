/* SPDX-License-Identifier: MIT */
/* Statements. */

/* Statements. Code after a jump is reached by a case label, or not at all. */
#include "compiler/codegen/common/kernel_llvm_stmt.h"

#include "compiler/codegen/common/kernel_compact.h"
#include "compiler/codegen/common/kernel_count.h"
#include "compiler/codegen/common/kernel_items.h"
#include "compiler/codegen/common/kernel_foreign.h"
#include "compiler/codegen/common/kernel_launch.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_builtin.h"
#include "compiler/codegen/common/kernel_llvm_call.h"
#include "compiler/codegen/common/kernel_llvm_expr.h"
#include "compiler/codegen/common/kernel_llvm_rate.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_nans.h"
#include "compiler/codegen/common/kernel_origin.h"
#include "compiler/codegen/common/kernel_query.h"
#include "compiler/codegen/common/kernel_unroll.h"

static void emit_jump(struct kernel_emitter *e, LLVMBasicBlockRef to)
{
    LLVMBuildBr(e->builder, to);
    kernel_position(e, kernel_block(e, "after"));
}

/* ---- packets ---- */

static void canonicalise_value(struct kernel_emitter *e, const struct type *type,
                               struct kernel_address at);

/* for (i = 0; i < type->length; i++) one element */
static void canonicalise_loop(struct kernel_emitter *e, const struct type *type,
                              struct kernel_address list)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = kernel_block(e, "canonical"), end = kernel_block(e, "canonical.end");
    LLVMBuildBr(e->builder, loop);
    kernel_position(e, loop);
    LLVMValueRef i = LLVMBuildPhi(e->builder, e->i64, "");
    canonicalise_value(e, type->element, kernel_item(e, type, list, i));
    LLVMValueRef next = LLVMBuildAdd(e->builder, i, kernel_i64(e, 1), "");
    LLVMValueRef more =
        LLVMBuildICmp(e->builder, LLVMIntULT, next, kernel_i64(e, type->length), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    LLVMBuildCondBr(e->builder, more, loop, end);
    LLVMValueRef incoming[] = {kernel_i64(e, 0), next};
    LLVMBasicBlockRef blocks[] = {before, latch};
    LLVMAddIncoming(i, incoming, blocks, 2);
    kernel_position(e, end);
}

static void canonicalise_list(struct kernel_emitter *e, const struct type *type,
                              struct kernel_address list)
{
    enum { UNROLLED_MAX = 16 };
    if (type->length > UNROLLED_MAX) {
        canonicalise_loop(e, type, list);
        return;
    }
    for (uint64_t i = 0; i < type->length; i++)
        canonicalise_value(e, type->element, kernel_item(e, type, list, kernel_i64(e, i)));
}

static void zero_between(struct kernel_emitter *e, LLVMValueRef at, uint64_t from, uint64_t to)
{
    if (to > from)
        LLVMBuildMemSet(e->builder, kernel_offset(e, e->builder, at, from),
                        LLVMConstInt(e->i8, 0, 0), kernel_i64(e, to - from), 1);
}

/* Makes the NaNs of a value in memory canonical and what lies between fields zero. */
static void canonicalise_value(struct kernel_emitter *e, const struct type *type,
                               struct kernel_address at)
{
    if (!type->has_floats && !type->has_padding) return;
    if (type->kind == TYPE_STRUCT) {
        uint64_t end = 0;
        for (uint32_t i = 0; i < type->field_count; i++) {
            const struct type_field *field = &type->fields[i];
            zero_between(e, at.pointer, end, field->offset_bytes);
            canonicalise_value(e, field->type, kernel_member(e, at, field->offset_bytes));
            end = field->offset_bytes + field->type->width_bytes;
        }
        zero_between(e, at.pointer, end, type->width_bytes);
    } else if (type_is_indexed(type)) {
        canonicalise_list(e, type, at);
    } else {
        LLVMValueRef value = kernel_load(e, type, at);
        kernel_store(e, type, at, kernel_canonical_bits(e, value, type->scalar));
    }
}

static void write_packet(struct kernel_emitter *e, uint32_t port, const struct kx *x,
                         LLVMValueRef value, struct kernel_address to)
{
    bool canonical = e->body->out[port].canonical;
    if (!type_is_scalar(x->type)) {
        kernel_expression_into(e, x, to, true);
        if (canonical) canonicalise_value(e, x->type, to);
        return;
    }
    if (canonical && type_is_float(x->type))
        value = kernel_canonical_packet(e, value, x->type->scalar);
    kernel_store(e, x->type, to, value);
}

/* How many packets the out-port takes: of a firing, or of finish. */
static struct kernel_bound port_room(struct kernel_emitter *e, uint32_t port)
{
    const struct kernel_port *out = &e->body->kernel->out[port];
    if (e->body->entry == ENTRY_FINISH) return kernel_constant_bound(e, out->finish_max);
    if (kernel_launches_any(&e->body->kernel->launches))
        return kernel_constant_bound(e, out->own_push);
    return kernel_phase_rate(e, out->push, out->pushes);
}

static void emit_append(struct kernel_emitter *e, const struct ks *s)
{
    const struct kernel_port *out = &e->body->kernel->out[s->port];
    if (e->body->lanes > 0 && e->body->out[s->port].moves) {
        /* In lanes, to a port whose rate varies. */
        const struct type *type = s->expr->type;
        LLVMValueRef value = kernel_expression(e, s->expr);
        if (!kernel_is_vector(value)) value = kernel_splat(e, value, e->body->lanes);
        if (e->body->out[s->port].canonical && type_is_float(type))
            value = kernel_canonical_bits(e, value, type->scalar);
        kernel_append_some(e, s->port, kernel_memory_value(e, type, value));
        return;
    }
    LLVMValueRef element = kernel_port_element(e, out, s->element, s->element_check);
    LLVMValueRef value = type_is_scalar(s->expr->type) ? kernel_expression(e, s->expr) : NULL;
    LLVMValueRef counter =
        kernel_array_item(e, e->i64, out->arity, e->body->out[s->port].counts, element);
    LLVMValueRef count = LLVMBuildLoad2(e->builder, e->i64, counter, "");
    LLVMValueRef more = LLVMBuildNUWAdd(e->builder, count, kernel_i64(e, 1), "");
    if (!s->count_proven) {
        LLVMValueRef bound = port_room(e, s->port).value;
        LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntUGE, count, bound, "");
        kernel_fault_if(e, bad, KERNEL_FAULT_PUSH, s->span, more, bound);
    }
    struct kernel_address to = kernel_out_packet(e, s->port, element, count);
    write_packet(e, s->port, s->expr, value, to);
    kernel_origin_store(e, s->port, element, to.pointer, s->span);
    LLVMBuildStore(e->builder, more, counter);
}

static void emit_store(struct kernel_emitter *e, const struct ks *s)
{
    const struct kernel_port *out = &e->body->kernel->out[s->port];
    LLVMValueRef element = kernel_port_element(e, out, s->element, s->element_check);
    LLVMValueRef index = kernel_index(e, s->index, s->check, port_room(e, s->port), s->span);
    LLVMValueRef value = type_is_scalar(s->expr->type) ? kernel_expression(e, s->expr) : NULL;
    struct kernel_address to = kernel_out_packet(e, s->port, element, index);
    write_packet(e, s->port, s->expr, value, to);
    kernel_origin_store(e, s->port, element, to.pointer, s->span);
    if (e->body->entry == ENTRY_FINISH) {
        /* In `finish` the packets up to the last one written count as appended. */
        LLVMValueRef counter =
            kernel_array_item(e, e->i64, out->arity, e->body->out[s->port].counts, element);
        LLVMValueRef args[] = {LLVMBuildLoad2(e->builder, e->i64, counter, ""),
                               LLVMBuildAdd(e->builder, index, kernel_i64(e, 1), "")};
        LLVMBuildStore(e->builder, kernel_intrinsic(e, "llvm.umax", args, 2, &e->i64, 1), counter);
    }
}

/* ---- control ---- */

static void emit_declaration(struct kernel_emitter *e, const struct ks *s)
{
    struct kernel_address to = kernel_variable_address(e, s->variable);
    if (s->expr != NULL)
        kernel_expression_into(e, s->expr, to, true);
    else if (!s->unset)
        kernel_store_zero(e, s->variable->type, to);
}

/* The value of a condition, or of the step of a loop. */
static LLVMValueRef control_value(struct kernel_emitter *e, const struct kx *x)
{
    return e->body->together ? kernel_items_value(e, x) : kernel_expression(e, x);
}

/* The append that is all that `if` guards, where it costs less to make it and not to count it than
 * to guess wrong where a branch goes. */
static const struct ks *lone_append(struct kernel_emitter *e, const struct ks *s)
{
    enum { NODES_MAX = 24 };
    const struct ks *append = s->body;
    if (e->body->entry != ENTRY_RUN || e->body->lanes > 0 || s->otherwise != NULL) return NULL;
    if (e->cx->options.debug_mode) return NULL;
    while (append != NULL && append->kind == KS_BLOCK && append->next == NULL)
        append = append->body;
    if (append == NULL || append->next != NULL || append->kind != KS_EMIT) return NULL;
    if (!e->body->out[append->port].moves || !append->count_proven || append->element != NULL ||
        !type_is_scalar(append->expr->type)) {
        return NULL;
    }
    bool cheap = kernel_is_speculatable(e, append->expr) && kernel_size(e, append) <= NODES_MAX;
    return cheap ? append : NULL;
}

/* Memory for unwanted values. If LLVM knew that no code reads it, it would make the store conditional
 * again. */
static LLVMValueRef unwanted_memory(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    if (body->nowhere == NULL) {
        LLVMValueRef room = kernel_alloca(e, e->i64, "nowhere");
        body->nowhere = kernel_unknown(e, body->setup, room, "nowhere");
    }
    return body->nowhere;
}

/* The packet is stored where it belongs or in unused memory. */
static void append_if(struct kernel_emitter *e, const struct ks *guard, const struct ks *s,
                      LLVMValueRef condition)
{
    const struct kernel_port *out = &e->body->kernel->out[s->port];
    e->body->speculative++;
    e->body->wanted = condition;
    for (const struct ks *inner = guard->body; inner != NULL; inner = inner->body)
        kernel_count(e, inner->region);
    LLVMValueRef value = kernel_expression(e, s->expr);
    e->body->wanted = NULL;
    e->body->speculative--;
    LLVMValueRef element = kernel_i64(e, 0);
    LLVMValueRef counter =
        kernel_array_item(e, e->i64, out->arity, e->body->out[s->port].counts, element);
    LLVMValueRef count = LLVMBuildLoad2(e->builder, e->i64, counter, "");
    struct kernel_address to = kernel_out_packet(e, s->port, element, count);
    to.pointer = LLVMBuildSelect(e->builder, condition, to.pointer, unwanted_memory(e), "");
    write_packet(e, s->port, s->expr, value, to);
    LLVMValueRef one = LLVMBuildZExt(e->builder, condition, e->i64, "");
    LLVMBuildStore(e->builder, LLVMBuildNUWAdd(e->builder, count, one, ""), counter);
}

static void branch_if(struct kernel_emitter *e, const struct ks *s)
{
    LLVMValueRef condition = control_value(e, s->expr);
    if (kernel_is_vector(condition)) {
        /* Both sides are executed, each for the lanes that take it. */
        LLVMValueRef outer = e->body->mask;
        const struct ks *sides[] = {s->body, s->otherwise};
        for (int i = 0; i < 2; i++) {
            LLVMValueRef mask = i == 0 ? condition : LLVMBuildNot(e->builder, condition, "");
            if (outer != NULL) mask = LLVMBuildAnd(e->builder, outer, mask, "");
            e->body->mask = mask;
            kernel_statements(e, sides[i]);
        }
        e->body->mask = outer;
        return;
    }
    const struct ks *append = LLVMIsConstant(condition) ? NULL : lone_append(e, s);
    if (append != NULL) {
        append_if(e, s, append, condition);
        return;
    }
    LLVMBasicBlockRef then = kernel_block(e, "then"), end = kernel_block(e, "end");
    LLVMBasicBlockRef other = s->otherwise != NULL ? kernel_block(e, "else") : end;
    LLVMBuildCondBr(e->builder, condition, then, other);
    kernel_position(e, then);
    kernel_statements(e, s->body);
    LLVMBuildBr(e->builder, end);
    if (s->otherwise != NULL) {
        kernel_position(e, other);
        kernel_statements(e, s->otherwise);
        LLVMBuildBr(e->builder, end);
    }
    kernel_position(e, end);
}

static void emit_loop(struct kernel_emitter *e, const struct ks *s)
{
    struct kernel_body *b = e->body;
    LLVMBasicBlockRef outer_break = b->break_to, outer_continue = b->continue_to;
    LLVMBasicBlockRef test = kernel_block(e, "test"), body = kernel_block(e, "body");
    LLVMBasicBlockRef step = kernel_block(e, "step"), end = kernel_block(e, "end");
    if (b->together)
        kernel_items_init(e, s->init);
    else
        kernel_statements(e, s->init);
    LLVMBuildBr(e->builder, s->test_after ? body : test);
    uint64_t added_before = b->added_instructions;
    kernel_position(e, test);
    if (s->expr == NULL)
        LLVMBuildBr(e->builder, body);
    else
        LLVMBuildCondBr(e->builder, control_value(e, s->expr), body, end);
    b->break_to = end;
    b->continue_to = step;
    kernel_position(e, body);
    kernel_count(e, s->round_region);
    kernel_statements(e, s->body);
    LLVMBuildBr(e->builder, step);
    kernel_position(e, step);
    kernel_count(e, s->step_region);
    if (s->step != NULL) control_value(e, s->step);
    LLVMValueRef repeat = LLVMBuildBr(e->builder, test);
    if (kernel_writes_out(e, s, test, added_before)) kernel_unroll_loop(e, repeat);
    if (b->remainder) vec_push(e->scratch, &e->remainder_loops, repeat);
    kernel_position(e, end);
    b->break_to = outer_break;
    b->continue_to = outer_continue;
}

/* Declarations that a case label jumps over count as made: their variables are zero. */
static bool zero_declared(const struct ks *s, void *data)
{
    struct kernel_emitter *e = data;
    if (s->kind == KS_DECLARE && e->body->together) {
        kernel_items_zero(e, s->variable);
    } else if (s->kind == KS_DECLARE) {
        kernel_store_zero(e, s->variable->type, kernel_variable_address(e, s->variable));
    }
    return false;
}

static void branch_switch(struct kernel_emitter *e, const struct ks *s)
{
    struct kernel_body *b = e->body;
    LLVMBasicBlockRef outer_break = b->break_to;
    LLVMValueRef outer_switch = b->switch_on;
    LLVMBasicBlockRef end = kernel_block(e, "end");
    LLVMValueRef value = control_value(e, s->expr);
    ks_any(s->body, zero_declared, NULL, e);
    b->switch_on = LLVMBuildSwitch(e->builder, value, end, 8);
    b->break_to = end;
    kernel_position(e, kernel_block(e, "before"));
    kernel_statements(e, s->body);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
    b->break_to = outer_break;
    b->switch_on = outer_switch;
}

static void case_label(struct kernel_emitter *e, const struct ks *s)
{
    LLVMBasicBlockRef block = kernel_block(e, s->is_default ? "default" : "case");
    LLVMBuildBr(e->builder, block);
    kernel_position(e, block);
    LLVMValueRef branch = e->body->switch_on;
    if (s->is_default) {
        LLVMSetSuccessor(branch, 0, block);
    } else {
        LLVMAddCase(branch, kernel_constant(e, s->label), block);
    }
    kernel_count(e, s->region);
}

static void emit_return(struct kernel_emitter *e, const struct ks *s)
{
    if (e->body->entry != ENTRY_FUNCTION) {
        kernel_items_leave(e);
        emit_jump(e, e->body->end);
        return;
    }
    LLVMValueRef value = NULL;
    if (s->expr != NULL && e->body->result != NULL) {
        struct kernel_address to = {.pointer = e->body->result};
        kernel_expression_into(e, s->expr, to, true);
    } else if (s->expr != NULL) {
        value = kernel_expression(e, s->expr);
    }
    kernel_return(e, value);
    kernel_position(e, kernel_block(e, "after"));
}

void kernel_statement(struct kernel_emitter *e, const struct ks *s)
{
    if (s->kind != KS_CASE) kernel_count(e, s->region);
    switch (s->kind) {
    case KS_EXPR: kernel_expression(e, s->expr); break;
    case KS_DECLARE: emit_declaration(e, s); break;
    case KS_BLOCK: kernel_statements(e, s->body); break;
    case KS_IF: branch_if(e, s); break;
    case KS_LOOP: emit_loop(e, s); break;
    case KS_SWITCH: branch_switch(e, s); break;
    case KS_CASE: case_label(e, s); break;
    case KS_BREAK: emit_jump(e, e->body->break_to); break;
    case KS_CONTINUE: emit_jump(e, e->body->continue_to); break;
    case KS_RETURN: emit_return(e, s); break;
    case KS_BARRIER: break; /* between two runs of items */
    case KS_EMIT: emit_append(e, s); break;
    case KS_STORE: emit_store(e, s); break;
    case KS_STOP: kernel_stop(e, s->expr); break;
    case KS_LAUNCH: kernel_launch_statement(e, s); break;
    case KS_FOREIGN: kernel_foreign_call(e, s); break;
    }
}

void kernel_statements(struct kernel_emitter *e, const struct ks *first)
{
    if (e->body->together) {
        kernel_items_statements(e, first);
        return;
    }
    for (const struct ks *s = first; s != NULL; s = s->next)
        kernel_statement(e, s);
}
