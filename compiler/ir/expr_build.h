/* SPDX-License-Identifier: MIT */
/*
 * expr_build: typed trees that the compiler itself makes, as sema would make them from source.
 *
 * Everything lives in the arena of the new kernel.  All parts have the place `span`, to which
 * messages about them point.
 */
#ifndef PIPEC_EXPR_BUILD_H
#define PIPEC_EXPR_BUILD_H

#include "compiler/ir/kernel.h"
#include "base/arena.h"

struct tree {
    struct arena *arena;
    struct types *types;
    struct kernel *kernel; /* locals are counted here */
    struct span span;
    enum access_check check; /* of all accesses and divisions that are made */
};

struct tree_list { /* statements, in order */
    struct ks *first;
    struct ks **end; /* NULL: empty */
};

struct kx *tree_kx(const struct tree *t, enum kx_kind kind, const struct type *type);
struct kx *tree_constant(const struct tree *t, struct scalar_value value);
struct kx *tree_i32(const struct tree *t, uint64_t value);
struct kx *tree_i64(const struct tree *t, uint64_t value);
struct kx *tree_variable(const struct tree *t, const struct variable *variable);
/* Of two operands of one type; comparisons give bool. */
struct kx *tree_binary(const struct tree *t, enum kx_op op, const struct type *type,
                       struct kx *left, struct kx *right);
struct kx *tree_compare(const struct tree *t, enum kx_op op, struct kx *left, struct kx *right);
struct kx *tree_index(const struct tree *t, struct kx *left, struct kx *right);
struct kx *tree_peek(const struct tree *t, uint32_t port, struct kx *packet);
struct kx *tree_fma(const struct tree *t, struct kx *a, struct kx *b, struct kx *c);
struct kx *tree_assign(const struct tree *t, struct kx *to, struct kx *value);
struct kx *tree_left(const struct tree *t, uint32_t port);

/* A local of the kernel; its declaration is the caller's. */
struct variable *tree_local(const struct tree *t, const char *name, const struct type *type,
                            bool is_const);
/* `count` scalars of one type as a constant array. */
struct variable *tree_constant_array(const struct tree *t, const char *name,
                                     const struct scalar_value *values, uint64_t count);

struct ks *tree_ks(const struct tree *t, enum ks_kind kind);
void tree_append(struct tree_list *list, struct ks *statement);
struct ks *tree_block(const struct tree *t, const struct tree_list *list);
struct ks *tree_declare(const struct tree *t, struct variable *variable, struct kx *value);
struct ks *tree_expression(const struct tree *t, struct kx *x);
struct ks *tree_emit(const struct tree *t, uint32_t port, struct kx *packet);
struct ks *tree_if(const struct tree *t, struct kx *condition, struct ks *body);
/* for (i32 i = 0; i < count; i++) body */
struct ks *tree_loop(const struct tree *t, struct variable *i, uint64_t count, struct ks *body);

#endif
