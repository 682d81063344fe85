/* SPDX-License-Identifier: MIT */
/*
 * answer_child: computes an answer to an editor in a child process, so that neither its memory nor its crash is the server's.
 */
#ifndef PIPEC_ANSWER_CHILD_H
#define PIPEC_ANSWER_CHILD_H

#include "compiler/editor/editor_request.h"

/* The bytes of the answer, ended by a NUL that *size_bytes does not count; the caller frees them. NULL: the child has failed, or
 * has not ended within `seconds` (0: any time). */
char *answer_of_child(editor_answer *work, const struct editor_request *request, unsigned seconds,
                      size_t *size_bytes);
/* The same in this process. NULL: no memory. */
char *answer_here(editor_answer *work, const struct editor_request *request, size_t *size_bytes);

#endif
