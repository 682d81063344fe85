/* SPDX-License-Identifier: MIT */
/*
 * race: no two work-items of a firing access one location between barriers if one of them writes it.
 *
 * Requires the facts of group_check_bodies, which calls it if the kernel has no error of RULE_DIVERGENT_BARRIER.
 * Fails    RULE_DATA_RACE where two items may.
 */
#ifndef PIPEC_RACE_H
#define PIPEC_RACE_H

#include "compiler/bodies/group.h"

void race_check(const struct group_facts *facts);

#endif
