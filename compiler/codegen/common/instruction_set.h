/* SPDX-License-Identifier: MIT */
/*
 * instruction_set: what the option --march names, as the code generator reads it (code_generator.h).
 */
#ifndef PIPEC_INSTRUCTION_SET_H
#define PIPEC_INSTRUCTION_SET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { INSTRUCTION_SETS_MAX = 5 };

struct instruction_set {
    const char *name;          /* as --march names it */
    const char *cpu;           /* LLVM's processor */
    const char *extra;         /* LLVM's features beyond that: "+vaes,+gfni"; "" */
    uint64_t features;         /* that a processor must have (lang/cpu_features.h) */
    unsigned vector_bits;      /* of its widest vectors */
    unsigned vector_registers; /* how many it has */
    unsigned
        live_bytes_max; /* of variables in lanes that are alive together: half of its registers */
    bool compresses;    /* packets of 4 bytes and more move together in one instruction */
    bool native;        /* tuned for the processor that pipec runs on */
};

#endif
