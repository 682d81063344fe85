/* SPDX-License-Identifier: MIT */
/*
 * token_list: a file as its tokens and comments, in order.
 *
 * For modules that work on the text and not on its meaning.  The text between the tokens is blank.
 */
#ifndef PIPEC_TOKEN_LIST_H
#define PIPEC_TOKEN_LIST_H

#include "compiler/context/context.h"
#include "base/vec.h"

struct list_token {
    int kind; /* enum pipe_tokentype, or a character; the last one is TOKEN_END */
    struct span span;
};

struct list_comment {
    struct span span;
    uint32_t before; /* index of the token that follows */
};

struct token_list {
    VEC(struct list_token) tokens;
    VEC(struct list_comment) comments;
};

/* Reports lexical errors. */
void token_list_read(struct compile *cx, uint32_t source, struct token_list *list);

#endif
