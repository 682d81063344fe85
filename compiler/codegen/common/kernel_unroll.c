/* SPDX-License-Identifier: MIT */
/*
 * kernel_unroll: which loops LLVM writes out, of a body in lanes or for threads.
 *
 * Items of arrays stay in registers where their places are constants, and what does not differ between lanes costs
 * least where loops are written out.  Each level of a nest multiplies the code, so two budgets bound the whole nest
 * and the whole program.  Both are counts, so the same source always gives the same code:
 *
 *   typed operations   of a nest, after all loops in it that are written out.  Known before any code is built, because
 *                      kernel_weave.c asks which loops are written out.
 *   LLVM instructions  of a nest, and of the program, as they are built.  The kernels of a program have equal shares.  A
 *                      packet that each lane reads at a place of its own takes an instruction or two for each lane,
 *                      which typed operations do not show.
 *
 * Inner loops come first, then in order of the text.  A loop beyond a budget stays a loop: slower, with the same bits.
 */
#include "compiler/codegen/common/kernel_unroll.h"

#include <stdlib.h>

#include "compiler/codegen/common/kernel_lanes.h"
#include "compiler/codegen/common/kernel_query.h"

enum {
    ROUNDS_MAX = 64,
    NEST_OPERATIONS_MAX = 4096,
    NEST_INSTRUCTIONS_MAX = 12288,
    PROGRAM_INSTRUCTIONS_MAX = 49152,
    THREADS_INSTRUCTIONS_MAX =
        147456, /* of the program, for GPUs, where memory instead of registers costs more */
    THREAD_ARRAY_BYTES_MAX = 256 /* an array that a thread of a GPU keeps in registers */
};

/* ---- before code is built ---- */

struct unrolling {
    struct kernel_emitter *e;
    const bool *varying; /* lanes: by variable->index */
    struct kernel_loops *loops;
};

static bool names_local_array(const struct kx *x)
{
    return x->kind == KX_VARIABLE && x->variable->kind == VARIABLE_LOCAL &&
           !type_is_scalar(x->variable->type);
}

/* An array of which each lane has its own. */
static bool names_lanes_array(const struct kx *x, void *data)
{
    const struct unrolling *u = data;
    return names_local_array(x) && u->varying[x->variable->index];
}

/* Arrays in lanes take a register for each item that a round names: more rounds than registers spill. */
static bool exceeds_registers(struct unrolling *u, const struct ks *loop, uint64_t rounds)
{
    return rounds > u->e->isa.vector_registers && ks_any(loop->body, NULL, names_lanes_array, u);
}

static bool names_small_array(const struct kx *x, void *data)
{
    (void)data;
    return names_local_array(x) && x->variable->type->width_bytes <= THREAD_ARRAY_BYTES_MAX;
}

static bool names_large_array(const struct kx *x, void *data)
{
    return names_local_array(x) && !names_small_array(x, data);
}

/* Threads: loops over arrays that fit in registers.  Others are left to LLVM. */
static bool is_worth_writing_out(struct unrolling *u, const struct ks *loop, uint64_t rounds)
{
    if (!u->e->code->threads) return !exceeds_registers(u, loop, rounds);
    return ks_any(loop->body, NULL, names_small_array, NULL) &&
           !ks_any(loop->body, NULL, names_large_array, NULL);
}

static uint64_t plan_list(struct unrolling *u, const struct ks *first);

/* Typed operations of the loop as it is written out.  Adds it to the list if it is. */
static uint64_t plan_loop(struct unrolling *u, const struct ks *s)
{
    uint64_t rounds = kernel_rounds_of(s), written;
    uint64_t before = plan_list(u, s->init), round = plan_list(u, s->body);
    bool fits = rounds > 0 && rounds <= ROUNDS_MAX &&
                !__builtin_mul_overflow(rounds, round, &written) && written <= NEST_OPERATIONS_MAX;
    if (fits && is_worth_writing_out(u, s, rounds)) {
        vec_push(u->e->scratch, u->loops, s);
        round = written;
    }
    struct ks head = {.kind = KS_EXPR, .expr = s->expr, .step = s->step};
    return before + round + kernel_size(u->e, &head);
}

