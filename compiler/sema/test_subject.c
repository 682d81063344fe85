/* SPDX-License-Identifier: MIT */
/*
 * test_subject: the subject of a test: a pipeline, or a kernel as the pipeline that consists of it.
 */
#include "compiler/sema/sema_internal.h"

bool sema_check_subject(struct sema *sema, struct scope *scope, const struct ast_node *subject)
{
    struct diags *diags = sema->cx->diags;
    if (subject->subscripts != NULL || subject->attributes != NULL) {
        diag_report(diags, RULE_SYNTAX, subject->span,
                    "a test names its pipeline or kernel, without subscripts and attributes");
        return false;
    }
    struct symbol *symbol = scope_lookup(scope, subject->name, "pipeline");
    if (symbol == NULL) return false;
    if (symbol->kind == SYMBOL_PIPELINE || symbol->kind == SYMBOL_KERNEL) return true;
    if (symbol->kind == SYMBOL_POISON) return false;
    struct diag *d = diag_report(diags, RULE_WRONG_KIND_OF_NAME, subject->name.span,
                                 "'%s' is neither a pipeline nor a kernel", subject->name.text);
    diag_label(d, symbol->span, "declared here");
    return false;
}

/* ---- a kernel, as the pipeline that consists of it ---- */

static struct ast_expr *name_expr(struct sema *sema, struct ast_name name)
{
    struct ast_expr *e = ARENA_NEW(sema->cx->arena, struct ast_expr);
    *e = (struct ast_expr){.kind = AST_EXPR_NAME, .span = name.span, .depth = 1, .name = name};
    return e;
}

static struct ast_expr *port_names(struct sema *sema, const struct ast_port *ports, bool is_out)
{
    struct ast_expr *first = NULL, **last = &first;
    for (; ports != NULL; ports = ports->next) {
        if (ports->is_out != is_out) continue;
        *last = name_expr(sema, ports->name);
        last = &(*last)->next;
    }
    return first;
}

static struct ast_node *only_instance(struct sema *sema, const struct ast_item *kernel)
{
    const struct ast_signature *signature = &kernel->signature;
    struct ast_node *node = ARENA_NEW(sema->cx->arena, struct ast_node);
    *node = (struct ast_node){.name = signature->name,
                              .has_type_arguments = signature->type_params != NULL,
                              .has_call = true,
                              .has_arrow = true,
                              .inputs = port_names(sema, signature->ports, false),
                              .outputs = port_names(sema, signature->ports, true),
                              .span = signature->name.span};
    struct ast_expr **last = &node->type_arguments;
    for (const struct ast_type_param *p = signature->type_params; p != NULL; p = p->next) {
        *last = name_expr(sema, p->name);
        last = &(*last)->next;
    }
    last = &node->arguments;
    for (const struct ast_param *p = signature->params; p != NULL; p = p->next) {
        *last = name_expr(sema, p->name);
        last = &(*last)->next;
    }
    return node;
}

static const struct ast_item *pipeline_of_kernel(struct sema *sema, const struct ast_item *kernel)
{
    struct arena *arena = sema->cx->arena;
    struct ast_net *block = ARENA_NEW(arena, struct ast_net);
    struct ast_net *chain = ARENA_NEW(arena, struct ast_net);
    struct ast_item *pipeline = ARENA_NEW(arena, struct ast_item);
    *chain = (struct ast_net){
        .kind = AST_NET_CHAIN, .span = kernel->span, .chain = only_instance(sema, kernel)};
    *block = (struct ast_net){.kind = AST_NET_BLOCK, .span = kernel->span, .body = chain};
    *pipeline = (struct ast_item){.kind = AST_ITEM_PIPELINE,
                                  .span = kernel->span,
                                  .name = kernel->name,
                                  .signature = kernel->signature,
                                  .net = block};
    pipeline->signature.attributes = NULL;
    /* Copies the ports without their rates: those of the kernel's instance hold. */
    const struct ast_port *ports = kernel->signature.ports;
    struct ast_port *first = NULL, **last = &first;
    for (; ports != NULL; ports = ports->next) {
        struct ast_port *port = ARENA_NEW(arena, struct ast_port);
        *port = *ports;
        port->attributes = NULL;
        port->next = NULL;
        *last = port;
        last = &port->next;
    }
    pipeline->signature.ports = first;
    return pipeline;
}

struct graph *sema_elaborate_subject(struct sema *sema, struct scope *scope,
                                     const struct ast_node *subject)
{
    const struct symbol *symbol = scope_find(scope, subject->name.text);
    if (symbol == NULL) return NULL;
    const struct ast_item *item = symbol->item;
    if (symbol->kind == SYMBOL_KERNEL) item = pipeline_of_kernel(sema, item);
    struct graph *graph = sema_elaborate_pipeline(sema, item, scope, subject, false);
    if (graph != NULL) sema_collect_used(sema, graph);
    return graph;
}
