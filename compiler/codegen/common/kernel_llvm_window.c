/* SPDX-License-Identifier: MIT */
/*
 * 2-D windows (lang/container.md, "Windows").
 *
 * The row length is a constant of the variant.  A batch, whose firings lie in one frame, is cut
 * into runs within a row: where all of every window lies inside the frame, a packet of the window
 * is a constant distance from the firing's own, and the run is a plain loop that becomes vectors;
 * at the borders each access maps its row and column.  The pointers of a port with a window are
 * set, for the whole batch, to the packet that the first firing consumes.
 */

/* Beyond every place, so that sums with it do not overflow. */
#include "compiler/codegen/common/kernel_llvm_window.h"

#include "compiler/codegen/common/kernel_ends.h"
#include "compiler/codegen/common/kernel_lanes.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_expr.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "compiler/codegen/common/kernel_query.h"

#define ENDLESS_ROWS ((uint64_t)1 << 61)

/* ---- what the batch says ---- */

/* Of the in-ports' element with that number, counted from the one that `windows` is of. */
static LLVMValueRef window_field(struct kernel_emitter *e, LLVMValueRef windows,
                                 LLVMValueRef element, size_t offset)
{
    LLVMTypeRef window = LLVMArrayType2(e->i8, sizeof(struct kernel_window));
    LLVMValueRef at = LLVMBuildInBoundsGEP2(e->builder, window, windows, &element, 1, "");
    return LLVMBuildLoad2(e->builder, e->i64, kernel_offset(e, e->builder, at, offset), "");
}

struct window_port {
    uint32_t port;
    LLVMValueRef windows; /* of its elements */
    LLVMValueRef least;   /* alloca: rows of the shortest frame so far, of all ports */
};

static void bind_element(struct kernel_emitter *e, LLVMValueRef element, void *data)
{
    const struct window_port *p = data;
    struct kernel_body *body = e->body;
    const struct kernel_port *in = &body->kernel->in[p->port];
    const struct kernel_port_state *state = &body->in[p->port];
    LLVMValueRef first =
        window_field(e, p->windows, element, offsetof(struct kernel_window, first));
    LLVMValueRef place =
        window_field(e, p->windows, element, offsetof(struct kernel_window, place));
    LLVMValueRef rows = window_field(e, p->windows, element, offsetof(struct kernel_window, rows));
    rows = kernel_smaller(e, rows, kernel_i64(e, ENDLESS_ROWS));
    LLVMBuildStore(e->builder, rows, kernel_array_item(e, e->i64, in->arity, state->rows, element));
    LLVMValueRef slot = kernel_array_item(e, e->pointer, in->arity, state->pointers, element);
    LLVMValueRef pointer = LLVMBuildLoad2(e->builder, e->pointer, slot, in->name);
    LLVMValueRef behind = LLVMBuildSub(e->builder, place, first, "");
    pointer =
        LLVMBuildInBoundsGEP2(e->builder, kernel_memory_type(e, in->type), pointer, &behind, 1, "");
    LLVMBuildStore(e->builder, pointer, slot);
    LLVMValueRef least = LLVMBuildLoad2(e->builder, e->i64, p->least, "rows.least");
    LLVMBuildStore(e->builder, kernel_smaller(e, least, rows), p->least);
    body->place = place; /* the same of all */
}

void kernel_windows_begin(struct kernel_emitter *e)
{
    const struct kernel *kernel = e->body->kernel;
    LLVMValueRef seen = LLVMGetParam(e->body->llvm, KERNEL_PARAM_SEEN);
    LLVMValueRef least = kernel_alloca(e, e->i64, "rows.least");
    uint64_t input = 0;
    LLVMBuildStore(e->builder, kernel_i64(e, ENDLESS_ROWS), least);
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        if (port->window_width > 0) {
            LLVMValueRef windows =
                kernel_offset(e, e->builder, seen, input * sizeof(struct kernel_window));
            struct window_port p = {.port = i, .windows = windows, .least = least};
            e->body->in[i].rows = kernel_alloca(e, LLVMArrayType2(e->i64, port->arity), "rows");
            kernel_each_end(e, port->arity, bind_element, &p);
        }
        input += port->arity;
    }
    e->body->rows_least = LLVMBuildLoad2(e->builder, e->i64, least, "rows.least");
}

/* ---- runs ---- */

struct reach { /* the maximum over all windows, to each side */
    uint64_t rows, columns;
};

static struct reach reach_of(const struct kernel *kernel)
{
    struct reach reach = {0};
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        if (port->window_height / 2 > reach.rows) reach.rows = port->window_height / 2;
        if (port->window_width / 2 > reach.columns) reach.columns = port->window_width / 2;
    }
    return reach;
}

