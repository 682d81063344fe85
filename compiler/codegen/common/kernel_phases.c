/* SPDX-License-Identifier: MIT */
/*
 * kernel_phases: windows of firings in lanes whose packets lie apart.
 *
 * Where a firing pops several scalars S (packets, or parts of a vector), scalar i of the firings l, l + 1, ...
 * of a block lies S scalars apart: each access would cost a load for each lane.  The block's window is therefore
 * first cut into its S phases, phase r holding the scalars r, r + S, r + 2S, ...; then scalar i of consecutive
 * firings are neighbours, in phase i mod S from i div S on.  Appended packets, S
 * scalars for each firing, are joined in the same way when the block ends.
 *
 * Method: tiles of S vectors, as long as registers.  Unzipping two neighbours gives the even and the odd scalars
 * of both; doing so log2 S times with halves of the list gives the phases.  An odd factor of S is done by picking.
 *
 * Where S narrow scalars are whole words of 32 bits, the words are unzipped, of which then shifts and masks make
 * scalars; and shifts make words again, that are zipped.
 *
 * Lanes that are woven in R parts (kernel_weave.c) see the phases of R x S: part k's lanes are R firings apart, and
 * its packet i is part 0's packet i + k pop.
 */
#include "compiler/codegen/common/kernel_phases.h"

#include "base/arithmetic.h"
#include "compiler/bodies/written.h"
#include "compiler/codegen/common/kernel_llvm_address.h"
#include "compiler/codegen/common/kernel_llvm_types.h"

enum { WORD_BYTES = 4, WORDS_MAX = 32, ODD_MAX = 7, IN_BYTES_MAX = 32768, OUT_BYTES_MAX = 16384 };

struct phases {
    const struct type *scalar;
    uint32_t scalars; /* of a word: what is zipped and unzipped; 1: a scalar */
    uint64_t stride;  /* words of a firing */
    uint64_t length;  /* of a phase, in whole tiles */
    uint32_t tile;    /* words of a vector */
};

static uint64_t count_of_phases(const struct phases *p)
{
    return p->stride * p->scalars;
}

static uint64_t phases_bytes(const struct phases *p)
{
    return count_of_phases(p) * p->length * p->scalar->width_bytes;
}

/* How many integers of a firing's `count` make a word. */
static uint32_t scalars_of_word(struct kernel_emitter *e, const struct type *scalar, uint64_t count)
{
    if (LLVMGetTypeKind(kernel_memory_type(e, scalar)) != LLVMIntegerTypeKind) return 1;
    uint32_t many = WORD_BYTES / (uint32_t)scalar->width_bytes;
    return many > 1 && count % many == 0 ? many : 1;
}

static uint64_t odd_part(uint64_t n)
{
    while (n > 1 && n % 2 == 0)
        n /= 2;
    return n;
}

/* Of a port whose firings take or give so many packets, and see or give `seen` of them. */
static bool describe_phase_port(struct kernel_emitter *e, const struct kernel_port *port,
                                uint64_t packets, uint64_t seen, uint32_t lanes, struct phases *p)
{
    enum { SCALARS_MAX = WORDS_MAX * WORD_BYTES };
    p->scalar = type_base(port->type);
    if (port->is_array || p->scalar->kind == TYPE_STRUCT || packets > SCALARS_MAX) return false;
    uint64_t parts = type_scalar_count(port->type);
    if (parts > SCALARS_MAX || parts * packets <= 1 || parts * packets > SCALARS_MAX) return false;
    uint32_t of_packets = scalars_of_word(e, p->scalar, parts * packets);
    uint32_t of_seen = scalars_of_word(e, p->scalar, parts * seen);
    p->scalars = of_packets < of_seen ? of_packets : of_seen;
    p->stride = parts * packets / p->scalars;
    if (p->stride > WORDS_MAX || odd_part(p->stride) > ODD_MAX) return false;
    /* Packets that are read only once need not go through memory: as many vectors as there are
     * registers. */
    if (seen == packets && p->stride > e->isa.vector_registers) return false;
    uint32_t fit = e->isa.vector_bits / 8 / (p->scalars * (uint32_t)p->scalar->width_bytes);
    p->tile = fit < lanes ? fit : lanes;
    uint64_t longest = lanes - 1 + (seen + packets - 1) / packets;
    p->length = align_up(longest, p->tile);
    return true;
}

