/* SPDX-License-Identifier: MIT */
/*
 * editor_request: a question of an editor, with the texts that it holds.
 *
 * An answer is one function: it reads a request and writes one JSON value on one line. The value {"refused": TEXT} is
 * the reason why there is no answer. Everything that it allocates lives in the request's arena.
 *
 * Lines and columns of the protocol count from 0, columns in UTF-16 code units.
 */
#ifndef PIPEC_EDITOR_REQUEST_H
#define PIPEC_EDITOR_REQUEST_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"

struct editor_document {
    const char *uri, *path; /* path: "" for one that is no file */
    const char *text;
    size_t size_bytes;
};

struct editor_request {
    struct arena *arena;
    const struct editor_document *documents; /* all that the editor has open: */
    size_t open_count;
    size_t document_count; /* with further ones, whose texts take the place of files */
    const struct editor_document
        *document;              /* the one that is asked about; NULL: the whole project */
    const char *const *folders; /* of the workspace */
    size_t folder_count;
    const char *const *words; /* options of the analyses, as on the command line of `pipec lint` */
    size_t word_count;
    const char *pipeline;     /* that a picture shows, or NULL: as without -p */
    const char *text;         /* the new name, what is searched, or an operation; or NULL */
    bool with_declaration;    /* references: the declaration is one, too */
    unsigned line, character; /* its position */
};

typedef void editor_answer(const struct editor_request *request, FILE *to);

#endif
