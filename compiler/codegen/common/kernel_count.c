/* SPDX-License-Identifier: MIT */
/*
 * kernel_count: generated code that counts what its execution costs (compiler/bodies/cost.h).
 *
 * Every counter of a body is a local variable: LLVM keeps it in a register and folds what it can.
 * The use of the counters depends on the kind of body:
 *
 *   sums    a function, `finish`, a kernel with state: all executions add up; the cycles are their
 *           weighted sum.
 *   warps   firings that fill lanes: each firing stores its counters in a table of the block of
 *           firings that it belongs to, which leaves the loop over firings as it is, so that it
 *           becomes vectors as before; after the block a warp takes the maximum of each counter.
 *   pieces  a firing of several warps: kernel_count_items.c.
 */
#include "compiler/codegen/common/kernel_count.h"

#include "compiler/codegen/common/kernel_counter.h"
#include "compiler/codegen/common/kernel_lanes.h"
#include "compiler/codegen/common/kernel_llvm_batch.h"
#include "compiler/codegen/common/kernel_llvm_types.h"

enum { BLOCK_FIRINGS = 256, VECTOR_LANES_MAX = 64 };

/* ---- types ---- */

LLVMTypeRef kernel_counter_type(struct kernel_emitter *e, const struct kernel_counting *c,
                                uint32_t counter)
{
    uint64_t most = c->plan->counters[counter].most;
    if (c->kind == COUNT_SUM && c->many) return e->i64;
    if (most == 1) return e->i8;
    return most <= UINT32_MAX ? e->i32 : e->i64;
}

LLVMValueRef *kernel_counter_slots(struct kernel_emitter *e, const struct kernel_counting *c)
{
    return ARENA_ARRAY(e->scratch, LLVMValueRef, c->plan->counter_count + 1u);
}

/* ---- arithmetic of cycles: saturating ---- */

LLVMValueRef kernel_cycles_add(struct kernel_emitter *e, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef args[] = {a, b};
    LLVMTypeRef type = LLVMTypeOf(a);
    return kernel_intrinsic(e, "llvm.uadd.sat", args, 2, &type, 1);
}

/* `count` x cycles, count of any width; of flags a choice. */
LLVMValueRef kernel_cycles_weigh(struct kernel_emitter *e, LLVMValueRef count, uint64_t cycles,
                                 uint64_t most)
{
    LLVMTypeRef type = kernel_type_like(e->i64, count);
    count = LLVMBuildZExt(e->builder, count, type, "");
    if (cycles == 1) return count;
    if (cycles == 0) return LLVMConstNull(type);
    LLVMValueRef factor = kernel_integer_like(e, count, 64, cycles);
    if (most <= UINT64_MAX / cycles) return LLVMBuildMul(e->builder, count, factor, "");
    LLVMValueRef limit = kernel_integer_like(e, count, 64, UINT64_MAX / cycles);
    LLVMValueRef over = LLVMBuildICmp(e->builder, LLVMIntUGT, count, limit, "");
    return LLVMBuildSelect(e->builder, over, kernel_integer_like(e, count, 64, UINT64_MAX),
                           LLVMBuildMul(e->builder, count, factor, ""), "");
}

/* ---- counting ---- */

/* The condition under which what is emitted counts: NULL: always. */
static LLVMValueRef counting_condition(struct kernel_emitter *e)
{
    LLVMValueRef mask = e->body->mask, wanted = e->body->wanted;
    if (mask == NULL || wanted == NULL) return mask != NULL ? mask : wanted;
    kernel_unify(e, &mask, &wanted);
    return LLVMBuildAnd(e->builder, mask, wanted, "");
}

LLVMValueRef kernel_counter_create(struct kernel_emitter *e, LLVMBuilderRef reset, LLVMTypeRef type)
{
    LLVMValueRef slot = kernel_alloca(e, type, "counter");
    LLVMBuildStore(reset, LLVMConstNull(type), slot);
    return slot;
}