bool kernel_has_borders(const struct kernel *kernel)
{
    struct reach reach = reach_of(kernel);
    return reach.rows > 0 || reach.columns > 0;
}

static LLVMValueRef compare_offset(struct kernel_emitter *e, LLVMIntPredicate how, LLVMValueRef a,
                                   uint64_t b)
{
    return LLVMBuildICmp(e->builder, how, a, kernel_i64(e, b), "");
}

/* Whether the firing at that row has all rows of its windows. */
static LLVMValueRef inner_row(struct kernel_emitter *e, LLVMValueRef row, struct reach reach)
{
    LLVMValueRef lowest = LLVMBuildAdd(e->builder, row, kernel_i64(e, reach.rows), "");
    LLVMValueRef below =
        LLVMBuildICmp(e->builder, LLVMIntULT, lowest, e->body->rows_least, "inner.below");
    return LLVMBuildAnd(e->builder, compare_offset(e, LLVMIntUGE, row, reach.rows), below,
                        "inner.row");
}

/* The column after the run that begins at `column`. */
static LLVMValueRef run_end(struct kernel_emitter *e, LLVMValueRef column,
                            LLVMValueRef row_is_inner, LLVMValueRef inner, struct reach reach)
{
    uint64_t length = e->body->row_packets;
    LLVMValueRef row_end = kernel_i64(e, length);
    if (length <= 2 * reach.columns) return row_end;
    LLVMValueRef before = compare_offset(e, LLVMIntULT, column, reach.columns);
    before = LLVMBuildAnd(e->builder, before, row_is_inner, "");
    LLVMValueRef end =
        LLVMBuildSelect(e->builder, before, kernel_i64(e, reach.columns), row_end, "");
    return LLVMBuildSelect(e->builder, inner, kernel_i64(e, length - reach.columns), end, "");
}

static void emit_border_run(struct kernel_emitter *e, LLVMValueRef from, LLVMValueRef to,
                            LLVMValueRef row)
{
    static const struct kernel_lane_plan one_by_one;
    const bool *varying = e->body->varying;
    e->body->varying = NULL;
    e->body->border_row = row;
    kernel_emit_run(e, &one_by_one, from, to);
    e->body->border_row = NULL;
    e->body->varying = varying;
}

/* Each access maps its row and column without a division. */
static bool maps_cheaply(const struct kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->in_count; i++)
        if (kernel->in[i].border == BORDER_MIRROR || kernel->in[i].border == BORDER_WRAP)
            return false;
    return true;
}

/* for (i = first; i < count; i++) the firing.  Neighbouring threads then take the same way, inside of a frame and at its
 * borders, and the loop over the firing of a thread disappears. */
static void emit_one_by_one(struct kernel_emitter *e, LLVMValueRef first, LLVMValueRef count)
{
    LLVMBasicBlockRef test = kernel_block(e, "places"), body = kernel_block(e, "placed");
    LLVMBasicBlockRef end = kernel_block(e, "places.end");
    LLVMValueRef at = kernel_alloca(e, e->i64, "at"), length = kernel_i64(e, e->body->row_packets);
    LLVMBuildStore(e->builder, first, at);
    LLVMBuildBr(e->builder, test);
    kernel_position(e, test);
    LLVMValueRef i = LLVMBuildLoad2(e->builder, e->i64, at, "i");
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntULT, i, count, ""), body, end);
    kernel_position(e, body);
    LLVMValueRef place = LLVMBuildAdd(e->builder, e->body->place, i, "place");
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, i, kernel_i64(e, 1), "next");
    emit_border_run(e, i, next, LLVMBuildUDiv(e->builder, place, length, "row"));
    LLVMBuildStore(e->builder, next, at);
    LLVMBuildBr(e->builder, test);
    kernel_position(e, end);
}

