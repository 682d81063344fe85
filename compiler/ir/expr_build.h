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

struct expr_build {
    struct arena *arena;
    struct types *types;
    struct kernel *kernel; /* locals are counted here */
    struct span span;
    enum access_check check; /* of all accesses and divisions that are made */
};

struct build_list { /* statements, in order */
    struct ks *first;
    struct ks **end; /* NULL: empty */
};

struct kx *build_kx(const struct expr_build *t, enum kx_kind kind, const struct type *type);
struct kx *build_constant(const struct expr_build *t, struct scalar_value value);
struct kx *build_i32(const struct expr_build *t, uint64_t value);
struct kx *build_i64(const struct expr_build *t, uint64_t value);
struct kx *build_variable(const struct expr_build *t, const struct variable *variable);
/* Of two operands of one type; comparisons give bool. */
struct kx *build_binary(const struct expr_build *t, enum kx_op op, const struct type *type,
                        struct kx *left, struct kx *right);
struct kx *build_compare(const struct expr_build *t, enum kx_op op, struct kx *left,
                         struct kx *right);
struct kx *build_index(const struct expr_build *t, struct kx *left, struct kx *right);
struct kx *build_peek(const struct expr_build *t, uint32_t port, struct kx *packet);
struct kx *build_fma(const struct expr_build *t, struct kx *a, struct kx *b, struct kx *c);
struct kx *build_assign(const struct expr_build *t, struct kx *to, struct kx *value);
struct kx *build_left(const struct expr_build *t, uint32_t port);

/* A local of the kernel; its declaration is the caller's. */
struct variable *build_local(const struct expr_build *t, const char *name, const struct type *type,
                             bool is_const);
/* `count` scalars of one type as a constant array. */
struct variable *build_constant_array(const struct expr_build *t, const char *name,
                                      const struct scalar_value *values, uint64_t count);

/* Scalar `k`, in flattened order, of the value at `x`. */
struct kx *build_scalar_place(const struct expr_build *t, struct kx *x, uint64_t k);

struct ks *build_ks(const struct expr_build *t, enum ks_kind kind);
void build_append(struct build_list *list, struct ks *statement);
struct ks *build_block(const struct expr_build *t, const struct build_list *list);
struct ks *build_declare(const struct expr_build *t, struct variable *variable, struct kx *value);
struct ks *build_expression(const struct expr_build *t, struct kx *x);
struct ks *build_emit(const struct expr_build *t, uint32_t port, struct kx *packet);
struct ks *build_if(const struct expr_build *t, struct kx *condition, struct ks *body);
/* for (i32 i = 0; i < count; i++) body */
struct ks *build_loop(const struct expr_build *t, struct variable *i, uint64_t count,
                      struct ks *body);

#endif
