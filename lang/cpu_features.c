/* SPDX-License-Identifier: MIT */
#include "lang/cpu_features.h"

#include <stdbool.h>
#include <stdio.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

enum cpuid_register { EAX, EBX, ECX, EDX, REGISTER_COUNT };
enum register_state { SSE, AVX, AVX512 };
enum { LEVEL_MAX = 4, FEATURE_BITS = 64 };

static const struct cpu_feature {
    const char *name;
    uint32_t leaf, subleaf;
    enum cpuid_register in;
    unsigned in_bit;
    enum register_state state;
    unsigned level;
} known[FEATURE_BITS] = {
#define CPU_FEATURE(bit, name, leaf, subleaf, in, in_bit, state, level)                            \
    [bit] = {name, leaf, subleaf, in, in_bit, state, level},
#include "lang/cpu_features.def"
#undef CPU_FEATURE
};

uint64_t cpu_features_of_level(unsigned level)
{
    uint64_t features = 0;
    for (unsigned i = 0; i < FEATURE_BITS; i++)
        if (known[i].name != NULL && known[i].level <= level) features |= UINT64_C(1) << i;
    return features;
}

unsigned cpu_features_level(uint64_t features)
{
    unsigned level = 1;
    while (level < LEVEL_MAX && (cpu_features_of_level(level + 1) & ~features) == 0)
        level++;
    return level;
}

const char *cpu_feature_name(unsigned bit)
{
    return bit < FEATURE_BITS ? known[bit].name : NULL;
}

static size_t append_word(char *text, size_t size, size_t at, const char *word)
{
    if (at >= size) return at;
    return at + (size_t)snprintf(text + at, size - at, "%s%s", at > 0 ? " " : "", word);
}

void cpu_features_text(uint64_t features, char *text, size_t size)
{
    static const char *const levels[] = {[2] = "x86-64-v2", "x86-64-v3", "x86-64-v4"};
    unsigned level = cpu_features_level(features);
    uint64_t rest = features & ~cpu_features_of_level(level);
    size_t at = 0;
    if (size > 0) text[0] = '\0';
    if (level > 1) at = append_word(text, size, at, levels[level]);
    for (unsigned i = 0; i < FEATURE_BITS; i++)
        if ((rest >> i & 1) != 0)
            at = append_word(text, size, at, known[i].name != NULL ? known[i].name : "(unknown)");
}

/* ---- the host ---- */

#if defined(__x86_64__)

/* The parts of XCR0 that the registers of each set need: those of SSE are everywhere. */
static const uint32_t state_bits[] = {[SSE] = 0, [AVX] = 0x06, [AVX512] = 0xe6};

static uint32_t saved_state(void)
{
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_OSXSAVE) == 0) return 0;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return a;
}

static bool host_has(const struct cpu_feature *feature, uint32_t saved)
{
    uint32_t registers[REGISTER_COUNT];
    if ((state_bits[feature->state] & ~saved) != 0) return false;
    if (!__get_cpuid_count(feature->leaf, feature->subleaf, &registers[EAX], &registers[EBX],
                           &registers[ECX], &registers[EDX]))
        return false;
    return (registers[feature->in] >> feature->in_bit & 1) != 0;
}

uint64_t cpu_features_of_host(void)
{
    uint32_t saved = saved_state();
    uint64_t features = 0;
    for (unsigned i = 0; i < FEATURE_BITS; i++)
        if (known[i].name != NULL && host_has(&known[i], saved)) features |= UINT64_C(1) << i;
    return features;
}

#else

uint64_t cpu_features_of_host(void)
{
    return 0;
}

#endif
