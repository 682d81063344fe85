/*
 * kernel_items: the work-items of a firing, executed one after the other between barriers.
 *
 * Statements that are done together (ks->together: barriers, what contains one, jumps out of that)
 * are emitted once; their conditions are the same for all items.  The runs of statements in between
 * are loops over the items, x innermost.  A variable that is used in several runs is an array with
 * an element for each item (variable->per_item), or one for all where analysis/uniform has found
 * that it is the same for all.
 */
#include "compiler/codegen/kernel_llvm.h"

#include "compiler/analysis/group.h"

/* ---- loops over items ---- */

struct item_loop {
    LLVMBasicBlockRef blocks[3];
    LLVMBasicBlockRef outer_end;
};

static void set_index(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    const uint32_t *group = body->kernel->group;
    LLVMValueRef index = LLVMConstInt(e->i32, 0, 0);
    for (int d = 2; d >= 0; d--) {
        LLVMValueRef extent = LLVMConstInt(e->i32, group[d], 0);
        index = LLVMBuildNUWMul(e->builder, index, extent, "");
        index = LLVMBuildNUWAdd(e->builder, index, body->item[d], "");
    }
    body->item_index = LLVMBuildZExt(e->builder, index, e->i64, "item");
}

static void no_item(struct kernel_emitter *e)
{
    for (int d = 0; d < 3; d++)
        e->body->item[d] = LLVMConstInt(e->i32, 0, 0);
    e->body->item_index = kernel_i64(e, 0);
}

static LLVMValueRef gone_flag(struct kernel_emitter *e)
{
    return LLVMBuildInBoundsGEP2(e->builder, e->i8, e->body->gone, &e->body->item_index, 1, "");
}

/* Goes on for the items that have not ended their firing. */
static void skip_gone(struct kernel_emitter *e)
{
    if (e->body->gone == NULL) return;
    LLVMBasicBlockRef here = kernel_block(e, "item.here");
    LLVMValueRef flag = LLVMBuildLoad2(e->builder, e->i8, gone_flag(e), "");
    LLVMValueRef gone = LLVMBuildICmp(e->builder, LLVMIntNE, flag, LLVMConstInt(e->i8, 0, 0), "");
    LLVMBuildCondBr(e->builder, gone, e->body->end, here);
    kernel_position(e, here);
}

static struct item_loop begin_items(struct kernel_emitter *e)
{
    static const char *const names[] = {"item.x", "item.y", "item.z"};
    struct kernel_body *body = e->body;
    struct item_loop loop = {.outer_end = body->end};
    no_item(e);
    for (int d = 2; d >= 0; d--) {
        if (body->kernel->group[d] == 1) continue;
        LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
        loop.blocks[d] = kernel_block(e, names[d]);
        LLVMBuildBr(e->builder, loop.blocks[d]);
        kernel_position(e, loop.blocks[d]);
        LLVMValueRef zero = LLVMConstInt(e->i32, 0, 0);
        body->item[d] = LLVMBuildPhi(e->builder, e->i32, names[d]);
        LLVMAddIncoming(body->item[d], &zero, &before, 1);
    }
    set_index(e);
    body->end = kernel_block(e, "item.end");
    body->together = false;
    skip_gone(e);
    return loop;
}

static void end_items(struct kernel_emitter *e, struct item_loop loop)
{
    struct kernel_body *body = e->body;
    LLVMBuildBr(e->builder, body->end);
    kernel_position(e, body->end);
    for (int d = 0; d < 3; d++) {
        if (loop.blocks[d] == NULL) continue;
        LLVMBasicBlockRef latch = LLVMGetInsertBlock(e->builder),
                          end = kernel_block(e, "items.end");
        LLVMValueRef extent = LLVMConstInt(e->i32, body->kernel->group[d], 0);
        LLVMValueRef next =
            LLVMBuildNUWAdd(e->builder, body->item[d], LLVMConstInt(e->i32, 1, 0), "");
        LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, extent, "");
        LLVMBuildCondBr(e->builder, more, loop.blocks[d], end);
        LLVMAddIncoming(body->item[d], &next, &latch, 1);
        kernel_position(e, end);
    }
    body->end = loop.outer_end;
    body->together = true;
    no_item(e);
}