/* The variable of a counter, for one number or for one in each lane. */
static LLVMValueRef counter_slot(struct kernel_emitter *e, uint32_t counter, bool lanes)
{
    struct kernel_counting *c = e->body->counting;
    LLVMTypeRef type = kernel_counter_type(e, c, counter);
    LLVMValueRef *slot = c->in_items ? &c->items[counter]
                         : lanes     ? &c->lanes[counter]
                                     : &c->counts[counter];
    if (lanes) type = LLVMVectorType(type, e->body->lanes);
    if (*slot == NULL) *slot = kernel_counter_create(e, c->reset, type);
    return *slot;
}

static const struct cost_region *region_of(const struct kernel_emitter *e, uint32_t region)
{
    const struct kernel_counting *c = e->body->counting;
    if (c == NULL || c->plan == NULL || c->plan->counter_count == 0 || region == 0) return NULL;
    const struct cost_region *found = &c->plan->regions[region - 1];
    return found->counter != COST_NO_COUNTER ? found : NULL;
}

void kernel_counters_create(struct kernel_emitter *e)
{
    const struct kernel *kernel = e->body->kernel;
    if (kernel == NULL || !kernel_launches_any(&kernel->launches)) return;
    for (uint32_t i = 0; i < e->body->counting->plan->counter_count; i++)
        counter_slot(e, i, false);
}

/* counter += amount, which is uniform or of each lane, where the code counts. */
void kernel_counter_add(struct kernel_emitter *e, uint32_t counter, LLVMValueRef amount)
{
    LLVMValueRef when = counting_condition(e);
    bool lanes = kernel_is_vector(amount) || (when != NULL && kernel_is_vector(when));
    LLVMValueRef slot = counter_slot(e, counter, lanes);
    if (lanes && !kernel_is_vector(amount)) amount = kernel_splat(e, amount, e->body->lanes);
    if (when != NULL && lanes && !kernel_is_vector(when))
        when = kernel_splat(e, when, e->body->lanes);
    LLVMTypeRef type = LLVMTypeOf(amount);
    if (when != NULL) amount = LLVMBuildSelect(e->builder, when, amount, LLVMConstNull(type), "");
    LLVMValueRef old = LLVMBuildLoad2(e->builder, type, slot, "");
    LLVMBuildStore(e->builder, LLVMBuildAdd(e->builder, old, amount, ""), slot);
}

void kernel_count(struct kernel_emitter *e, uint32_t region)
{
    const struct cost_region *r = region_of(e, region);
    if (r == NULL) return;
    LLVMTypeRef type = kernel_counter_type(e, e->body->counting, r->counter);
    kernel_counter_add(e, r->counter, LLVMConstInt(type, r->step, 0));
}

void kernel_count_cycles(struct kernel_emitter *e, uint32_t region, LLVMValueRef cycles)
{
    const struct cost_region *r = region_of(e, region);
    if (r != NULL) kernel_counter_add(e, r->counter, cycles);
}

/* ---- what has been counted ---- */

/* The value of a counter, NULL: nothing has been counted. */
static LLVMValueRef load_counter(struct kernel_emitter *e, uint32_t counter)
{
    struct kernel_counting *c = e->body->counting;
    LLVMTypeRef type = kernel_counter_type(e, c, counter);
    LLVMValueRef count = c->counts[counter], lanes = c->lanes[counter];
    if (count != NULL) count = LLVMBuildLoad2(e->builder, type, count, "");
    if (lanes == NULL) return count;
    lanes = LLVMBuildLoad2(e->builder, LLVMVectorType(type, e->body->lanes), lanes, "");
    if (count == NULL) return lanes;
    kernel_unify(e, &count, &lanes);
    return LLVMBuildAdd(e->builder, count, lanes, "");
}

/* The weighted sum of all counters. */
static LLVMValueRef weighted_sum(struct kernel_emitter *e)
{
    const struct kernel_counting *c = e->body->counting;
    LLVMValueRef sum = kernel_i64(e, 0);
    for (uint32_t i = 0; i < c->plan->counter_count; i++) {
        LLVMValueRef count = load_counter(e, i);
        if (count == NULL) continue;
        const struct cost_counter *counter = &c->plan->counters[i];
        LLVMValueRef cycles =
            kernel_cycles_weigh(e, count, counter->cycles, c->many ? UINT64_MAX : counter->most);
        kernel_unify(e, &sum, &cycles);
        sum = kernel_cycles_add(e, sum, cycles);
    }
    return sum;
}

/* ---- functions ---- */