static bool describe_in(struct kernel_emitter *e, const struct kernel_port *port, uint32_t lanes,
                        uint32_t weave, struct phases *p)
{
    return port->window_width == 0 && port->peek >= port->pop && port->peek < IN_BYTES_MAX &&
           describe_phase_port(e, port, port->pop * weave, port->peek + port->pop * (weave - 1),
                               lanes / weave, p) &&
           phases_bytes(p) <= IN_BYTES_MAX;
}

static bool describe_out(struct kernel_emitter *e, const struct kernel_port *port, uint32_t lanes,
                         uint32_t weave, struct phases *p)
{
    return port->push <= OUT_BYTES_MAX &&
           describe_phase_port(e, port, port->push * weave, port->push * weave, lanes / weave, p) &&
           phases_bytes(p) <= OUT_BYTES_MAX;
}

bool kernel_has_in_phases(struct kernel_emitter *e, const struct kernel_port *port, uint32_t lanes,
                          uint32_t weave)
{
    struct phases p;
    return describe_in(e, port, lanes, weave, &p);
}

bool kernel_has_out_phases(struct kernel_emitter *e, const struct kernel_port *port, uint32_t lanes,
                           uint32_t weave)
{
    struct phases p;
    return describe_out(e, port, lanes, weave, &p);
}

/* ---- shuffles ---- */

/* Element i is `first` + i x `step` of the concatenated vectors; elements past their end are undefined. */
static LLVMValueRef pick_elements(struct kernel_emitter *e, LLVMValueRef a, LLVMValueRef b,
                                  int64_t first, int64_t step)
{
    LLVMValueRef places[KERNEL_LANES_MAX];
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(a));
    for (unsigned i = 0; i < count; i++) {
        int64_t place = first + (int64_t)i * step;
        bool inside = place >= 0 && place < 2 * (int64_t)count;
        places[i] = inside ? LLVMConstInt(e->i32, (uint64_t)place, 0) : LLVMGetPoison(e->i32);
    }
    return LLVMBuildShuffleVector(e->builder, a, b, LLVMConstVector(places, count), "");
}

/* a0 b0 a1 b1 ... from the lower halves, or from the upper ones. */
static LLVMValueRef interleave_halves(struct kernel_emitter *e, LLVMValueRef a, LLVMValueRef b,
                                      bool upper)
{
    LLVMValueRef places[KERNEL_LANES_MAX];
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(a));
    for (unsigned i = 0; i < count; i++) {
        unsigned from = i / 2 + (upper ? count / 2 : 0) + (i % 2 != 0 ? count : 0);
        places[i] = LLVMConstInt(e->i32, from, 0);
    }
    return LLVMBuildShuffleVector(e->builder, a, b, LLVMConstVector(places, count), "");
}

/* Takes from `b` where `from_b` says so: element i is place[i] of it, else element i of `a` stays. */
static LLVMValueRef merge_vectors(struct kernel_emitter *e, LLVMValueRef a, LLVMValueRef b,
                                  const int64_t *place)
{
    LLVMValueRef places[KERNEL_LANES_MAX];
    unsigned count = LLVMGetVectorSize(LLVMTypeOf(a));
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        bool taken = place[i] >= 0 && place[i] < (int64_t)count;
        any = any || taken;
        places[i] = LLVMConstInt(e->i32, taken ? count + (uint64_t)place[i] : i, 0);
    }
    if (!any) return a;
    return LLVMBuildShuffleVector(e->builder, a, b, LLVMConstVector(places, count), "");
}