/* while (at < count) the run that begins at `at`. */
static void emit_runs(struct kernel_emitter *e, const struct kernel_lane_plan *plan,
                      LLVMValueRef first, LLVMValueRef count)
{
    struct kernel_body *body = e->body;
    struct reach reach = reach_of(body->kernel);
    LLVMValueRef length = kernel_i64(e, body->row_packets);
    LLVMValueRef at = kernel_alloca(e, e->i64, "at");
    LLVMBasicBlockRef test = kernel_block(e, "runs"), run = kernel_block(e, "run");
    LLVMBasicBlockRef inside = kernel_block(e, "inside"), border = kernel_block(e, "border");
    LLVMBasicBlockRef next = kernel_block(e, "run.end"), end = kernel_block(e, "runs.end");
    LLVMBuildStore(e->builder, first, at);
    LLVMBuildBr(e->builder, test);
    kernel_position(e, test);
    LLVMValueRef from = LLVMBuildLoad2(e->builder, e->i64, at, "from");
    LLVMBuildCondBr(e->builder, LLVMBuildICmp(e->builder, LLVMIntULT, from, count, ""), run, end);

    kernel_position(e, run);
    LLVMValueRef place = LLVMBuildAdd(e->builder, body->place, from, "place");
    LLVMValueRef row = LLVMBuildUDiv(e->builder, place, length, "row");
    LLVMValueRef column = LLVMBuildURem(e->builder, place, length, "column");
    LLVMValueRef row_is_inner = inner_row(e, row, reach), inner = LLVMConstInt(e->i1, 0, 0);
    if (body->row_packets > 2 * reach.columns) {
        LLVMValueRef right =
            compare_offset(e, LLVMIntULT, column, body->row_packets - reach.columns);
        inner = LLVMBuildAnd(e->builder, compare_offset(e, LLVMIntUGE, column, reach.columns),
                             right, "");
        inner = LLVMBuildAnd(e->builder, inner, row_is_inner, "inner");
    }
    LLVMValueRef run_columns =
        LLVMBuildSub(e->builder, run_end(e, column, row_is_inner, inner, reach), column, "");
    LLVMValueRef to = kernel_smaller(e, LLVMBuildAdd(e->builder, from, run_columns, ""), count);
    LLVMBuildCondBr(e->builder, inner, inside, border);

    kernel_position(e, inside);
    kernel_emit_run(e, plan, from, to);
    LLVMBuildBr(e->builder, next);
    kernel_position(e, border);
    emit_border_run(e, from, to, row);
    LLVMBuildBr(e->builder, next);
    kernel_position(e, next);
    LLVMBuildStore(e->builder, to, at);
    LLVMBuildBr(e->builder, test);
    kernel_position(e, end);
}

void kernel_emit_rows(struct kernel_emitter *e, const struct kernel_lane_plan *plan,
                      LLVMValueRef first, LLVMValueRef count)
{
    if (e->code->threads && maps_cheaply(e->body->kernel))
        emit_one_by_one(e, first, count);
    else
        emit_runs(e, plan, first, count);
}

/* ---- accesses ---- */

/* A row or column from the centre, as i64, checked where it has to be. */
static LLVMValueRef window_offset(struct kernel_emitter *e, const struct kx *x,
                                  enum access_check check, uint32_t side)
{
    LLVMValueRef value = kernel_expression(e, x), half = kernel_i64(e, side / 2);
    LLVMTypeRef type = kernel_type_like(e->i64, value);
    value = LLVMBuildIntCast2(e->builder, value, type, scalar_is_signed(x->type->scalar), "");
    if (e->body->lanes == 0 && kernel_offset_is_checked(e, x, check, side)) {
        LLVMValueRef moved = LLVMBuildAdd(e->builder, value, half, "");
        LLVMValueRef bad = LLVMBuildICmp(e->builder, LLVMIntUGE, moved, kernel_i64(e, side), "");
        kernel_fault_if(e, bad, KERNEL_FAULT_INDEX, x->span, value, kernel_i64(e, side / 2 + 1));
    }
    if (LLVMIsConstant(value) || !kernel_speculates(e)) return value;
    /* A speculative load must not leave the frame. */
    LLVMValueRef last = kernel_i64(e, side - 1);
    kernel_unify(e, &value, &half);
    kernel_unify(e, &value, &last);
    LLVMValueRef args[] = {LLVMBuildAdd(e->builder, value, half, ""), last};
    type = LLVMTypeOf(value);
    return LLVMBuildSub(e->builder, kernel_intrinsic(e, "llvm.umin", args, 2, &type, 1), half, "");
}

static LLVMValueRef signed_extreme(struct kernel_emitter *e, const char *name, LLVMValueRef a,
                                   LLVMValueRef b)
{
    LLVMValueRef args[] = {a, b};
    return kernel_intrinsic(e, name, args, 2, &e->i64, 1);
}

static LLVMValueRef clamped_row(struct kernel_emitter *e, LLVMValueRef at, LLVMValueRef last)
{
    return signed_extreme(e, "llvm.smax", signed_extreme(e, "llvm.smin", at, last),
                          kernel_i64(e, 0));
}

/* The remainder that is not negative. */
static LLVMValueRef build_modulo(struct kernel_emitter *e, LLVMValueRef at, LLVMValueRef period)
{
    LLVMValueRef rest = LLVMBuildSRem(e->builder, at, period, "");
    LLVMValueRef negative = LLVMBuildICmp(e->builder, LLVMIntSLT, rest, kernel_i64(e, 0), "");
    return LLVMBuildSelect(e->builder, negative, LLVMBuildAdd(e->builder, rest, period, ""), rest,
                           "");
}

