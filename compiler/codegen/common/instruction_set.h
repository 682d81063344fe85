/* SPDX-License-Identifier: MIT */
/*
 * instruction_set: the names of the option --march, and their meaning for the code generator (code_generator.h).
 */
#ifndef PIPEC_INSTRUCTION_SET_H
#define PIPEC_INSTRUCTION_SET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { INSTRUCTION_SETS_MAX = 9 };

struct code_generator;

struct instruction_set {
    const char *name;          /* as --march names it */
    const char *cpu;           /* LLVM's processor */
    const char *extra;         /* LLVM's features beyond that: "+vaes,+gfni"; "" */
    uint64_t features;         /* as struct container_image has them */
    unsigned vector_bits;      /* of its widest vectors; 0: it has none */
    unsigned vector_registers; /* how many it has */
    unsigned
        live_bytes_max; /* of variables in lanes that are alive together: half of its registers */
    bool compresses;    /* packets of 4 bytes and more move together in one instruction */
    bool native;        /* tuned for the processor that pipec runs on */
    const struct code_generator *code;
};

/* Reads a list of instruction sets with commas between the names. Fills sets[]: those of one code generator
 * together, the best one (with the most features) first; returns how many. 0 if a name is unknown or repeated:
 * *problem, in the arena, says which one. */
uint32_t instruction_sets_read(struct arena *arena, const char *list,
                               struct instruction_set sets[INSTRUCTION_SETS_MAX],
                               const char **problem);

/* The names in a list without gaps from 0 on, then NULL. */
const char *instruction_set_name(unsigned index);

/* The set that all GPUs for which pipec compiles have. */
void instruction_set_for_threads(struct arena *arena, struct instruction_set *out);

#endif