/* Phases of `count` vectors, an odd number, in place; and back. */
static void pick_odd(struct kernel_emitter *e, LLVMValueRef *v, uint64_t count, bool back)
{
    LLVMValueRef result[ODD_MAX];
    int64_t place[KERNEL_LANES_MAX] = {0};
    unsigned tile = LLVMGetVectorSize(LLVMTypeOf(v[0]));
    for (uint64_t r = 0; r < count; r++) {
        result[r] = LLVMGetPoison(LLVMTypeOf(v[0]));
        for (uint64_t from = 0; from < count; from++) {
            for (unsigned i = 0; i < tile; i++) {
                uint64_t scalar = back ? r * tile + i : i * count + r;
                bool here = back ? scalar % count == from : scalar / tile == from;
                place[i] = !here ? -1 : (int64_t)(back ? scalar / count : scalar % tile);
            }
            result[r] = merge_vectors(e, result[r], v[from], place);
        }
    }
    for (uint64_t r = 0; r < count; r++)
        v[r] = result[r];
}

/* From a list of vectors, that are scalars in order, to its phases. */
static void unzip_phases(struct kernel_emitter *e, LLVMValueRef *v, uint64_t count)
{
    LLVMValueRef halves[2][WORDS_MAX / 2];
    if (count == 1) return;
    if (count % 2 != 0) {
        pick_odd(e, v, count, false);
        return;
    }
    for (uint64_t i = 0; i < count / 2; i++) {
        halves[0][i] = pick_elements(e, v[2 * i], v[2 * i + 1], 0, 2);
        halves[1][i] = pick_elements(e, v[2 * i], v[2 * i + 1], 1, 2);
    }
    unzip_phases(e, halves[0], count / 2);
    unzip_phases(e, halves[1], count / 2);
    for (uint64_t r = 0; r < count; r++)
        v[r] = halves[r % 2][r / 2];
}

/* And back. */
static void zip_phases(struct kernel_emitter *e, LLVMValueRef *v, uint64_t count)
{
    LLVMValueRef halves[2][WORDS_MAX / 2];
    if (count == 1) return;
    if (count % 2 != 0) {
        pick_odd(e, v, count, true);
        return;
    }
    for (uint64_t r = 0; r < count; r++)
        halves[r % 2][r / 2] = v[r];
    zip_phases(e, halves[0], count / 2);
    zip_phases(e, halves[1], count / 2);
    for (uint64_t i = 0; i < count / 2; i++) {
        v[2 * i] = interleave_halves(e, halves[0][i], halves[1][i], false);
        v[2 * i + 1] = interleave_halves(e, halves[0][i], halves[1][i], true);
    }
}

/* ---- tiles ---- */

static LLVMTypeRef phase_word_type(struct kernel_emitter *e, const struct phases *p)
{
    return p->scalars > 1 ? e->i32 : kernel_memory_type(e, p->scalar);
}

static LLVMValueRef load_vector(struct kernel_emitter *e, const struct phases *p, LLVMTypeRef item,
                                LLVMValueRef base, LLVMValueRef place)
{
    LLVMValueRef at = LLVMBuildInBoundsGEP2(e->builder, item, base, &place, 1, "");
    LLVMValueRef load = LLVMBuildLoad2(e->builder, LLVMVectorType(item, p->tile), at, "");
    LLVMSetAlignment(load, p->scalar->alignment_bytes);
    return load;
}

static void store_vector(struct kernel_emitter *e, const struct phases *p, LLVMValueRef value,
                         LLVMValueRef base, LLVMValueRef place)
{
    LLVMTypeRef item = LLVMGetElementType(LLVMTypeOf(value));
    LLVMValueRef at = LLVMBuildInBoundsGEP2(e->builder, item, base, &place, 1, "");
    LLVMSetAlignment(LLVMBuildStore(e->builder, value, at), p->scalar->alignment_bytes);
}

static LLVMValueRef add_offset(struct kernel_emitter *e, LLVMValueRef base, uint64_t more)
{
    return more == 0 ? base : LLVMBuildNUWAdd(e->builder, base, kernel_i64(e, more), "");
}