bool kernel_function_counts(const struct kernel_emitter *e, const struct function *f)
{
    return !e->uncounted && f->costs != NULL && f->costs->counter_count > 0;
}

LLVMTypeRef kernel_cycles_type(struct kernel_emitter *e, uint32_t lanes)
{
    return lanes > 0 ? LLVMVectorType(e->i64, lanes) : e->i64;
}

void kernel_count_function(struct kernel_emitter *e, struct kernel_counting *counting,
                           const struct function *f, LLVMValueRef cycles)
{
    *counting =
        (struct kernel_counting){.kind = COUNT_SUM, .plan = f->costs, .reset = e->body->setup};
    counting->counts = kernel_counter_slots(e, counting);
    counting->lanes = kernel_counter_slots(e, counting);
    counting->out = cycles;
    e->body->counting = counting;
}

void kernel_count_return(struct kernel_emitter *e)
{
    if (e->body->counting == NULL) return;
    LLVMValueRef sum = weighted_sum(e);
    if (e->body->lanes > 0 && !kernel_is_vector(sum)) sum = kernel_splat(e, sum, e->body->lanes);
    LLVMBuildStore(e->builder, sum, e->body->counting->out);
}

/* ---- blocks of firings: warps ---- */

/* The table of a block: an array for each counter. */
static void create_table(struct kernel_emitter *e, struct kernel_counting *c)
{
    uint32_t firings = c->warp.firings;
    uint64_t warps = firings < BLOCK_FIRINGS ? BLOCK_FIRINGS / firings : 1;
    c->block_firings = warps * firings;
    LLVMTypeRef *parts = ARENA_ARRAY(e->scratch, LLVMTypeRef, c->plan->counter_count + 1u);
    for (uint32_t i = 0; i < c->plan->counter_count; i++)
        parts[i] = LLVMArrayType2(kernel_counter_type(e, c, i), c->block_firings);
    c->table_type = LLVMStructTypeInContext(e->context, parts, c->plan->counter_count, 0);
    c->table = kernel_alloca(e, c->table_type, "counted");
    LLVMSetAlignment(c->table, 64);
    c->base = kernel_alloca(e, e->i64, "block");
}

static LLVMValueRef table_item(struct kernel_emitter *e, const struct kernel_counting *c,
                               LLVMValueRef table, uint32_t counter, LLVMValueRef index)
{
    LLVMValueRef path[] = {kernel_i64(e, 0), LLVMConstInt(e->i32, counter, 0), index};
    return LLVMBuildInBoundsGEP2(e->builder, c->table_type, table, path, 3, "");
}

static void store_counters(struct kernel_emitter *e)
{
    struct kernel_counting *c = e->body->counting;
    uint32_t lanes = e->body->lanes;
    LLVMValueRef base = LLVMBuildLoad2(e->builder, e->i64, c->base, "");
    LLVMValueRef index = LLVMBuildSub(e->builder, e->body->firing, base, "");
    for (uint32_t i = 0; i < c->plan->counter_count; i++) {
        LLVMTypeRef type = kernel_counter_type(e, c, i);
        LLVMValueRef count = load_counter(e, i);
        if (count == NULL) count = LLVMConstNull(type);
        if (lanes > 0 && !kernel_is_vector(count)) count = kernel_splat(e, count, lanes);
        LLVMValueRef store =
            LLVMBuildStore(e->builder, count, table_item(e, c, c->table, i, index));
        LLVMSetAlignment(store, (unsigned)(LLVMGetIntTypeWidth(type) / 8));
    }
}

/* The maximum of `count` consecutive numbers. */
static LLVMValueRef most_of(struct kernel_emitter *e, LLVMTypeRef type, LLVMValueRef at,
                            uint32_t count)
{
    static const char largest[] = "llvm.vector.reduce.umax";
    if (count == 1) return LLVMBuildLoad2(e->builder, type, at, "");
    LLVMTypeRef vector = LLVMVectorType(type, count);
    LLVMValueRef all = LLVMBuildLoad2(e->builder, vector, at, "");
    LLVMSetAlignment(all, (unsigned)(LLVMGetIntTypeWidth(type) / 8));
    return kernel_intrinsic(e, largest, &all, 1, &vector, 1);
}

