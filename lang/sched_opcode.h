/* SPDX-License-Identifier: MIT */
/* sched_opcode: the numbers that stand in scheduler programs (lang/scheduler.md).  Freestanding. */
#ifndef LANG_SCHED_OPCODE_H
#define LANG_SCHED_OPCODE_H

enum sched_opcode {
    SCHED_INVALID = 0,
#define OPCODE(enumerator, mnemonic, operands, cycles, summary) SCHED_##enumerator,
#include "lang/opcodes.def"
#undef OPCODE
    SCHED_OPCODE_COUNT
};

#define SCHED_FULLEST_TURN 256u /* of so many selections by `fullest` one is by `round_robin` */
#define SCHED_REPEAT_DEPTH 8u   /* repeats within each other, in the loop and in a routine */

/* Forms of packets, that operands F name. */
enum sched_form { SCHED_FORM_FULL, SCHED_FORM_REFERENCE, SCHED_FORM_CONDENSED, SCHED_FORMS };

#endif
