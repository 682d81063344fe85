/* SPDX-License-Identifier: MIT */
/*
 * edit_work: the answers of `pipec edit`, about the text of request->document.
 *
 * edit_state writes one JSON object: the picture of the pipeline, its kernels and buffers, the parts of the source with their
 * places, and the diagnostics of `pipec lsp`. lang/editor.md has its members.
 *
 * edit_apply does the operation request->text. It writes the size of the new text, a line feed, the new text, and then the object of
 * edit_state for it. If the operation is refused, the size is 0, and the object has the member "refused", and "line" and
 * "column" where there is a place. An operation after which the text would have a syntax error is refused.
 */
#ifndef PIPEC_EDIT_WORK_H
#define PIPEC_EDIT_WORK_H

#include "compiler/editor/editor_request.h"

editor_answer edit_state;
editor_answer edit_apply;

#endif
