/* SPDX-License-Identifier: MIT */
/*
 * oracle_draw: random graphs for the oracle, made smaller, and written as programs.
 *
 * Draws are a function of the seed only.  A drawn graph has every feature of the model in small
 * numbers: cycles, self-loops, parallel edges, several readers, in-ports of the pipeline with
 * several readers, windows beyond what is consumed, initial packets, phases, costs.
 */
#ifndef TESTS_REFERENCE_ORACLE_DRAW_H
#define TESTS_REFERENCE_ORACLE_DRAW_H

#include "tests/reference/oracle.h"

#include <stdio.h>

struct oracle_taste { /* what to draw; chances in percent */
    int nodes;        /* 2.. at most */
    int extra;        /* buffers beyond those that connect, at most */
    int backward;     /* chance that a buffer leads back */
    int phases;       /* chance that a node has several */
    int window;       /* that a reader peeks further than it pops */
    int second;       /* that a buffer has a second reader */
    int outside;      /* that such a buffer is an in-port of the pipeline */
    int keep;         /* that a reader of one packet a firing keeps a history */
    int apart;        /* that a node is not connected to those before it */
    int unbalanced;   /* that one rate does not fit */
    int largest_cost; /* costs are 1.. */
    int stateful;     /* chance that a node is */
};

/* N and SEED of a test: what the environment says, or else `otherwise`. */
unsigned oracle_environment(const char *name, unsigned otherwise);
/* Of the i-th graph that is drawn; the first one's is the seed itself. */
unsigned oracle_own_seed(unsigned seed, unsigned i);
unsigned oracle_random(unsigned *seed, unsigned below);
void oracle_draw(struct oracle_graph *graph, const struct oracle_taste *taste, unsigned *seed);

/* Takes away what it can while `fails` stays true. */
void oracle_shrink(struct oracle_graph *graph,
                   bool (*fails)(const struct oracle_graph *graph, void *context), void *context);

/* The graph as a program.  Every packet is a hash of what the firing saw, so that outputs tell
 * whether firings saw what they should.  A node that writes no buffer writes an out-port.  Histories
 * are of 2-D windows, and are left out. */
void oracle_print(FILE *to, const struct oracle_graph *graph);

#endif
