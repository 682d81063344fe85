/* SPDX-License-Identifier: MIT */
/*
 * verify_rule: each rule of reader and verifier stands in a PRT_HOLDS.
 *
 *     if (!PRT_HOLDS(depth >= 1)) return refuse(...);
 *
 * A build with PRT_VERIFY_REMOVABLE lists all rules with their places, and leaves one of them out:
 * that shows that a test fails without it (scripts/verify_rules.sh), and that without it an unsafe schedule is
 * accepted (tests/schedules).  Every other build is the bare condition.
 */
#ifndef RUNTIME_LOAD_VERIFY_RULE_H
#define RUNTIME_LOAD_VERIFY_RULE_H

#include <stdbool.h>

#ifdef PRT_VERIFY_REMOVABLE

struct prt_rule {
    const char *file, *text;
    long line;
};

/* Its condition does not hold: is it the one that is left out? */
bool prt_rule_is_removed(const struct prt_rule *rule);
/* Leaves out this rule, and no other; NULL: none. */
void prt_rule_remove(const struct prt_rule *rule);
/* The rule whose condition did not hold last, or NULL. */
const struct prt_rule *prt_rule_broken(void);

#define PRT_HOLDS(condition)                                                                       \
    __extension__({                                                                                \
        static const struct prt_rule prt_this_rule = {__FILE__, #condition, __LINE__};             \
        static const struct prt_rule *const prt_this_place                                         \
            __attribute__((section("prt_rules"), used)) = &prt_this_rule;                          \
        (condition) || prt_rule_is_removed(prt_this_place);                                        \
    })

#else
#define PRT_HOLDS(condition) (condition)
#endif

/* The same for a condition that must be false. */
#define PRT_BREAKS(condition) (!PRT_HOLDS(!(condition)))

#endif
