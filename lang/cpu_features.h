/* SPDX-License-Identifier: MIT */
/*
 * cpu_features: what images of kernels need of a processor, and what the host's has.
 *
 * A set of features is a 64-bit number: bit n stands for the feature with that number in
 * lang/cpu_features.def.  A bit without a feature there stands for one that this version does not know,
 * which no host has.
 */
#ifndef LANG_CPU_FEATURES_H
#define LANG_CPU_FEATURES_H

#include <stddef.h>
#include <stdint.h>

/* Of the psABI's level (1 to 4: x86-64, x86-64-v2, ...), those of lower levels included. */
uint64_t cpu_features_of_level(unsigned level);

/* Of the processor that this runs on, as far as the operating system keeps their registers.  On other
 * architectures none, and not even the first level. */
uint64_t cpu_features_of_host(void);

/* The highest level that is contained in the set. */
unsigned cpu_features_level(uint64_t features);

/* LLVM's name of the feature with that number; NULL where there is none. */
const char *cpu_feature_name(unsigned bit);

/* The set in words, with blanks between them, cut off at `size`: the highest level in it, where that is
 * not the first, then the names of the features beyond; "" for none. */
void cpu_features_text(uint64_t features, char *text, size_t size);

#endif