/* Vector i (from word i x tile on) of the last tile, which begins at `first`: nothing beyond the window's
 * `end` is touched. */
static LLVMValueRef load_last(struct kernel_emitter *e, const struct phases *p, LLVMValueRef window,
                              uint64_t first, uint64_t i, uint64_t end)
{
    uint64_t begin = first + i * p->tile;
    LLVMTypeRef word = phase_word_type(e, p), type = LLVMVectorType(word, p->tile);
    if (begin + p->tile <= end) return load_vector(e, p, word, window, kernel_i64(e, begin));
    if (begin >= end) return LLVMGetPoison(type);
    uint64_t from = end - p->tile;
    LLVMValueRef loaded = load_vector(e, p, word, window, kernel_i64(e, from));
    return pick_elements(e, loaded, LLVMGetPoison(type), (int64_t)(begin - from), 1);
}

/* How far scalar `i` of a word is shifted; the first has the lowest bits. */
static LLVMValueRef shift_of(struct kernel_emitter *e, const struct phases *p, uint64_t i)
{
    LLVMValueRef bits = LLVMConstInt(e->i32, i % p->scalars * 8 * p->scalar->width_bytes, 0);
    return kernel_splat(e, bits, p->tile);
}

static void store_phases(struct kernel_emitter *e, const struct phases *p, LLVMValueRef *v,
                         LLVMValueRef to, LLVMValueRef at)
{
    LLVMTypeRef scalars = LLVMVectorType(kernel_memory_type(e, p->scalar), p->tile);
    unzip_phases(e, v, p->stride);
    for (uint64_t i = 0; i < count_of_phases(p); i++) {
        LLVMValueRef phase = v[i / p->scalars];
        if (p->scalars > 1) {
            phase = LLVMBuildLShr(e->builder, phase, shift_of(e, p, i), "");
            phase = LLVMBuildTrunc(e->builder, phase, scalars, "");
        }
        store_vector(e, p, phase, to, add_offset(e, at, i * p->length));
    }
}

/* Where phase `i` of what the lanes append begins: each scalar is a vector of all lanes'. */
static uint64_t appended_phase(const struct kernel_body *body, const struct phases *p, uint64_t i)
{
    uint64_t own = count_of_phases(p) / body->weave;
    return i % own * p->length * body->weave + i / own * p->length;
}

/* Word `r` of what the firings from `at` on append. */
static LLVMValueRef load_words(struct kernel_emitter *e, const struct phases *p, LLVMValueRef from,
                               uint64_t r, LLVMValueRef at)
{
    LLVMTypeRef item = kernel_memory_type(e, p->scalar), words = LLVMVectorType(e->i32, p->tile);
    if (p->scalars == 1)
        return load_vector(e, p, item, from, add_offset(e, at, appended_phase(e->body, p, r)));
    LLVMValueRef word = LLVMConstNull(words);
    for (uint64_t i = r * p->scalars; i < (r + 1) * p->scalars; i++) {
        LLVMValueRef phase =
            load_vector(e, p, item, from, add_offset(e, at, appended_phase(e->body, p, i)));
        phase = LLVMBuildZExt(e->builder, phase, words, "");
        phase = LLVMBuildShl(e->builder, phase, shift_of(e, p, i), "");
        word = LLVMBuildOr(e->builder, word, phase, "");
    }
    return word;
}

struct tile_loop {
    LLVMBasicBlockRef block;
    LLVMValueRef at; /* scalars of a phase before this tile */
};

/* for (at = 0; at < length; at += tile) */
static struct tile_loop begin_tiles(struct kernel_emitter *e)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMValueRef zero = kernel_i64(e, 0);
    struct tile_loop loop = {.block = kernel_block(e, "tiles")};
    LLVMBuildBr(e->builder, loop.block);
    kernel_position(e, loop.block);
    loop.at = LLVMBuildPhi(e->builder, e->i64, "tile");
    LLVMAddIncoming(loop.at, &zero, &before, 1);
    return loop;
}

