/* SPDX-License-Identifier: MIT */
/*
 * If a body has more float constants than the processor has registers, they are loaded where they are used, as broadcasts
 * from a table.  Otherwise LLVM would keep as many as possible in registers.  To that end it would execute the vectors of a
 * block one after the other, so that each waits for its own results.
 */
#include "compiler/codegen/common/kernel_constants.h"

#include "compiler/codegen/common/kernel_llvm_types.h"

struct constants {
    struct arena *scratch;
    VEC(struct scalar_value) values; /* each once */
};

/* LLVM simplifies operations with these values, so it has to see them. */
static bool is_neutral(struct kernel_emitter *e, struct scalar_value value)
{
    LLVMBool lost;
    double number = LLVMConstRealGetDouble(kernel_constant(e, value), &lost);
    return number == 0 || number == 1 || number == -1;
}

/* The value of a constant, or of a variable that is one, of f32 or f64. */
static bool is_constant(const struct kx *x, struct scalar_value *value)
{
    if (!type_is_scalar(x->type)) return false;
    if (x->kind == KX_CONSTANT)
        *value = x->value;
    else if (x->kind == KX_VARIABLE && x->variable->kind == VARIABLE_CONSTANT)
        *value = x->variable->constant[0];
    else
        return false;
    return value->type == SCALAR_F32 || value->type == SCALAR_F64;
}

static size_t find_constant(const struct scalar_value *values, size_t count,
                            struct scalar_value value)
{
    size_t i = 0;
    while (i < count && (values[i].type != value.type || values[i].bits != value.bits))
        i++;
    return i;
}

static bool collect_constant(const struct kx *x, void *data)
{
    struct constants *constants = data;
    struct scalar_value value;
    size_t count = constants->values.count;
    if (is_constant(x, &value) && find_constant(constants->values.items, count, value) == count)
        vec_push(constants->scratch, &constants->values, value);
    return false;
}

struct kernel_constants *kernel_collect_constants(struct kernel_emitter *e,
                                                  const struct kernel *kernel, uint32_t registers)
{
    struct constants all = {.scratch = e->scratch};
    ks_any(kernel->body, NULL, collect_constant, &all);
    if (all.values.count <= registers) return NULL;
    struct kernel_constants *made = ARENA_NEW(e->scratch, struct kernel_constants);
    LLVMValueRef *parts = ARENA_ARRAY(e->scratch, LLVMValueRef, all.values.count);
    made->values = all.values.items;
    made->count = all.values.count;
    for (size_t i = 0; i < made->count; i++)
        parts[i] = kernel_constant(e, made->values[i]);
    LLVMValueRef initial =
        LLVMConstStructInContext(e->context, parts, (unsigned)made->count, false);
    made->table = kernel_private_constant(e, initial, "constants");
    made->type = LLVMTypeOf(initial);
    return made;
}

LLVMValueRef kernel_constant_in_lanes(struct kernel_emitter *e, struct scalar_value value)
{
    const struct kernel_constants *all = e->body->constants;
    size_t place = 0, count = e->body->lanes > 0 && all != NULL ? all->count : 0;
    if (count > 0) place = find_constant(all->values, count, value);
    if (place == count || is_neutral(e, value)) return kernel_constant(e, value);
    LLVMValueRef at =
        LLVMBuildStructGEP2(e->builder, all->type, e->body->constants_at, (unsigned)place, "");
    return LLVMBuildLoad2(e->builder, kernel_scalar_type(e, value.type), at, "");
}
