/*
 * instruction_set: what --march names, and what LLVM and the loader are told of it.
 *
 * Names are the levels of the psABI and "native": the features of the processor that pipec runs on, as
 * far as lang/cpu_features.def knows them, tuned for it.
 */
#ifndef PIPEC_INSTRUCTION_SET_H
#define PIPEC_INSTRUCTION_SET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

#define INSTRUCTION_SET_DEFAULT "x86-64-v3"

enum { INSTRUCTION_SETS_MAX = 5 };

struct instruction_set {
    const char *name;     /* as --march names it */
    const char *cpu;      /* LLVM's processor: a level */
    const char *extra;    /* LLVM's features beyond that: "+vaes,+gfni"; "" */
    uint64_t features;    /* that a processor has to have (lang/cpu_features.h) */
    unsigned vector_bits; /* of its widest vectors */
    bool native;
};

/* Reads a list with commas between its names; NULL is the default.  Fills sets[], the best one (with the
 * most features) first; returns how many.  0 where a name is unknown, or given twice: *problem says
 * which one, in the arena. */
uint32_t instruction_sets_read(struct arena *arena, const char *list,
                               struct instruction_set sets[INSTRUCTION_SETS_MAX],
                               const char **problem);

#endif
