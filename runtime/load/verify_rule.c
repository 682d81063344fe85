/* SPDX-License-Identifier: MIT */
/* Rules that can be left out: see verify_rule.h. */
#include "runtime/load/verify_rule.h"

#ifdef PRT_VERIFY_REMOVABLE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The linker defines these symbols at the ends of the section. */
extern const struct prt_rule *const __start_prt_rules[], *const __stop_prt_rules[];

/* The rule that is left out, and the one that was broken last. */
static struct prt_rule removed;
static const struct prt_rule *broken;

void prt_rule_remove(const struct prt_rule *rule)
{
    removed = rule != NULL ? *rule : (struct prt_rule){.line = 0};
}

const struct prt_rule *prt_rule_broken(void)
{
    return broken;
}

/* PRT_RULES=list prints the rules and ends the program; PRT_RULES=FILE:LINE leaves out the one that stands there. */
__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("PRT_RULES");
    char place[256];
    if (text == NULL) return;
    for (const struct prt_rule *const *at = __start_prt_rules; at < __stop_prt_rules; at++) {
        snprintf(place, sizeof place, "%s:%ld", (*at)->file, (*at)->line);
        if (strcmp(text, "list") == 0)
            printf("%s %s\n", place, (*at)->text);
        else if (strcmp(text, place) == 0)
            prt_rule_remove(*at);
    }
    if (strcmp(text, "list") == 0) exit(0);
}

/* By its place: inlined functions have copies of a rule. */
bool prt_rule_is_removed(const struct prt_rule *rule)
{
    broken = rule;
    return removed.file != NULL && rule->line == removed.line &&
           strcmp(rule->file, removed.file) == 0;
}

#endif