static void end_tiles(struct kernel_emitter *e, const struct phases *p, struct tile_loop loop,
                      uint64_t length)
{
    LLVMBasicBlockRef end = kernel_block(e, "tiles.end");
    LLVMValueRef next = add_offset(e, loop.at, p->tile);
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, kernel_i64(e, length), "");
    LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder);
    LLVMBuildCondBr(e->builder, more, loop.block, end);
    LLVMAddIncoming(loop.at, &next, &latch, 1);
    kernel_position(e, end);
}

enum { FETCHED_MIN = 8 }; /* vectors of a tile, from which on the next one is fetched */

static void cut_window(struct kernel_emitter *e, const struct phases *p, LLVMValueRef window,
                       uint64_t window_words, LLVMValueRef to)
{
    LLVMValueRef v[WORDS_MAX];
    uint64_t whole = window_words / (p->stride * p->tile) * p->tile;
    if (whole > 0) {
        struct tile_loop loop = begin_tiles(e);
        LLVMValueRef from = LLVMBuildNUWMul(e->builder, loop.at, kernel_i64(e, p->stride), "");
        for (uint64_t i = 0; i < p->stride; i++)
            v[i] =
                load_vector(e, p, phase_word_type(e, p), window, add_offset(e, from, i * p->tile));
        for (uint64_t i = 0; i < p->stride && p->stride >= FETCHED_MIN; i++) {
            /* The line of the same word of the firings that follow these.  The processor reads
             * all packets of a block at once and then computes for long, so it does not fetch
             * this line by itself. */
            LLVMValueRef next = add_offset(e, add_offset(e, from, i * p->tile), window_words);
            kernel_prefetch(e,
                            LLVMBuildGEP2(e->builder, phase_word_type(e, p), window, &next, 1, ""));
        }
        store_phases(e, p, v, to, loop.at);
        end_tiles(e, p, loop, whole);
    }
    if (whole == p->length) return;
    for (uint64_t i = 0; i < p->stride; i++)
        v[i] = load_last(e, p, window, whole * p->stride, i, window_words);
    store_phases(e, p, v, to, kernel_i64(e, whole));
}

static LLVMValueRef allocate_phase_slot(struct kernel_emitter *e, const struct phases *p,
                                        const char *name)
{
    enum { LINE_BYTES = 64 };
    LLVMTypeRef scalar = kernel_memory_type(e, p->scalar);
    LLVMValueRef place =
        kernel_alloca(e, LLVMArrayType2(scalar, count_of_phases(p) * p->length), name);
    LLVMSetAlignment(place, LINE_BYTES);
    return place;
}

/* ---- of a body ---- */

static void begin_out(struct kernel_emitter *e, uint32_t port, const struct phases *p)
{
    LLVMValueRef *out = &e->body->out[port].phases;
    *out = allocate_phase_slot(e, p, "appended");
    if (!e->body->kernel->out[port].indexed || written_wholly(e->scratch, e->body->kernel, port))
        return;
    LLVMBuildMemSet(e->builder, *out, LLVMConstInt(e->i8, 0, 0), kernel_i64(e, phases_bytes(p)),
                    p->scalar->alignment_bytes);
}

void kernel_cut_phases(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    const struct kernel *kernel = body->kernel;
    struct phases p;
    for (uint32_t i = 0; i < kernel->in_count; i++) {
        const struct kernel_port *port = &kernel->in[i];
        body->in[i].phases = NULL;
        if (body->lanes == 0 || body->pairs || !describe_in(e, port, body->lanes, body->weave, &p))
            continue;
        LLVMValueRef phases = allocate_phase_slot(e, &p, "phases");
        struct kernel_address window = kernel_in_packet(e, i, kernel_i64(e, 0), kernel_i64(e, 0));
        uint64_t parts = type_scalar_count(port->type);
        uint64_t seen = ((body->lanes - 1) * port->pop + port->peek) * parts / p.scalars;
        cut_window(e, &p, window.pointer, seen, phases);
        body->in[i].phases = phases;
        body->in[i].phase_bytes = p.length * p.scalar->width_bytes;
    }
    for (uint32_t i = 0; i < kernel->out_count; i++) {
        body->out[i].phases = NULL;
        if (body->lanes > 0 && !body->pairs &&
            describe_out(e, &kernel->out[i], body->lanes, body->weave, &p))
            begin_out(e, i, &p);
    }
}