/* Is one of `count` consecutive flags set? */
static LLVMValueRef any_of(struct kernel_emitter *e, LLVMValueRef at, uint32_t count)
{
    LLVMTypeRef type = LLVMIntTypeInContext(e->context, 8 * count);
    LLVMValueRef all = LLVMBuildLoad2(e->builder, type, at, "");
    LLVMSetAlignment(all, 1);
    LLVMValueRef any = LLVMBuildICmp(e->builder, LLVMIntNE, all, LLVMConstNull(type), "");
    return LLVMBuildZExt(e->builder, any, e->i8, "");
}

/* The same of more than fit a vector: i = 0, 1, ... */
static LLVMValueRef most_of_many(struct kernel_emitter *e, LLVMTypeRef type, LLVMValueRef at,
                                 uint32_t count)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = kernel_block(e, "lanes"), end = kernel_block(e, "lanes.end");
    LLVMBuildBr(e->builder, loop);
    kernel_position(e, loop);
    LLVMValueRef i = LLVMBuildPhi(e->builder, e->i64, "lane");
    LLVMValueRef most = LLVMBuildPhi(e->builder, type, "most");
    LLVMValueRef item = LLVMBuildInBoundsGEP2(e->builder, type, at, &i, 1, "");
    LLVMValueRef args[] = {most, LLVMBuildLoad2(e->builder, type, item, "")};
    LLVMValueRef larger = kernel_intrinsic(e, "llvm.umax", args, 2, &type, 1);
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, i, kernel_i64(e, 1), "");
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, kernel_i64(e, count), "");
    LLVMBuildCondBr(e->builder, more, loop, end);
    LLVMValueRef zero = kernel_i64(e, 0), nothing = LLVMConstNull(type);
    LLVMAddIncoming(i, &zero, &before, 1);
    LLVMAddIncoming(i, &next, &loop, 1);
    LLVMAddIncoming(most, &nothing, &before, 1);
    LLVMAddIncoming(most, &larger, &loop, 1);
    kernel_position(e, end);
    return larger;
}

static LLVMValueRef most_of_warp(struct kernel_emitter *e, const struct kernel_counting *c,
                                 uint32_t counter, LLVMValueRef at)
{
    uint32_t lanes = c->warp.firings;
    LLVMTypeRef type = kernel_counter_type(e, c, counter);
    if (lanes > VECTOR_LANES_MAX || (lanes & (lanes - 1)) != 0)
        return most_of_many(e, type, at, lanes);
    return kernel_counter_type(e, c, counter) == e->i8 ? any_of(e, at, lanes)
                                                       : most_of(e, type, at, lanes);
}

/* Can no warp cost more than fits 64 bits?  Then sums that do not saturate become vectors. */
static bool is_bounded(const struct cost_plan *plan)
{
    uint64_t most = plan->constant, cycles;
    for (uint32_t i = 0; i < plan->counter_count; i++) {
        const struct cost_counter *counter = &plan->counters[i];
        if (__builtin_mul_overflow(counter->most, counter->cycles, &cycles) ||
            __builtin_add_overflow(most, cycles, &most))
            return false;
    }
    return true;
}

/* The cycles of the warp that begins at `first` of the table. */
static LLVMValueRef warp_cost(struct kernel_emitter *e, const struct kernel_counting *c,
                              LLVMValueRef table, LLVMValueRef first)
{
    LLVMValueRef sum = kernel_i64(e, c->plan->constant);
    bool bounded = is_bounded(c->plan);
    for (uint32_t i = 0; i < c->plan->counter_count; i++) {
        LLVMValueRef most = most_of_warp(e, c, i, table_item(e, c, table, i, first));
        const struct cost_counter *counter = &c->plan->counters[i];
        LLVMValueRef cycles = kernel_cycles_weigh(e, most, counter->cycles, counter->most);
        sum = bounded ? LLVMBuildNUWAdd(e->builder, sum, cycles, "")
                      : kernel_cycles_add(e, sum, cycles);
    }
    return sum;
}

