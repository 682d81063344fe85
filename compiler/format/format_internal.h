/* SPDX-License-Identifier: MIT */
/*
 * format_internal: a file between its parts (format_tree.c) and its lines (format_layout.c).
 *
 * A *statement* is anything that stands in a list: an item, a field, a check, a statement of a body
 * or a pipeline.  It is a sequence of *parts*: runs of tokens that make a line, and what they carry.
 */
#ifndef PIPEC_FORMAT_INTERNAL_H
#define PIPEC_FORMAT_INTERNAL_H

#include "compiler/format/format.h"
#include "compiler/syntax/token_list.h"

/* The place of a token that begins a line inside a run. */
enum format_align {
    ALIGN_LINE,      /* 4 columns in from the first line of the statement */
    ALIGN_HEADER,    /* 8 columns in: a block follows, 4 columns in */
    ALIGN_TOKEN,     /* under token `under` */
    ALIGN_IN_BRACE,  /* 4 columns in from the line of the brace `under` */
    ALIGN_OUT_BRACE, /* aligned with the line of the brace `under` */
};

struct format_token {
    int kind;
    const char *text;
    uint32_t size_bytes, columns;
    uint32_t newlines;                      /* before it, after the last comment before it */
    uint32_t comment_first, comment_behind; /* the comments before it, half open */
    bool space;                             /* a blank before it, unless it begins a line */
    bool row;        /* begins a row that the author wrote, of a list in braces */
    bool structural; /* begins a statement, a body or an `else`, or ends a block */
    uint32_t
        level; /* 0: no break is possible before it; otherwise, the lowest level breaks first */
    enum format_align align;
    uint32_t under;
};

struct format_comment {
    const char *text;
    uint32_t size_bytes;
    uint32_t newlines; /* before it */
    uint32_t column;   /* where it began in the source, from 0 */
    bool is_line;      /* to the end of the line */
    bool several_lines;
};

enum part_kind {
    PART_RUN,   /* tokens first .. last */
    PART_BLOCK, /* braces first and last, and `list` between them */
    PART_BODY,  /* `list`: one statement without braces */
    PART_CASES, /* `list`: the statements after the labels of a switch */
};

struct format_part {
    struct format_part *next;
    enum part_kind kind;
    uint32_t first, last;
    struct format_statement *list;
};

struct format_statement {
    struct format_statement *next;
    struct format_part *parts;
    uint32_t first, last;
};

struct format_file {
    struct compile *cx;
    struct format_token *tokens;
    uint32_t token_count; /* the last one is the end of the file */
    struct format_comment *comments;
    struct format_statement *items;
};

/* Code points of UTF-8; a byte that is not is one column. */
uint32_t format_columns(const char *text, size_t size_bytes);
/* Fills the file from its tokens. */
void format_tree(struct format_file *file);
struct formatted format_layout(const struct format_file *file);

#endif
