/* SPDX-License-Identifier: MIT */
/*
 * kernel_count_items: generated code that counts what work-items cost (kernel_count.c: "pieces").
 *
 * A firing may have more work-items than one warp. After a run of items each warp adds the maximum of its
 * counters, because warps wait for each other at a barrier. If there are few items, the maximum of a run is
 * added to the counter of the firing.
 */
#include "compiler/bodies/group.h"
#include "compiler/codegen/common/kernel_count.h"
#include "compiler/codegen/common/kernel_counter.h"
#include "compiler/codegen/common/kernel_lanes.h"
#include "compiler/codegen/common/kernel_llvm_types.h"

/* ---- runs of items ---- */

LLVMValueRef kernel_count_item(struct kernel_emitter *e)
{
    const struct kernel_counting *c = e->body->counting;
    LLVMValueRef sum = kernel_i64(e, 0);
    for (uint32_t i = 0; i < c->plan->counter_count; i++) {
        LLVMTypeRef type = kernel_counter_type(e, c, i);
        LLVMValueRef count = LLVMBuildLoad2(e->builder, type, c->items[i], "");
        uint64_t cycles = c->plan->counters[i].cycles;
        sum = kernel_cycles_add(e, sum, kernel_cycles_weigh(e, count, cycles, UINT64_MAX));
    }
    return sum;
}

void kernel_count_items_begin(struct kernel_emitter *e)
{
    struct kernel_counting *c = e->body->counting;
    if (c == NULL) return;
    c->items = kernel_counter_slots(e, c);
    c->in_items = true;
    kernel_counters_create(e);
}

static LLVMValueRef counter_most_slot(struct kernel_emitter *e, uint32_t counter)
{
    struct kernel_counting *c = e->body->counting;
    LLVMValueRef *slot = &c->items_most[counter];
    if (*slot == NULL)
        *slot = kernel_counter_create(e, c->reset, kernel_counter_type(e, c, counter));
    return *slot;
}

/* The item has ended: the warp keeps the maximum, and the next item begins at 0. */
static void take_item(struct kernel_emitter *e, uint32_t counter)
{
    struct kernel_counting *c = e->body->counting;
    LLVMTypeRef type = kernel_counter_type(e, c, counter);
    LLVMValueRef slot = c->items[counter], most = counter_most_slot(e, counter);
    LLVMValueRef args[] = {LLVMBuildLoad2(e->builder, type, most, ""),
                           LLVMBuildLoad2(e->builder, type, slot, "")};
    LLVMBuildStore(e->builder, kernel_intrinsic(e, "llvm.umax", args, 2, &type, 1), most);
    LLVMBuildStore(e->builder, LLVMConstNull(type), slot);
}

static LLVMValueRef take_most(struct kernel_emitter *e, uint32_t counter)
{
    LLVMTypeRef type = kernel_counter_type(e, e->body->counting, counter);
    LLVMValueRef slot = counter_most_slot(e, counter);
    LLVMValueRef most = LLVMBuildLoad2(e->builder, type, slot, "");
    LLVMBuildStore(e->builder, LLVMConstNull(type), slot);
    return most;
}

static LLVMValueRef piece_slot(struct kernel_emitter *e, LLVMValueRef piece)
{
    const struct kernel_counting *c = e->body->counting;
    return LLVMBuildInBoundsGEP2(e->builder, e->i64, c->pieces, &piece, 1, "");
}

static void add_to(struct kernel_emitter *e, LLVMValueRef slot, LLVMValueRef cycles)
{
    LLVMValueRef sum = LLVMBuildLoad2(e->builder, e->i64, slot, "");
    LLVMBuildStore(e->builder, kernel_cycles_add(e, sum, cycles), slot);
}