static uint64_t plan_list(struct unrolling *u, const struct ks *first)
{
    uint64_t size = 0;
    for (const struct ks *s = first; s != NULL; s = s->next) {
        if (s->kind == KS_LOOP) {
            size += plan_loop(u, s);
            continue;
        }
        struct ks own = *s;
        own.next = own.init = own.body = own.otherwise = NULL;
        size += kernel_size(u->e, &own) + plan_list(u, s->body) + plan_list(u, s->otherwise);
    }
    return size;
}

static int compare_loops(const void *left, const void *right)
{
    uintptr_t a = (uintptr_t)*(const struct ks *const *)left;
    uintptr_t b = (uintptr_t)*(const struct ks *const *)right;
    return (a > b) - (a < b);
}

const struct kernel_loops *kernel_plan_loops(struct kernel_emitter *e, const struct ks *body,
                                             const bool *varying)
{
    struct kernel_loops *loops = ARENA_NEW(e->scratch, struct kernel_loops);
    struct unrolling u = {e, varying, loops};
    plan_list(&u, body);
    if (loops->count > 0) qsort(loops->items, loops->count, sizeof *loops->items, compare_loops);
    return loops;
}

bool kernel_is_written_out(const struct kernel_loops *loops, const struct ks *loop)
{
    return loops != NULL && loops->count > 0 &&
           bsearch(&loop, loops->items, loops->count, sizeof *loops->items, compare_loops) != NULL;
}

/* ---- as code is built ---- */

static uint64_t count_block(LLVMBasicBlockRef block)
{
    uint64_t count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL; i = LLVMGetNextInstruction(i))
        count++;
    return count;
}

uint64_t kernel_count_instructions(LLVMValueRef function)
{
    uint64_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL;
         b = LLVMGetNextBasicBlock(b))
        count += count_block(b);
    return count;
}

/* A window that is read by phases, each packet by several firings. */
static bool peeks_phases(const struct kx *x, void *data)
{
    const struct kernel_emitter *e = data;
    if (x->kind != KX_PEEK || e->body->in[x->port].phases == NULL) return false;
    const struct kernel_port *port = &e->body->kernel->in[x->port];
    return port->peek > port->pop;
}

/* Windows of phases are memory anyway, except those of woven lanes. */
static bool reads_memory_anyway(struct kernel_emitter *e, const struct ks *s)
{
    return e->body->weave == 1 && e->body->kernel != NULL && ks_any(s->body, NULL, peeks_phases, e);
}

bool kernel_writes_out(struct kernel_emitter *e, const struct ks *s, LLVMBasicBlockRef first,
                       uint64_t added_before)
{
    struct kernel_body *b = e->body;
    if ((b->lanes == 0 && !e->code->threads) || !kernel_is_written_out(b->loops, s) ||
        reads_memory_anyway(e, s))
        return false;
    /* Instructions of the blocks from `first` on: a function's blocks are in the order in which
     * they were made. */
    uint64_t round = b->added_instructions - added_before, added;
    for (LLVMBasicBlockRef block = first; block != NULL; block = LLVMGetNextBasicBlock(block))
        round += count_block(block);
    uint64_t budget = e->code->threads ? THREADS_INSTRUCTIONS_MAX : PROGRAM_INSTRUCTIONS_MAX, all;
    uint64_t share = budget / e->variants.count;
    uint64_t built = kernel_count_instructions(b->llvm);
    if (__builtin_mul_overflow(kernel_rounds_of(s) - 1, round, &added) ||
        __builtin_add_overflow(b->added_instructions, added, &all))
        return false;
    if (added > NEST_INSTRUCTIONS_MAX || all > share || built > share - all) return false;
    b->added_instructions = all;
    return true;
}
