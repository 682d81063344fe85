/* SPDX-License-Identifier: MIT */
/*
 * child: a part of a compilation in a process of its own, which may end in any way.
 *
 * LLVM ends the process where it has no memory or finds itself in the wrong.  So what calls it runs in a
 * child, a copy of the compilation at that moment; what it finds comes back as messages through a pipe,
 * and how it ended is an answer, not the end of the compiler.
 *
 *     struct child *child = child_start(cx->arena, work, data);   (work runs in the child)
 *     while (child_receive(child, &message)) ...
 *     struct child_end end = child_finish(child);
 *
 * The child has no part in the files of its parent: what is to be removed at exit (support/output.h) is
 * the parent's, nothing that stdio holds is written twice, a signal just ends it, and it does not outlive
 * its parent.  What it says on standard error is kept, and the parent's.
 *
 * Requires: a process with one thread.  Ownership: everything in the arena.  Errors: see child_end.
 */
#ifndef PIPEC_CHILD_H
#define PIPEC_CHILD_H

#include "compiler/support/child_message.h"

struct child;
struct child_line; /* the way to the parent */

typedef void child_work(struct child_line *line, void *data);

struct child_message {
    uint32_t kind;
    struct parcel_reader parcel;
};

enum child_fate {
    CHILD_ENDED,     /* its work is done, and all messages have come */
    CHILD_NO_MEMORY, /* in short: the system has none, or a limit of the process is reached */
    CHILD_EXITED,    /* number: its exit status */
    CHILD_KILLED,    /* number: the signal */
    CHILD_UNHEARD,   /* the pipe between the two fails; number: errno, or 0 */
    CHILD_DAMAGED,   /* it said it was done, and its messages are not whole */
};

struct child_end {
    enum child_fate fate;
    int number;
    const char *words; /* what it said on standard error; "": nothing */
};

/* NULL: there can be no child (errno). */
struct child *child_start(struct arena *arena, child_work *work, void *data);
/* In the child. */
void child_send(struct child_line *line, uint32_t kind, const struct parcel *parcel);
/* The next message.  False: there is none, nor will be. */
bool child_receive(struct child *child, struct child_message *message);
/* Ends it, if messages have been left, and waits for it. */
struct child_end child_finish(struct child *child);

#endif
