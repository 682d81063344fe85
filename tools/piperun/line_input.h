/* SPDX-License-Identifier: MIT */
/*
 * line_input: reads the debugger's commands: from a terminal, with history and completion
 * if libedit is present; from a pipe; from a file; and from files that these name in turn (`source`).
 *
 * Threads: the main thread; one object at a time (libedit requires it).
 * Ownership: prt_lines_close.  Errors: an exit code; the message has been printed, unless a function
 *   says otherwise.
 */
#ifndef TOOLS_PIPERUN_LINE_INPUT_H
#define TOOLS_PIPERUN_LINE_INPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct prt_lines;

/* " (libedit)", or "" where it was built without. */
const char *prt_lines_editor(void);

/* Words that may complete `word`, numbered from 0; `before`: the words of the line before it, blanks
 * between them.  NULL: no more. */
typedef const char *(*prt_lines_words)(void *context, const char *before, uint32_t index);

/* `script` NULL: standard input.  `to`: where prompts go. */
int prt_lines_open(const char *script, FILE *to, prt_lines_words words, void *context,
                   struct prt_lines **lines);
void prt_lines_close(struct prt_lines *lines); /* NULL is allowed */

/* Are the lines typed on a terminal? */
bool prt_lines_are_typed(const struct prt_lines *lines);

enum prt_line { PRT_LINE, PRT_LINE_END, PRT_LINE_INTERRUPTED };

/* The next line without its end, the object's until the next call. */
enum prt_line prt_lines_next(struct prt_lines *lines, const char *prompt, const char **line);

/* The lines of this file come next.  False: it cannot be opened (errno), or files are nested too deep. */
bool prt_lines_source(struct prt_lines *lines, const char *path);

/* The place of the last line: "script.txt:12"; standard input is "line 12". */
void prt_lines_place(const struct prt_lines *lines, char *text, size_t size);

#endif
