/* SPDX-License-Identifier: MIT */
/*
 * child: runs a part of a compilation in a process of its own, which may end in any way.
 *
 * LLVM ends the process if memory runs out or if it finds an internal error. So the code that calls LLVM
 * runs in a child process, a copy of the compilation at that moment. The results come back as messages
 * through a pipe. The way in which the child ended is a result, too; it does not end the compiler.
 *
 *     struct child *child = child_start(cx->arena, work, data);   (work runs in the child)
 *     while (child_receive(child, &message)) ...
 *     struct child_end end = child_finish(child);
 *
 * The child leaves the parent's files to the parent: it removes no file at exit (support/output.h) and writes no
 * bytes of stdio buffers. A signal ends it directly, and it ends with its parent. Its standard error is
 * captured for the parent.
 *
 * Requires: a process with one thread.  Ownership: everything in the arena.  Errors: see child_end.
 */
#ifndef PIPEC_CHILD_H
#define PIPEC_CHILD_H

#include "compiler/support/child_message.h"

struct child;
struct child_line; /* the pipe to the parent */

typedef void child_work(struct child_line *line, void *data);

struct child_message {
    uint32_t kind;
    struct parcel_reader parcel;
};

enum child_fate {
    CHILD_ENDED,     /* the work is complete, and all messages were received */
    CHILD_NO_MEMORY, /* out of memory, or a limit of the process was reached */
    CHILD_EXITED,    /* number: its exit status */
    CHILD_KILLED,    /* number: the signal */
    CHILD_UNHEARD,   /* the pipe between the processes failed; number: errno, or 0 */
    CHILD_DAMAGED,   /* it reported that it was complete, but its messages are not intact */
};

struct child_end {
    enum child_fate fate;
    int number;
    const char *words; /* text that it wrote to standard error; "": none */
};

/* NULL: the child could not be started (errno). */
struct child *child_start(struct arena *arena, child_work *work, void *data);
/* In the child. */
void child_send(struct child_line *line, uint32_t kind, const struct parcel *parcel);
/* Receives the next message. False: there are no more messages. */
bool child_receive(struct child *child, struct child_message *message);
/* Ends the child if it has unread messages, and waits for it. */
struct child_end child_finish(struct child *child);

#endif