void kernel_join_phases(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    LLVMValueRef v[WORDS_MAX] = {NULL};
    struct phases p = {0};
    for (uint32_t i = 0; i < body->kernel->out_count; i++) {
        LLVMValueRef phases = body->out[i].phases;
        if (body->lanes == 0 || phases == NULL) continue;
        describe_out(e, &body->kernel->out[i], body->lanes, body->weave, &p);
        body->out[i].phases = NULL;
        struct kernel_address window = kernel_out_packet(e, i, kernel_i64(e, 0), kernel_i64(e, 0));
        struct tile_loop loop = begin_tiles(e);
        for (uint64_t r = 0; r < p.stride; r++)
            v[r] = load_words(e, &p, phases, r, loop.at);
        zip_phases(e, v, p.stride);
        LLVMValueRef to = LLVMBuildNUWMul(e->builder, loop.at, kernel_i64(e, p.stride), "");
        for (uint64_t r = 0; r < p.stride; r++)
            store_vector(e, &p, v[r], window.pointer, add_offset(e, to, r * p.tile));
        end_tiles(e, &p, loop, p.length);
    }
}

/* Bytes from the first phase to the packet, of the first lane. */
static LLVMValueRef phase_offset(struct kernel_emitter *e, uint32_t in, LLVMValueRef index)
{
    const struct kernel_port *port = &e->body->kernel->in[in];
    const struct kernel_port_state *state = &e->body->in[in];
    LLVMValueRef pop = kernel_i64(e, port->pop * e->body->weave);
    uint64_t parts_bytes = type_scalar_count(port->type) * state->phase_bytes;
    LLVMValueRef phase = LLVMBuildMul(e->builder, LLVMBuildURem(e->builder, index, pop, ""),
                                      kernel_i64(e, parts_bytes), "");
    LLVMValueRef place = LLVMBuildMul(e->builder, LLVMBuildUDiv(e->builder, index, pop, ""),
                                      kernel_i64(e, type_base(port->type)->width_bytes), "");
    return LLVMBuildAdd(e->builder, phase, place, "");
}

struct kernel_address kernel_phase_packet(struct kernel_emitter *e, uint32_t in, LLVMValueRef index)
{
    const struct kernel_port *port = &e->body->kernel->in[in];
    const struct kernel_port_state *state = &e->body->in[in];
    struct kernel_address packet = {.pointer = state->phases,
                                    .layout = LAYOUT_STRIDED,
                                    .stride_bytes = type_base(port->type)->width_bytes,
                                    .item_bytes = state->phase_bytes};
    if (e->body->weave == 1) {
        LLVMValueRef offset = phase_offset(e, in, index);
        packet.pointer = LLVMBuildInBoundsGEP2(e->builder, e->i8, state->phases, &offset, 1, "");
        return packet;
    }
    packet.layout = LAYOUT_WOVEN;
    for (uint32_t k = 0; k < e->body->weave; k++)
        packet.parts[k] = phase_offset(e, in, add_offset(e, index, k * port->pop));
    return packet;
}

struct kernel_address kernel_appended_packet(struct kernel_emitter *e, uint32_t out,
                                             LLVMValueRef index)
{
    const struct type *type = e->body->kernel->out[out].type;
    struct kernel_address first = {.pointer = e->body->out[out].phases, .layout = LAYOUT_LANES};
    struct type packets = {.kind = TYPE_ARRAY, .element = type, .length = UINT32_MAX};
    return kernel_item(e, &packets, first, index);
}
