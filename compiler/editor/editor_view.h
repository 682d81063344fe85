/* SPDX-License-Identifier: MIT */
/*
 * editor_view: the texts of an editor as a program, and places in them.
 */
#ifndef PIPEC_EDITOR_VIEW_H
#define PIPEC_EDITOR_VIEW_H

#include "compiler/editor/editor_request.h"
#include "compiler/editor/name_table.h"
#include "base/json_write.h"
#include "compiler/support/arena_text.h"

/* Of the folders of a workspace: a rename is refused if there are more. */
enum {
    PROJECT_FILES_MAX = 2000,   /* sources */
    PROJECT_VISITS_MAX = 50000, /* files and folders of any name */
};

struct editor_view {
    const struct editor_request *request;
    struct compile cx;
    uint32_t source; /* of the document */
    struct name_table names;
    bool project_cut; /* the folders have more files than are read */
};

/* The texts that the editor holds take the place of the files. `data` is a struct editor_request. */
void editor_add_overlays(void *data, struct sources *sources);
/* The document without its imports. */
struct editor_view *editor_view_document(const struct editor_request *request);
/* The document and what it imports, with the meaning of its names. */
struct editor_view *editor_view_program(const struct editor_request *request);
/* Also all files of the folders of the workspace; without folders: of the document's folder. */
struct editor_view *editor_view_project(const struct editor_request *request);

struct json editor_json(FILE *to);
/* The offset of the request's position: the end of its line if it is past it. */
uint32_t editor_offset(const struct editor_view *view);
/* The use of a name at the position, or NULL. */
const struct name_use *editor_use(const struct editor_view *view);
/* As the editor calls the file. */
const char *editor_uri(const struct editor_view *view, uint32_t source);
/* The text of the span, each blank part as one blank. */
const char *editor_text(const struct editor_view *view, struct span span);
/* A declaration up to its body, on one line. */
const char *editor_declaration(const struct editor_view *view, const struct named *named);
void editor_put_location(struct json *json, const char *key, const struct editor_view *view,
                         struct span span);
void editor_refuse(FILE *to, const char *reason);

#endif