/* In a partial warp the lanes that are not there count nothing. */
static void clear_tail(struct kernel_emitter *e, const struct kernel_counting *c,
                       LLVMValueRef table, LLVMValueRef firings, LLVMValueRef end)
{
    LLVMValueRef missing = LLVMBuildSub(e->builder, end, firings, "");
    for (uint32_t i = 0; i < c->plan->counter_count; i++) {
        unsigned bytes = LLVMGetIntTypeWidth(kernel_counter_type(e, c, i)) / 8;
        LLVMBuildMemSet(e->builder, table_item(e, c, table, i, firings), LLVMConstInt(e->i8, 0, 0),
                        LLVMBuildMul(e->builder, missing, kernel_i64(e, bytes), ""), bytes);
    }
}

/* void (table, firings, cycles): the warps of a block, one after the other. */
static void emit_reduction(struct kernel_emitter *e, const struct kernel_counting *c,
                           LLVMValueRef function)
{
    struct kernel_body *outer = e->body, body = {.entry = ENTRY_FUNCTION};
    LLVMBasicBlockRef outer_at = LLVMGetInsertBlock(e->builder);
    kernel_body_begin(e, &body, function, 0);
    LLVMValueRef table = LLVMGetParam(function, 0), firings = LLVMGetParam(function, 1);
    LLVMValueRef lanes = kernel_i64(e, c->warp.firings);
    LLVMBasicBlockRef some = kernel_block(e, "some"), tail = kernel_block(e, "tail");
    LLVMBasicBlockRef begin = kernel_block(e, "begin"), loop = kernel_block(e, "warps");
    LLVMBasicBlockRef end = kernel_block(e, "warps.end");
    LLVMValueRef none = LLVMBuildICmp(e->builder, LLVMIntEQ, firings, kernel_i64(e, 0), "");
    LLVMBuildCondBr(e->builder, none, end, some);
    kernel_position(e, some);
    LLVMValueRef up = LLVMBuildAdd(e->builder, firings, kernel_i64(e, c->warp.firings - 1), "");
    LLVMValueRef warps = LLVMBuildUDiv(e->builder, up, lanes, "");
    LLVMValueRef whole = LLVMBuildMul(e->builder, warps, lanes, "");
    LLVMValueRef partial = LLVMBuildICmp(e->builder, LLVMIntNE, whole, firings, "");
    LLVMBuildCondBr(e->builder, partial, tail, begin);
    kernel_position(e, tail);
    clear_tail(e, c, table, firings, whole);
    LLVMBuildBr(e->builder, begin);
    kernel_position(e, begin);
    LLVMBuildBr(e->builder, loop);
    kernel_position(e, loop);
    LLVMValueRef warp = LLVMBuildPhi(e->builder, e->i64, "warp");
    LLVMValueRef cycles = warp_cost(e, c, table, LLVMBuildMul(e->builder, warp, lanes, ""));
    LLVMValueRef to =
        LLVMBuildInBoundsGEP2(e->builder, e->i64, LLVMGetParam(function, 2), &warp, 1, "");
    LLVMBuildStore(e->builder, cycles, to);
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, warp, kernel_i64(e, 1), "");
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, warps, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    LLVMBuildCondBr(e->builder, more, loop, end);
    LLVMValueRef zero = kernel_i64(e, 0);
    LLVMAddIncoming(warp, &zero, &begin, 1);
    LLVMAddIncoming(warp, &next, &latch, 1);
    kernel_position(e, end);
    LLVMBuildRetVoid(e->builder);
    kernel_body_end(e, outer, outer_at);
}

static LLVMValueRef count_reduction(struct kernel_emitter *e, struct kernel_counting *c)
{
    if (c->reduction != NULL) return c->reduction;
    LLVMTypeRef params[] = {e->pointer, e->i64, e->pointer};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), params, 3, 0);
    c->reduction = LLVMAddFunction(e->module, "cycles", type);
    LLVMSetLinkage(c->reduction, LLVMInternalLinkage);
    kernel_function_attribute(e, c->reduction, "nounwind");
    kernel_function_attribute(e, c->reduction, "noinline");
    kernel_parameter_attribute(e, c->reduction, 0, "noalias");
    kernel_parameter_attribute(e, c->reduction, 2, "noalias");
    emit_reduction(e, c, c->reduction);
    return c->reduction;
}

