/* SPDX-License-Identifier: MIT */
/*
 * race: no two work-items of a firing touch one location between barriers, one of them writing.
 *
 * Requires uniform_check without error.
 * Fails    RULE_DATA_RACE where two items may.
 */
#ifndef PIPEC_RACE_H
#define PIPEC_RACE_H

#include "compiler/bodies/group.h"

void race_check(const struct group_facts *facts);

#endif