static LLVMValueRef mirrored_row(struct kernel_emitter *e, LLVMValueRef at, LLVMValueRef last)
{
    LLVMValueRef twice = LLVMBuildShl(e->builder, last, kernel_i64(e, 1), "");
    /* Of a side of one packet every packet is that one. */
    LLVMValueRef period = signed_extreme(e, "llvm.smax", twice, kernel_i64(e, 1));
    LLVMValueRef rest = build_modulo(e, at, period);
    LLVMValueRef back = LLVMBuildSub(e->builder, twice, rest, "");
    return signed_extreme(e, "llvm.smin", rest, back);
}

/* As window_border of lang/window.h, but of a packet that stands for zeros the nearest one, and
 * `outside` is set. */
static LLVMValueRef border_place(struct kernel_emitter *e, enum border border, LLVMValueRef at,
                                 LLVMValueRef size, LLVMValueRef *outside)
{
    LLVMValueRef last = LLVMBuildSub(e->builder, size, kernel_i64(e, 1), "");
    switch (border) {
    case BORDER_MIRROR: return mirrored_row(e, at, last);
    case BORDER_WRAP: return build_modulo(e, at, size);
    case BORDER_ZERO: {
        LLVMValueRef beyond = LLVMBuildICmp(e->builder, LLVMIntUGE, at, size, "outside");
        *outside = *outside == NULL ? beyond : LLVMBuildOr(e->builder, *outside, beyond, "");
        return clamped_row(e, at, last);
    }
    case BORDER_CLAMP: break;
    }
    return clamped_row(e, at, last);
}

static bool is_zero_constant(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) != NULL && LLVMConstIntGetZExtValue(value) == 0;
}

static LLVMValueRef zero_packet(struct kernel_emitter *e, const struct type *type)
{
    LLVMValueRef zero =
        kernel_private_constant(e, LLVMConstNull(kernel_memory_type(e, type)), "zero");
    LLVMSetAlignment(zero, type->alignment_bytes);
    return zero;
}

static struct kernel_address border_packet(struct kernel_emitter *e, uint32_t in,
                                           LLVMValueRef element, LLVMValueRef row,
                                           LLVMValueRef column)
{
    struct kernel_body *body = e->body;
    const struct kernel_port *port = &body->kernel->in[in];
    LLVMValueRef length = kernel_i64(e, body->row_packets), outside = NULL;
    LLVMValueRef place = LLVMBuildAdd(e->builder, body->place, body->firing, "place");
    LLVMValueRef row_begin = LLVMBuildMul(e->builder, body->border_row, length, "");
    LLVMValueRef own_column = LLVMBuildSub(e->builder, place, row_begin, "column");
    LLVMValueRef y = body->border_row, x = own_column;
    if (!is_zero_constant(row)) {
        LLVMValueRef slot = kernel_array_item(e, e->i64, port->arity, body->in[in].rows, element);
        LLVMValueRef rows = LLVMBuildLoad2(e->builder, e->i64, slot, "rows");
        y = LLVMBuildAdd(e->builder, y, row, "");
        y = border_place(e, port->border, y, rows, &outside);
    }
    if (!is_zero_constant(column)) {
        x = LLVMBuildAdd(e->builder, x, column, "");
        x = border_place(e, port->border, x, length, &outside);
    }
    LLVMValueRef seen = LLVMBuildAdd(e->builder, LLVMBuildMul(e->builder, y, length, ""), x, "");
    LLVMValueRef index = LLVMBuildSub(e->builder, seen, place, "");
    struct kernel_address address = kernel_in_packet(e, in, element, index);
    if (outside != NULL) {
        address.pointer =
            LLVMBuildSelect(e->builder, outside, zero_packet(e, port->type), address.pointer, "");
    }
    return address;
}

struct kernel_address kernel_window_address(struct kernel_emitter *e, const struct kx *x)
{
    const struct kernel_port *port = &e->body->kernel->in[x->port];
    LLVMValueRef element = kernel_port_element(e, port, x->third, x->element_check);
    LLVMValueRef row = window_offset(e, x->left, x->check, port->window_height);
    LLVMValueRef column = window_offset(e, x->right, x->column_check, port->window_width);
    if (e->body->border_row != NULL && !(is_zero_constant(row) && is_zero_constant(column)))
        return border_packet(e, x->port, element, row, column);
    LLVMValueRef length = kernel_i64(e, e->body->row_packets);
    kernel_unify(e, &row, &length);
    LLVMValueRef index = LLVMBuildNSWMul(e->builder, row, length, "");
    kernel_unify(e, &index, &column);
    index = LLVMBuildNSWAdd(e->builder, index, column, "");
    struct kernel_address address = kernel_in_packet(e, x->port, element, index);
    if (address.layout == LAYOUT_PAIRS) {
        LLVMValueRef left = kernel_integer_like(e, column, 64, port->window_width / 2);
        address.parts[0] = LLVMBuildAdd(e->builder, column, left, "place");
    }
    return address;
}
