/* SPDX-License-Identifier: MIT */
/* outcome: the results of an instruction, and of a call of the machine. */
#ifndef CORE_OUTCOME_H
#define CORE_OUTCOME_H

#include "core/core.h"

enum core_outcome {
    CORE_NEXT, /* the machine goes on at the next instruction */
    CORE_JUMP, /* it goes on at the label */
    CORE_REDO, /* the instruction goes on where it was, once the host has drained out-ports */
    /* Reasons to return to the host: machine.h says what the host does then. */
    CORE_DRAIN,
    CORE_FILL,
    CORE_FILL_ALL,
    CORE_TAKE,
    CORE_WAIT_FOR_PORTS,
    CORE_ASKED,
    CORE_OVER
};

#endif
