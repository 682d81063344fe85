/* SPDX-License-Identifier: MIT */
/* Addresses: variables, items of arrays, packets of windows; and the checks of indices. */

/* ---- indices ---- */
#include "compiler/codegen/common/kernel_llvm_address.h"

#include "compiler/codegen/common/kernel_llvm_expr.h"
#include "compiler/codegen/common/kernel_llvm_rate.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_llvm_window.h"
#include "compiler/codegen/common/kernel_phases.h"
#include "compiler/codegen/common/kernel_query.h"

struct kernel_bound kernel_constant_bound(struct kernel_emitter *e, uint64_t limit)
{
    return (struct kernel_bound){kernel_i64(e, limit), limit};
}

/* A speculative load must not leave its object: its index becomes at most that of the last item. */
static LLVMValueRef clamp_index(struct kernel_emitter *e, LLVMValueRef index,
                                struct kernel_bound bound)
{
    if (LLVMIsConstant(index) || !kernel_speculates(e)) return index;
    LLVMValueRef last = LLVMBuildSub(e->builder, bound.value, kernel_i64(e, 1), "");
    kernel_unify(e, &index, &last);
    LLVMTypeRef type = LLVMTypeOf(index);
    LLVMValueRef args[] = {index, last};
    return kernel_intrinsic(e, "llvm.umin", args, 2, &type, 1);
}

LLVMValueRef kernel_index(struct kernel_emitter *e, const struct kx *index, enum access_check check,
                          struct kernel_bound bound, struct span span)
{
    LLVMValueRef value = kernel_expression(e, index);
    LLVMTypeRef type = kernel_type_like(e->i64, value);
    value = LLVMBuildIntCast2(e->builder, value, type, scalar_is_signed(index->type->scalar), "");
    if (e->body->lanes == 0 && kernel_index_is_checked(e, index, check, bound.limit)) {
        LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntUGE, value, bound.value, "");
        kernel_fault_if(e, bad, KERNEL_FAULT_INDEX, span, value, bound.value);
    }
    return clamp_index(e, value, bound);
}

LLVMValueRef kernel_array_item(struct kernel_emitter *e, LLVMTypeRef item, uint64_t length,
                               LLVMValueRef array, LLVMValueRef index)
{
    LLVMValueRef indices[] = {kernel_i64(e, 0), index};
    return LLVMBuildInBoundsGEP2(e->builder, LLVMArrayType2(item, length), array, indices, 2, "");
}

/* ---- items of arrays ---- */

/* One pointer for each lane, to where a varying index can be added. */
static struct kernel_address spread_pointer(struct kernel_emitter *e, const struct type *scalar,
                                            struct kernel_address base)
{
    if (base.layout == LAYOUT_GATHER || base.layout == LAYOUT_UNIFORM) return base;
    uint64_t stride = base.layout == LAYOUT_LANES ? scalar->width_bytes : base.stride_bytes;
    /* The offsets of the lanes, `stride_bytes` apart. */
    LLVMValueRef items[KERNEL_LANES_MAX];
    for (uint32_t lane = 0; lane < e->body->lanes; lane++) {
        items[lane] = kernel_i64(e, lane * stride);
    }
    LLVMValueRef offsets = LLVMConstVector(items, e->body->lanes);
    base.pointer = LLVMBuildGEP2(e->builder, e->i8, base.pointer, &offsets, 1, "");
    base.layout = LAYOUT_GATHER;
    return base;
}

struct kernel_address kernel_item(struct kernel_emitter *e, const struct type *array,
                                  struct kernel_address base, LLVMValueRef index)
{
    if (base.item_bytes > 0) {
        /* The item of an object whose scalars lie `item_bytes` apart. */
        uint64_t bytes = type_scalar_count(array->element) * base.item_bytes;
        if (kernel_is_vector(index)) base = spread_pointer(e, type_base(array), base);
        LLVMValueRef offset =
            LLVMBuildMul(e->builder, index, kernel_integer_like(e, index, 64, bytes), "");
        base.pointer = LLVMBuildInBoundsGEP2(e->builder, e->i8, base.pointer, &offset, 1, "");
        return base;
    }
    LLVMTypeRef item = kernel_layout_type(e, array->element, base.layout);
    if (kernel_is_vector(index)) {
        base = spread_pointer(e, type_base(array), base);
        base.layout = LAYOUT_GATHER;
    }
    base.pointer = kernel_array_item(e, item, array->length, base.pointer, index);
    return base;
}

