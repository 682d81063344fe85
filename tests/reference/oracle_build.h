/* SPDX-License-Identifier: MIT */
/*
 * oracle_build: a graph of the oracle as the compiler's analyses take it.
 */
#ifndef TESTS_REFERENCE_ORACLE_BUILD_H
#define TESTS_REFERENCE_ORACLE_BUILD_H

#include "tests/reference/oracle.h"
#include "tests/test.h"
#include "tests/unit/graph_fixture.h"

/* Fills the index that each node has in the compiler's graph: the outside has none.  Buffers keep
 * their indices. */
struct fixture *oracle_build(const struct oracle_graph *g, uint32_t *index);

#endif
