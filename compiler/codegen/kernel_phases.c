/*
 * kernel_phases: windows of firings in lanes that slide by several packets.
 *
 * With pop P, packet i of the firings l, l + 1, ... of a block lies P packets apart: each access
 * costs a load for each lane.  A filter reads most packets several times, so the block's window is
 * first cut into its P phases, phase r holding the packets r, r + P, r + 2P, ...; then packet i of
 * consecutive firings are neighbours, in phase i mod P from i div P on.
 */
#include "compiler/codegen/kernel_llvm.h"

enum { POP_MAX = 32, BYTES_MAX = 32768, READS_MIN = 2 };

/* Packets of a whole phase. */
static uint64_t phase_length(const struct kernel_port *port, uint32_t lanes)
{
    return lanes - 1 + (port->peek + port->pop - 1) / port->pop;
}

static bool has_phases(const struct kernel_port *port, uint32_t lanes)
{
    return !port->is_array && type_is_scalar(port->type) && port->pop > 1 && port->pop <= POP_MAX &&
           port->peek / port->pop >= READS_MIN &&
           phase_length(port, lanes) * port->pop * port->type->width_bytes <= BYTES_MAX;
}

/* Copies packet m * pop + r of the block to place m of phase r. */
static void copy_packet(struct kernel_emitter *e, const struct kernel_port *port, LLVMValueRef from,
                        LLVMValueRef to, uint64_t length, LLVMValueRef m, uint64_t r)
{
    LLVMTypeRef memory = kernel_memory_type(e, port->type);
    LLVMValueRef source = LLVMBuildNUWMul(e->builder, m, kernel_i64(e, port->pop), "");
    source = LLVMBuildNUWAdd(e->builder, source, kernel_i64(e, r), "");
    LLVMValueRef place = LLVMBuildNUWAdd(e->builder, m, kernel_i64(e, r * length), "");
    LLVMValueRef packet = LLVMBuildLoad2(
        e->builder, memory, LLVMBuildInBoundsGEP2(e->builder, memory, from, &source, 1, ""), "");
    LLVMBuildStore(e->builder, packet,
                   LLVMBuildInBoundsGEP2(e->builder, memory, to, &place, 1, ""));
}

/* for (m = 0; m < whole; m++) all phases; then the phases that are one longer. */
static void copy_window(struct kernel_emitter *e, const struct kernel_port *port, LLVMValueRef from,
                        LLVMValueRef to, uint32_t lanes)
{
    uint64_t packets = (lanes - 1) * port->pop + port->peek;
    uint64_t whole = packets / port->pop, length = phase_length(port, lanes);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
    LLVMBasicBlockRef loop = kernel_block(e, "phases"), end = kernel_block(e, "phases.end");
    LLVMBuildBr(e->builder, loop);
    kernel_position(e, loop);
    LLVMValueRef m = LLVMBuildPhi(e->builder, e->i64, "");
    for (uint64_t r = 0; r < port->pop; r++)
        copy_packet(e, port, from, to, length, m, r);
    LLVMValueRef next = LLVMBuildNUWAdd(e->builder, m, kernel_i64(e, 1), "");
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, kernel_i64(e, whole), "");
    LLVMBuildCondBr(e->builder, more, loop, end);
    LLVMValueRef values[] = {kernel_i64(e, 0), next};
    LLVMBasicBlockRef blocks[] = {before, loop};
    LLVMAddIncoming(m, values, blocks, 2);
    kernel_position(e, end);
    for (uint64_t r = 0; r < packets % port->pop; r++) {
        copy_packet(e, port, from, to, length, kernel_i64(e, whole), r);
    }
}

void kernel_cut_phases(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    for (uint32_t i = 0; i < body->kernel->in_count; i++) {
        const struct kernel_port *port = &body->kernel->in[i];
        body->in[i].phases = NULL;
        if (body->lanes == 0 || !has_phases(port, body->lanes)) continue;
        uint64_t length = phase_length(port, body->lanes);
        LLVMTypeRef memory = kernel_memory_type(e, port->type);
        LLVMValueRef phases =
            kernel_alloca(e, LLVMArrayType2(memory, length * port->pop), "phases");
        struct kernel_address window = kernel_in_packet(e, i, kernel_i64(e, 0), kernel_i64(e, 0));
        copy_window(e, port, window.pointer, phases, body->lanes);
        body->in[i].phases = phases;
    }
}

struct kernel_address kernel_phase_packet(struct kernel_emitter *e, uint32_t in, LLVMValueRef index)
{
    const struct kernel_port *port = &e->body->kernel->in[in];
    LLVMValueRef pop = kernel_i64(e, port->pop);
    LLVMValueRef phase = LLVMBuildURem(e->builder, index, pop, "");
    LLVMValueRef length = kernel_i64(e, phase_length(port, e->body->lanes));
    LLVMValueRef place = LLVMBuildAdd(e->builder, LLVMBuildMul(e->builder, phase, length, ""),
                                      LLVMBuildUDiv(e->builder, index, pop, ""), "");
    struct kernel_address address = {.layout = LAYOUT_STRIDED,
                                     .stride_bytes = port->type->width_bytes};
    address.pointer = LLVMBuildInBoundsGEP2(e->builder, kernel_memory_type(e, port->type),
                                            e->body->in[in].phases, &place, 1, "");
    return address;
}