/* After the last item of a warp. */
static void end_warp_piece(struct kernel_emitter *e)
{
    struct kernel_counting *c = e->body->counting;
    LLVMValueRef lanes = kernel_i64(e, c->lane_count), item = e->body->item_index;
    LLVMValueRef next = LLVMBuildAdd(e->builder, item, kernel_i64(e, 1), "");
    LLVMValueRef rest = LLVMBuildURem(e->builder, next, lanes, "");
    LLVMValueRef full = LLVMBuildICmp(e->builder, LLVMIntEQ, rest, kernel_i64(e, 0), "");
    LLVMValueRef items = kernel_i64(e, group_items(e->body->kernel));
    LLVMValueRef last = LLVMBuildICmp(e->builder, LLVMIntEQ, next, items, "");
    LLVMBasicBlockRef take = kernel_block(e, "warp"), end = kernel_block(e, "warp.end");
    LLVMBuildCondBr(e->builder, LLVMBuildOr(e->builder, full, last, ""), take, end);
    kernel_position(e, take);
    LLVMValueRef piece = LLVMBuildUDiv(e->builder, item, lanes, "");
    LLVMValueRef slot = piece_slot(e, piece), run = kernel_i64(e, 0);
    for (uint32_t i = 0; i < c->plan->counter_count; i++) {
        if (c->items[i] == NULL) continue;
        const struct cost_counter *counter = &c->plan->counters[i];
        run = kernel_cycles_add(
            e, run, kernel_cycles_weigh(e, take_most(e, i), counter->cycles, UINT64_MAX));
    }
    add_to(e, slot, run);
    if (c->ended != NULL) add_to(e, c->ended, run);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
}

static bool counts_items(const struct kernel_counting *c)
{
    for (uint32_t i = 0; i < c->plan->counter_count; i++)
        if (c->items[i] != NULL) return true;
    return false;
}

void kernel_count_item_end(struct kernel_emitter *e)
{
    struct kernel_counting *c = e->body->counting;
    if (c == NULL || !counts_items(c)) return;
    for (uint32_t i = 0; i < c->plan->counter_count; i++)
        if (c->items[i] != NULL) take_item(e, i);
    if (c->kind == COUNT_PIECES) end_warp_piece(e);
}

/* Few items: the run counts for the firing as its longest item. */
void kernel_count_items_end(struct kernel_emitter *e)
{
    struct kernel_counting *c = e->body->counting;
    if (c == NULL) return;
    c->in_items = false;
    for (uint32_t i = 0; i < c->plan->counter_count && c->kind != COUNT_PIECES; i++)
        if (c->items[i] != NULL) kernel_counter_add(e, i, take_most(e, i));
}

/* ---- firings of several warps ---- */

static void deliver_piece(struct kernel_emitter *e, LLVMValueRef piece, LLVMValueRef cycles)
{
    struct kernel_counting *c = e->body->counting;
    if (c->sum != NULL) {
        add_to(e, c->sum, cycles);
        return;
    }
    LLVMBasicBlockRef some = kernel_block(e, "deliver"), end = kernel_block(e, "delivered");
    LLVMBuildCondBr(e->builder, LLVMBuildIsNull(e->builder, c->out, ""), end, some);
    kernel_position(e, some);
    LLVMValueRef first =
        LLVMBuildMul(e->builder, e->body->firing, kernel_i64(e, c->warp.pieces), "");
    LLVMValueRef index = LLVMBuildAdd(e->builder, first, piece, "");
    LLVMBuildStore(e->builder, cycles,
                   LLVMBuildInBoundsGEP2(e->builder, e->i64, c->out, &index, 1, ""));
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
}

void kernel_count_pieces_end(struct kernel_emitter *e, LLVMValueRef common)
{
    struct kernel_counting *c = e->body->counting;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = kernel_block(e, "pieces"), end = kernel_block(e, "pieces.end");
    LLVMBuildBr(e->builder, loop);
    kernel_position(e, loop);
    LLVMValueRef piece = LLVMBuildPhi(e->builder, e->i64, "piece");
    LLVMValueRef slot = piece_slot(e, piece);
    LLVMValueRef own = LLVMBuildLoad2(e->builder, e->i64, slot, "");
    deliver_piece(e, piece, kernel_cycles_add(e, common, own));
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, piece, kernel_i64(e, 1), "");
    LLVMValueRef more =
        LLVMBuildICmp(e->builder, LLVMIntULT, next, kernel_i64(e, c->warp.pieces), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    LLVMBuildCondBr(e->builder, more, loop, end);
    LLVMValueRef zero = kernel_i64(e, 0);
    LLVMAddIncoming(piece, &zero, &before, 1);
    LLVMAddIncoming(piece, &next, &latch, 1);
    kernel_position(e, end);
}