/* Where the caller asks: the cycles of the block that ends before firing `to` of the batch. */
static void reduce_block(struct kernel_emitter *e, LLVMValueRef to)
{
    struct kernel_counting *c = e->body->counting;
    LLVMValueRef function = count_reduction(e, c);
    LLVMBasicBlockRef some = kernel_block(e, "reduce"), end = kernel_block(e, "reduced");
    LLVMBuildCondBr(e->builder, LLVMBuildIsNull(e->builder, c->out, ""), end, some);
    kernel_position(e, some);
    LLVMValueRef base = LLVMBuildLoad2(e->builder, e->i64, c->base, "");
    LLVMValueRef warp = LLVMBuildUDiv(e->builder, base, kernel_i64(e, c->warp.firings), "");
    LLVMValueRef args[] = {c->table, LLVMBuildSub(e->builder, to, base, ""),
                           LLVMBuildInBoundsGEP2(e->builder, e->i64, c->out, &warp, 1, "")};
    LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(function), function, args, 3, "");
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
}

/* for (from = 0; from < count; from = to) the firings of a block */
void kernel_count_blocks(struct kernel_emitter *e, LLVMValueRef count, kernel_firings *firings,
                         void *data)
{
    struct kernel_counting *c = e->body->counting;
    if (c == NULL || c->kind != COUNT_WARPS) {
        firings(e, kernel_i64(e, 0), count, data);
        return;
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = kernel_block(e, "blocks"), end = kernel_block(e, "blocks.end");
    LLVMBuildBr(e->builder, loop);
    kernel_position(e, loop);
    LLVMValueRef from = LLVMBuildPhi(e->builder, e->i64, "block.from");
    LLVMBuildStore(e->builder, from, c->base);
    LLVMValueRef whole = LLVMBuildAdd(e->builder, from, kernel_i64(e, c->block_firings), "");
    LLVMValueRef args[] = {whole, count};
    LLVMValueRef to = kernel_intrinsic(e, "llvm.umin", args, 2, &e->i64, 1);
    firings(e, from, to, data);
    reduce_block(e, to);
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, to, count, "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    LLVMBuildStore(e->builder, to, c->base); /* after the last block, no firings of it are left */
    LLVMBuildCondBr(e->builder, more, loop, end);
    LLVMValueRef zero = kernel_i64(e, 0);
    LLVMAddIncoming(from, &zero, &before, 1);
    LLVMAddIncoming(from, &to, &latch, 1);
    kernel_position(e, end);
}

void kernel_count_stopped(struct kernel_emitter *e)
{
    struct kernel_counting *c = e->body->counting;
    if (c == NULL || c->kind != COUNT_WARPS) return;
    reduce_block(e, LLVMBuildLoad2(e->builder, e->i64, e->body->completed, ""));
}

/* ---- bodies of kernels ---- */

/* The cycles of code that all warps of the firing executed together. */
static LLVMValueRef common_cycles(struct kernel_emitter *e)
{
    uint64_t constant = e->body->counting->plan->constant;
    return kernel_cycles_add(e, weighted_sum(e), kernel_i64(e, constant));
}

LLVMValueRef kernel_count_so_far(struct kernel_emitter *e)
{
    const struct kernel_counting *c = e->body->counting;
    if (c == NULL) return kernel_i64(e, UINT64_MAX);
    LLVMValueRef cycles = common_cycles(e);
    if (c->kind == COUNT_PIECES) {
        cycles = kernel_cycles_weigh(e, cycles, c->warp.pieces, UINT64_MAX);
        cycles = kernel_cycles_add(e, cycles, LLVMBuildLoad2(e->builder, e->i64, c->ended, ""));
    }
    return c->in_items ? kernel_cycles_add(e, cycles, kernel_count_item(e)) : cycles;
}

void kernel_count_begin(struct kernel_emitter *e, struct kernel_counting *counting,
                        const struct kernel_variant *variant, LLVMValueRef out)
{
    struct kernel_body *body = e->body;
    bool run = body->entry == ENTRY_RUN;
    const struct cost_plan *plan = run ? variant->kernel->costs : variant->kernel->finish_costs;
    if (!variant->warp.counted || plan == NULL || body->entry == ENTRY_INIT) return;
    *counting = (struct kernel_counting){.plan = plan,
                                         .reset = body->setup,
                                         .warp = variant->warp,
                                         .lane_count = variant->lane_count,
                                         .out = out,
                                         .many = run};
    counting->counts = kernel_counter_slots(e, counting);
    counting->lanes = kernel_counter_slots(e, counting);
    counting->items = kernel_counter_slots(e, counting);
    counting->items_most = kernel_counter_slots(e, counting);
    body->counting = counting;
    if (run && variant->warp.pieces > 1)
        counting->kind = COUNT_PIECES;
    else if (run && !variant->stateful)
        counting->kind = COUNT_WARPS;
    counting->many = run && counting->kind == COUNT_SUM;
    if (run && counting->kind == COUNT_SUM) kernel_counters_create(e);
    if (counting->kind == COUNT_WARPS) create_table(e, counting);
    if (counting->kind != COUNT_PIECES) return;
    counting->pieces = kernel_alloca(e, LLVMArrayType2(e->i64, variant->warp.pieces), "pieces");
    if (variant->stateful) counting->sum = kernel_counter_create(e, body->setup, e->i64);
}

/* A place where the counters of the firing become 0, as far as they turn out to be used. */
void kernel_count_firing_begin(struct kernel_emitter *e)
{
    struct kernel_counting *c = e->body->counting;
    if (c == NULL || c->kind == COUNT_SUM) return;
    LLVMBasicBlockRef reset = kernel_block(e, "uncounted"), next = kernel_block(e, "firing");
    LLVMBuildBr(e->builder, reset);
    kernel_position(e, reset);
    if (c->kind == COUNT_PIECES)
        LLVMBuildMemSet(e->builder, c->pieces, LLVMConstInt(e->i8, 0, 0),
                        kernel_i64(e, 8 * (uint64_t)c->warp.pieces), 8);
    LLVMValueRef end = LLVMBuildBr(e->builder, next);
    c->reset = LLVMCreateBuilderInContext(e->context);
    LLVMPositionBuilderBefore(c->reset, end);
    kernel_position(e, next);
    c->counts = kernel_counter_slots(e, c);
    c->lanes = kernel_counter_slots(e, c);
    c->items_most = kernel_counter_slots(e, c);
    kernel_counters_create(e);
    if (c->kind == COUNT_PIECES && kernel_launches_any(&e->body->kernel->launches))
        c->ended = kernel_counter_create(e, c->reset, e->i64);
}

void kernel_count_firing_end(struct kernel_emitter *e)
{
    struct kernel_counting *c = e->body->counting;
    if (c == NULL || c->kind == COUNT_SUM) return;
    if (c->kind == COUNT_WARPS)
        store_counters(e);
    else
        kernel_count_pieces_end(e, common_cycles(e));
    LLVMDisposeBuilder(c->reset);
    c->reset = NULL;
}

bool kernel_counts_nothing(const struct kernel_emitter *e)
{
    return e->body->counting == NULL || e->body->counting->plan->counter_count == 0;
}

bool kernel_counts_by_firing(const struct kernel_emitter *e)
{
    return e->body->counting == NULL || e->body->counting->kind == COUNT_WARPS;
}

/* Executions that count. */
static LLVMValueRef count_executions(struct kernel_emitter *e)
{
    if (e->body->entry != ENTRY_RUN) return kernel_i64(e, 1);
    return LLVMBuildLoad2(e->builder, e->i64, e->body->completed, "");
}

void kernel_count_report(struct kernel_emitter *e)
{
    struct kernel_counting *c = e->body->counting;
    if (c == NULL || (c->kind != COUNT_SUM && c->sum == NULL)) return;
    LLVMBasicBlockRef some = kernel_block(e, "sum"), end = kernel_block(e, "summed");
    LLVMBuildCondBr(e->builder, LLVMBuildIsNull(e->builder, c->out, ""), end, some);
    kernel_position(e, some);
    LLVMValueRef cycles;
    if (c->sum != NULL) {
        cycles = LLVMBuildLoad2(e->builder, e->i64, c->sum, "");
    } else {
        LLVMValueRef constant =
            kernel_cycles_weigh(e, count_executions(e), c->plan->constant, UINT64_MAX);
        cycles = kernel_cycles_add(e, weighted_sum(e), constant);
    }
    LLVMBuildStore(e->builder, cycles, c->out);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
}