struct kernel_address kernel_member(struct kernel_emitter *e, struct kernel_address base,
                                    uint64_t offset_bytes)
{
    if (base.layout == LAYOUT_LANES) kernel_internal_error("a struct in lanes");
    base.pointer = kernel_offset(e, e->builder, base.pointer, offset_bytes);
    return base;
}

static struct kernel_address member_address(struct kernel_emitter *e, const struct kx *x)
{
    struct kernel_address base = kernel_value_address(e, x->left);
    return kernel_member(e, base, x->left->type->fields[x->member].offset_bytes);
}

static struct kernel_address index_address(struct kernel_emitter *e, const struct kx *x)
{
    const struct type *array = x->left->type;
    struct kernel_address base = kernel_value_address(e, x->left);
    struct kernel_bound bound = kernel_constant_bound(e, array->length);
    LLVMValueRef index = kernel_index(e, x->right, x->check, bound, x->span);
    return kernel_item(e, array, base, index);
}

/* ---- variables ---- */

/* The present work-item's own. */
static struct kernel_address item_address(struct kernel_emitter *e, const struct variable *variable)
{
    struct kernel_body *body = e->body;
    const uint32_t *group = body->kernel->group;
    uint64_t items = (uint64_t)group[0] * group[1] * group[2];
    LLVMTypeRef type = kernel_memory_type(e, variable->type);
    LLVMValueRef *local = &body->locals[variable->index];
    if (*local == NULL) {
        *local = kernel_alloca(e, LLVMArrayType2(type, items), variable->name);
        if (LLVMGetAlignment(*local) < variable->type->alignment_bytes)
            LLVMSetAlignment(*local, variable->type->alignment_bytes);
    }
    return (struct kernel_address){.pointer =
                                       kernel_array_item(e, type, items, *local, body->item_index)};
}

static struct kernel_address local_address(struct kernel_emitter *e,
                                           const struct variable *variable)
{
    struct kernel_body *body = e->body;
    if (variable->per_item) return item_address(e, variable);
    bool lanes = body->lanes > 0 && body->varying[variable->index];
    enum kernel_layout layout = lanes ? LAYOUT_LANES : LAYOUT_UNIFORM;
    LLVMValueRef *local = &body->locals[variable->index];
    if (*local == NULL) {
        *local = kernel_alloca_value(e, variable->type, layout, variable->name);
    }
    return (struct kernel_address){.pointer = *local, .layout = layout};
}

static struct kernel_address state_address(struct kernel_emitter *e,
                                           const struct variable *variable)
{
    const struct kernel *kernel = e->body->kernel;
    if (type_is_scalar(variable->type)) {
        for (size_t i = 0; i < kernel->states.count; i++) {
            if (kernel->states.items[i] == variable) {
                return (struct kernel_address){.pointer = e->body->state_values[i]};
            }
        }
    }
    return (struct kernel_address){
        .pointer = kernel_offset(e, e->builder, e->body->state, variable->offset_bytes)};
}

struct kernel_address kernel_variable_address(struct kernel_emitter *e,
                                              const struct variable *variable)
{
    struct kernel_body *body = e->body;
    switch (variable->kind) {
    case VARIABLE_LOCAL:
    case VARIABLE_SHARED: return local_address(e, variable);
    case VARIABLE_STATE: return state_address(e, variable);
    case VARIABLE_TABLE:
        return (struct kernel_address){
            .pointer = kernel_offset(e, e->builder, body->tables, variable->offset_bytes),
            .invariant = body->entry != ENTRY_INIT};
    case VARIABLE_ARGUMENT:
        return (struct kernel_address){
            .pointer = kernel_offset(e, e->builder, body->arguments, variable->offset_bytes),
            .invariant = true};
    case VARIABLE_CONSTANT:
        return (struct kernel_address){.pointer = kernel_constant_global(e, variable),
                                       .invariant = true};
    }
    kernel_internal_error("a variable of an unknown kind");
}

/* ---- packets ---- */