/* ---- what is done together ---- */

static bool assigns_per_item(const struct kx *x, void *data)
{
    (void)data;
    const struct variable *variable = x->kind == KX_ASSIGN ? kx_root_variable(x->left) : NULL;
    return variable != NULL && variable->kind == VARIABLE_LOCAL && variable->per_item;
}

LLVMValueRef kernel_items_value(struct kernel_emitter *e, const struct kx *x)
{
    if (!kernel_any_kx(x, assigns_per_item, NULL)) return kernel_expression(e, x);
    bool scalar = type_is_scalar(x->type);
    LLVMValueRef result =
        scalar ? kernel_alloca(e, kernel_scalar_type(e, x->type->scalar), "together") : NULL;
    struct item_loop loop = begin_items(e);
    LLVMValueRef value = kernel_expression(e, x);
    if (scalar) LLVMBuildStore(e->builder, value, result);
    end_items(e, loop);
    if (!scalar) return NULL;
    return LLVMBuildLoad2(e->builder, kernel_scalar_type(e, x->type->scalar), result, "");
}

static void run(struct kernel_emitter *e, const struct ks *first, const struct ks *end)
{
    if (first == end) return;
    struct item_loop loop = begin_items(e);
    for (const struct ks *s = first; s != end; s = s->next)
        kernel_statement(e, s);
    end_items(e, loop);
}

static bool is_per_item(const struct ks *s)
{
    return (s->kind == KS_DECLARE && s->variable->per_item) ||
           kernel_any_kx(s->expr, assigns_per_item, NULL);
}

void kernel_items_init(struct kernel_emitter *e, const struct ks *first)
{
    for (const struct ks *s = first; s != NULL; s = s->next) {
        if (s->kind == KS_BLOCK) {
            kernel_items_init(e, s->body);
        } else if (is_per_item(s)) {
            run(e, s, s->next);
        } else {
            e->body->together = false;
            kernel_statement(e, s);
            e->body->together = true;
        }
    }
}

void kernel_items_zero(struct kernel_emitter *e, const struct variable *variable)
{
    if (!variable->per_item) {
        kernel_store_zero(e, variable->type, kernel_variable_address(e, variable));
        return;
    }
    struct item_loop loop = begin_items(e);
    kernel_store_zero(e, variable->type, kernel_variable_address(e, variable));
    end_items(e, loop);
}

void kernel_items_statements(struct kernel_emitter *e, const struct ks *first)
{
    const struct ks *begin = first;
    for (const struct ks *s = first; s != NULL; s = s->next) {
        if (!s->together && s->kind != KS_CASE) continue;
        run(e, begin, s);
        kernel_statement(e, s);
        begin = s->next;
    }
    run(e, begin, NULL);
}

/* ---- a firing ---- */

void kernel_items_begin(struct kernel_emitter *e)
{
    struct kernel_body *body = e->body;
    const struct kernel *kernel = body->kernel;
    body->together = true;
    body->gone = NULL;
    no_item(e);
    if (kernel->items_leave) {
        uint64_t items = group_items(kernel);
        body->gone = kernel_alloca(e, LLVMArrayType2(e->i8, items), "gone");
        LLVMBuildMemSet(e->builder, body->gone, LLVMConstInt(e->i8, 0, 0), kernel_i64(e, items), 1);
    }
    for (size_t i = 0; i < kernel->shared.count; i++) {
        const struct variable *variable = kernel->shared.items[i];
        kernel_store_zero(e, variable->type, kernel_variable_address(e, variable));
    }
}

void kernel_items_leave(struct kernel_emitter *e)
{
    if (e->body->gone == NULL || e->body->together) return;
    LLVMBuildStore(e->builder, LLVMConstInt(e->i8, 1, 0), gone_flag(e));
}
