/* SPDX-License-Identifier: MIT */
/*
 * bufsize_internal: data that bufsize (finds depths), depth_optimize (finds the minimum memory) and
 * bufsize_report (words them) share.
 */
#ifndef PIPEC_BUFSIZE_INTERNAL_H
#define PIPEC_BUFSIZE_INTERNAL_H

#include "compiler/liveness/token_game.h"

enum depth_why {
    WHY_PORT,   /* nothing needs more than one packet */
    WHY_WINDOW, /* the window of a reader */
    WHY_WRITE,  /* one firing of the writer */
    WHY_INITIAL,
    WHY_PAIR,           /* the writer and the reader by themselves would wait for each other */
    WHY_LOOP,           /* a node that writes the buffer that it reads */
    WHY_BOUNDED,        /* the claim of a bounded writer beyond less than a window */
    WHY_FINISH,         /* the packets that the writer appends when it ends */
    WHY_FINISH_INITIAL, /* beyond initial packets, where only `finish` writes */
    WHY_WAIT,           /* found by simulation: with less, a cycle waits */
    WHY_PERIODIC,       /* sufficient for a periodic schedule, not the minimum */
    WHY_PACE,           /* with less the maximum throughput is not reached */
};

enum depth_fault {
    FAULT_NONE,
    FAULT_INITIAL,
    FAULT_BURST,    /* below one window or one firing's write */
    FAULT_SMALL,    /* below WHY_PAIR, WHY_LOOP, WHY_FINISH or WHY_FINISH_INITIAL */
    FAULT_WAIT,     /* a cycle waits; this buffer by itself can fix it */
    FAULT_TOGETHER, /* a cycle waits; several declared depths have to grow */
};

struct waiting {           /* one circular wait, in words; for FAULT_WAIT and FAULT_TOGETHER */
    uint32_t count, shown; /* nodes; lines */
    uint32_t *nodes;       /* GRAPH_NONE: the outside */
    const char **lines;
    uint32_t *buffers; /* FAULT_TOGETHER: those that have to grow */
    uint32_t buffer_count;
    bool none_alone; /* each was tried by itself, within the budget, and none is enough */
    bool
        cheapest; /* there are several, each was tried by itself, and none that is enough is cheaper */
};

struct sizing {             /* of one buffer */
    uint64_t floor_packets; /* less is impossible whatever the other depths are */
    uint64_t depth_packets;
    uint64_t least_packets;   /* with the others as they are; 0: not known */
    uint64_t certain_packets; /* needed by a single end: its window, its write, initial packets */
    uint64_t ending;          /* packets kept free for the end, beyond the need of cycles */
    enum depth_why floor_why, why;
    uint32_t reader; /* the one that floor_why is about */
    uint32_t waiter; /* WHY_WAIT: the node that waited for packets; GRAPH_NONE: none is named */
    bool declared;   /* the depth may not change */
    bool chosen;     /* another buffer could have been raised instead: less may be enough */
    bool paced;      /* its depth follows from a throughput */
    uint64_t iterations, cycles; /* WHY_PACE */
    enum depth_fault fault;
    struct waiting *waiting;
    bool loose;      /* too small, and it is not known whether less than depth_packets is enough */
    bool fault_told; /* reported as part of another buffer's report */
};

struct bufsize {
    struct compile *cx;
    struct graph *graph;
    struct arena *arena;
    struct channels channels;
    struct sizing *sizings;
    struct net_depth *depths; /* of the model */
    struct net **nets;        /* per block; NULL where a block has one channel */
    bool *estimated;          /* per block: depths come from a periodic schedule */
    uint32_t *position;       /* channel -> place in its block */
    uint32_t *first_channel;  /* buffer -> its channels; one more at the end */
    uint64_t budget, least_budget;
};

/* Starts every net of the buffer from the depth found. */
void bufsize_restart_nets(struct bufsize *pass, uint32_t buffer);
/* Finds the minimum depth of each buffer with the others as they are, within pass->least_budget.
 * With `shrinks`, the undeclared buffers get it, largest first. */
void bufsize_find_least(struct bufsize *pass, bool shrinks);
/* depth_optimize: --buffers=min and fast, --pareto.  Requires depths that live, without a fault. */
void bufsize_minimise(struct bufsize *pass);
void bufsize_quicken(struct bufsize *pass);
void bufsize_explore(struct bufsize *pass);

void bufsize_report_faults(struct compile *cx, const struct graph *graph, struct sizing *sizings);
void bufsize_report_memory(struct compile *cx, const struct graph *graph, uint64_t limit_bytes);
/* One firing at the port needs more memory than the limit. */
void bufsize_report_port_memory(struct compile *cx, const struct graph_buffer *buffer,
                                uint64_t limit_bytes);
const char *bufsize_reason(struct arena *arena, const struct graph *graph, uint32_t index,
                           const struct sizing *sizing);
/* Words the circular wait of a stuck net. */
struct waiting *bufsize_word_waiting(struct arena *arena, const struct channels *channels,
                                     const struct net *net, const struct net_cycle *cycle);

#endif
