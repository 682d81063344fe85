/* SPDX-License-Identifier: MIT */
/*
 * launches_print: the trees of launches of a program as text: which kernel launches which, in which
 * order and why, and the bounds that bodies/launches found.  Prints nothing if no kernel launches.
 */
#ifndef PIPEC_LAUNCHES_PRINT_H
#define PIPEC_LAUNCHES_PRINT_H

#include <stdio.h>

#include "compiler/ir/graph.h"

void launches_print(FILE *to, const struct sources *sources, const struct graph *graph);

#endif