LLVMValueRef kernel_port_element(struct kernel_emitter *e, const struct kernel_port *port,
                                 const struct kx *element, enum access_check check)
{
    if (element == NULL) return kernel_i64(e, 0);
    struct kernel_bound bound = kernel_constant_bound(e, port->arity);
    return kernel_index(e, element, check, bound, element->span);
}

/* Packet `index` after the `rate` packets of each earlier firing. */
static struct kernel_address packet_address(struct kernel_emitter *e,
                                            const struct kernel_port *port,
                                            const struct kernel_port_state *state,
                                            LLVMValueRef element, uint64_t rate, LLVMValueRef index)
{
    LLVMValueRef slot = kernel_array_item(e, e->pointer, port->arity, state->pointers, element);
    LLVMTypeRef memory = kernel_memory_type(e, port->type);
    struct kernel_address address = {.pointer =
                                         LLVMBuildLoad2(e->builder, e->pointer, slot, port->name)};
    if (e->body->firing != NULL && !state->moves) {
        /* Within the window, whose size in bytes fits. */
        LLVMValueRef first = LLVMBuildNSWMul(e->builder, e->body->firing, kernel_i64(e, rate), "");
        address.pointer = LLVMBuildInBoundsGEP2(e->builder, memory, address.pointer, &first, 1, "");
    }
    if (e->body->lanes > 0) {
        address.layout = LAYOUT_STRIDED;
        address.stride_bytes = rate * port->type->width_bytes;
        if (kernel_is_vector(index)) address = spread_pointer(e, port->type, address);
        if (e->body->pairs) {
            address.layout = LAYOUT_PAIRS;
            address.parts[0] = index;
        }
    }
    address.pointer = LLVMBuildInBoundsGEP2(e->builder, memory, address.pointer, &index, 1, "");
    return address;
}

/* finish reads the packets that are left of its only in-port. */
static struct kernel_bound peek_bound(struct kernel_emitter *e, const struct kx *x)
{
    const struct kernel_port *port = &e->body->kernel->in[x->port];
    if (e->body->entry == ENTRY_RUN) return kernel_phase_rate(e, port->peek, port->peeks);
    LLVMValueRef at = kernel_offset(e, e->builder, e->body->left, x->port * sizeof(uint64_t));
    return (struct kernel_bound){LLVMBuildLoad2(e->builder, e->i64, at, "left"), 0};
}

struct kernel_address kernel_in_packet(struct kernel_emitter *e, uint32_t port,
                                       LLVMValueRef element, LLVMValueRef index)
{
    const struct kernel_port *in = &e->body->kernel->in[port];
    return packet_address(e, in, &e->body->in[port], element, in->pop, index);
}

static struct kernel_address peek_address(struct kernel_emitter *e, const struct kx *x)
{
    const struct kernel_port *port = &e->body->kernel->in[x->port];
    LLVMValueRef element = kernel_port_element(e, port, x->left, x->element_check);
    LLVMValueRef index = kernel_index(e, x->right, x->check, peek_bound(e, x), x->span);
    if (e->body->lanes > 0 && e->body->in[x->port].phases != NULL && !kernel_is_vector(index)) {
        return kernel_phase_packet(e, x->port, index);
    }
    return kernel_in_packet(e, x->port, element, index);
}

struct kernel_address kernel_out_packet(struct kernel_emitter *e, uint32_t port,
                                        LLVMValueRef element, LLVMValueRef index)
{
    const struct kernel_port *out = &e->body->kernel->out[port];
    if (e->body->lanes > 0 && e->body->out[port].phases != NULL)
        return kernel_appended_packet(e, port, index);
    struct kernel_address to =
        packet_address(e, out, &e->body->out[port], element, out->push, index);
    to.streamed = e->body->streamed;
    return to;
}

struct kernel_address kernel_address_of(struct kernel_emitter *e, const struct kx *x)
{
    switch (x->kind) {
    case KX_VARIABLE: return kernel_variable_address(e, x->variable);
    case KX_INDEX: return index_address(e, x);
    case KX_MEMBER: return member_address(e, x);
    case KX_PEEK: return peek_address(e, x);
    case KX_WINDOW: return kernel_window_address(e, x);
    default: kernel_internal_error("the address of something that has none");
    }
}
