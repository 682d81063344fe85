/* SPDX-License-Identifier: MIT */
/*
 * A firing that pops or pushes a block of packets would access it by itself: neighbouring threads then access addresses that
 * are a block apart, so each access of a warp takes a line of memory for every lane.  Instead the lanes of a warp copy the
 * packets of their firings together, word after word, to memory that the block shares, and back from there.  In between each
 * lane fires with windows in that memory.
 *
 * Rows are an odd number of units apart, so that lanes that access the same place of their rows use different banks.
 */
#include "compiler/codegen/common/kernel_tiles.h"

#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_types.h"
#include "lang/gpu_abi.h"

enum {
    FIRINGS_LEAST = 8, /* of a tile: with fewer, most lanes would only copy */
    WORD = 4,          /* bytes that a lane copies at once */
    TOGETHER = 8       /* words that a lane loads before it stores the first of them */
};

/* ---- which ends ---- */

/* Packets that are written by index may be written in part, and the others are zero. */
static bool writes_by_index(const struct kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->out_count; i++)
        if (kernel->out[i].indexed) return true;
    return false;
}

static bool is_block(const struct kernel_port *port, bool output)
{
    if (port->pops != NULL || port->pushes != NULL || port->window_width > 0) return false;
    return output ? port->push > 1 && port->push_least == port->push
                  : port->pop > 1 && port->peek == port->pop;
}

static struct kernel_tile_end plan_end(const struct kernel_port *port, bool output)
{
    if (!is_block(port, output)) return (struct kernel_tile_end){.firing_bytes = 0};
    uint64_t width = port->type->width_bytes, packets = output ? port->push : port->pop;
    uint64_t own = port->type->alignment_bytes, unit = own > WORD ? own : WORD, bytes;
    struct kernel_tile_end end = {.unit_bytes = own < WORD ? own : WORD, .written = output};
    if (__builtin_mul_overflow(packets, width, &bytes) || bytes > GPU_TILE_BYTES)
        bytes = GPU_TILE_BYTES;
    end.firing_bytes = bytes;
    end.row_bytes = ((bytes + unit - 1) / unit | 1) * unit;
    return end;
}

static void add_ends(struct kernel_tiles *tiles, const struct kernel_port *ports, uint32_t count,
                     bool output)
{
    for (uint32_t p = 0; p < count; p++)
        for (uint64_t n = 0; n < ports[p].arity; n++)
            tiles->ends[tiles->count++] = plan_end(&ports[p], output);
}

/* Lays the ends out in a tile of so many firings. */
static uint64_t lay_out_ends(const struct kernel_tiles *tiles, uint32_t firings)
{
    enum { ALIGNMENT = 16 };
    uint64_t bytes = 0;
    for (struct kernel_tile_end *end = tiles->ends; end < tiles->ends + tiles->count; end++) {
        end->at_bytes = bytes;
        bytes += (end->row_bytes * firings + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return bytes;
}

bool kernel_plan_tiles(struct kernel_emitter *e, const struct kernel *kernel,
                       struct kernel_end_counts ends, struct kernel_tiles *tiles)
{
    *tiles = (struct kernel_tiles){.firings = GPU_WARP};
    if (e->cx->options.optimisation == 0 || ends.many || writes_by_index(kernel)) return false;
    tiles->ends = ARENA_ARRAY(e->scratch, struct kernel_tile_end, ends.in + ends.out + 1);
    add_ends(tiles, kernel->in, kernel->in_count, false);
    add_ends(tiles, kernel->out, kernel->out_count, true);
    while ((tiles->bytes = lay_out_ends(tiles, tiles->firings)) > GPU_TILE_BYTES)
        if ((tiles->firings /= 2) < FIRINGS_LEAST) return false;
    return tiles->bytes > 0;
}

/* ---- copies ---- */

struct copy {
    const struct kernel_tile_end *end;
    const struct kernel_tile *tile;
    LLVMValueRef rows, window; /* the first bytes */
    uint64_t unit;             /* bytes that are copied at once */
    LLVMValueRef last;         /* i32: number of the last unit */
};

static LLVMValueRef number_32(struct kernel_emitter *e, uint64_t number)
{
    return LLVMConstInt(e->i32, number, 0);
}

static LLVMValueRef byte_at(struct kernel_emitter *e, LLVMValueRef pointer, LLVMValueRef offset)
{
    LLVMValueRef wide = LLVMBuildZExt(e->builder, offset, e->i64, "");
    return LLVMBuildInBoundsGEP2(e->builder, e->i8, pointer, &wide, 1, "");
}

/* Where unit `number` is on both sides.  Beyond the last one: the last one. */
static void place_unit(struct kernel_emitter *e, const struct copy *c, LLVMValueRef number,
                       LLVMValueRef *in_tile, LLVMValueRef *in_window)
{
    LLVMBuilderRef b = e->builder;
    LLVMValueRef beyond = LLVMBuildICmp(b, LLVMIntUGT, number, c->last, "");
    LLVMValueRef own = LLVMBuildSelect(b, beyond, c->last, number, "");
    LLVMValueRef each = number_32(e, c->end->firing_bytes / c->unit), unit = number_32(e, c->unit);
    LLVMValueRef row = LLVMBuildUDiv(b, own, each, "");
    LLVMValueRef gap = number_32(e, c->end->row_bytes - c->end->firing_bytes);
    LLVMValueRef at = LLVMBuildMul(b, own, unit, "");
    *in_window = byte_at(e, c->window, at);
    *in_tile = byte_at(e, c->rows, LLVMBuildAdd(b, at, LLVMBuildMul(b, row, gap, ""), ""));
}

static void copy_together(struct kernel_emitter *e, const struct copy *c, LLVMValueRef first)
{
    LLVMTypeRef type = LLVMIntTypeInContext(e->context, (unsigned)c->unit * 8);
    LLVMValueRef to[TOGETHER], units[TOGETHER];
    for (unsigned k = 0; k < TOGETHER; k++) {
        LLVMValueRef in_tile, in_window;
        LLVMValueRef later = LLVMBuildMul(e->builder, c->tile->lanes, number_32(e, k), "");
        place_unit(e, c, LLVMBuildAdd(e->builder, first, later, ""), &in_tile, &in_window);
        to[k] = c->end->written ? in_window : in_tile;
        units[k] = LLVMBuildLoad2(e->builder, type, c->end->written ? in_tile : in_window, "");
        LLVMSetAlignment(units[k], (unsigned)c->unit);
    }
    for (unsigned k = 0; k < TOGETHER; k++)
        LLVMSetAlignment(LLVMBuildStore(e->builder, units[k], to[k]), (unsigned)c->unit);
}

/* for (first = lane; first <= last; first += lanes x TOGETHER) */
static void copy_units(struct kernel_emitter *e, struct copy *c, uint64_t unit)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(e->builder));
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(e->context, function, "copy");
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(e->context, function, "copied");
    c->unit = unit;
    LLVMValueRef each = number_32(e, c->end->firing_bytes / unit);
    LLVMValueRef all = LLVMBuildMul(e->builder, c->tile->firings, each, "");
    c->last = LLVMBuildSub(e->builder, all, number_32(e, 1), "");
    LLVMValueRef step = LLVMBuildMul(e->builder, c->tile->lanes, number_32(e, TOGETHER), "");
    LLVMValueRef any = LLVMBuildICmp(e->builder, LLVMIntULT, c->tile->lane, all, "");
    LLVMBuildCondBr(e->builder, any, loop, end);
    kernel_position(e, loop);
    LLVMValueRef first = LLVMBuildPhi(e->builder, e->i32, "first");
    copy_together(e, c, first);
    LLVMValueRef next = LLVMBuildAdd(e->builder, first, step, "");
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, all, "");
    kernel_leave_loop_alone(e, LLVMBuildCondBr(e->builder, more, loop, end));
    LLVMValueRef lane = c->tile->lane;
    LLVMAddIncoming(first, &lane, &before, 1);
    LLVMAddIncoming(first, &next, &loop, 1);
    kernel_position(e, end);
}

/* Packets that are narrower than a word: by words where the window begins at one. */
static void copy_narrow(struct kernel_emitter *e, struct copy *c)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInsertBlock(e->builder));
    LLVMBasicBlockRef words = LLVMAppendBasicBlockInContext(e->context, function, "words");
    LLVMBasicBlockRef parts = LLVMAppendBasicBlockInContext(e->context, function, "parts");
    LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(e->context, function, "narrow.copied");
    LLVMValueRef place = LLVMBuildPtrToInt(e->builder, c->window, e->i64, "");
    LLVMValueRef rest = LLVMBuildAnd(e->builder, place, kernel_i64(e, WORD - 1), "");
    LLVMBuildCondBr(e->builder, LLVMBuildIsNull(e->builder, rest, ""), words, parts);
    kernel_position(e, words);
    copy_units(e, c, WORD);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, parts);
    copy_units(e, c, c->end->unit_bytes);
    LLVMBuildBr(e->builder, end);
    kernel_position(e, end);
}

void kernel_copy_tile(struct kernel_emitter *e, const struct kernel_tiles *tiles,
                      const struct kernel_tile *tile, const LLVMValueRef *windows, bool outputs)
{
    for (uint64_t i = 0; i < tiles->count; i++) {
        const struct kernel_tile_end *end = &tiles->ends[i];
        if (end->firing_bytes == 0 || end->written != outputs) continue;
        struct copy c = {.end = end, .tile = tile, .window = windows[i]};
        c.rows = kernel_offset(e, e->builder, tile->memory, end->at_bytes);
        if (end->unit_bytes < WORD && end->firing_bytes % WORD == 0)
            copy_narrow(e, &c);
        else
            copy_units(e, &c, end->unit_bytes);
    }
}

LLVMValueRef kernel_tile_window(struct kernel_emitter *e, const struct kernel_tile_end *end,
                                const struct kernel_tile *tile)
{
    LLVMValueRef rows = kernel_offset(e, e->builder, tile->memory, end->at_bytes);
    LLVMValueRef distance = LLVMBuildMul(e->builder, tile->lane, number_32(e, end->row_bytes), "");
    return LLVMBuildAddrSpaceCast(e->builder, byte_at(e, rows, distance), e->pointer, "");
}
