/* SPDX-License-Identifier: MIT */
/* Rules that can be left out: see verify_rule.h. */
#include "runtime/load/verify_rule.h"

#ifdef PRT_VERIFY_REMOVABLE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The linker defines these symbols at the ends of the section. */
extern const struct prt_rule *const __start_prt_rules[], *const __stop_prt_rules[];

/* "runtime/verify/verify.c:131", or NULL. */
static const char *removed;

/* PRT_RULES=list prints the rules and ends the program; PRT_RULES=FILE:LINE leaves out the one that stands there. */
__attribute__((constructor)) static void read_environment(void)
{
    removed = getenv("PRT_RULES");
    if (removed == NULL || strcmp(removed, "list") != 0) return;
    for (const struct prt_rule *const *at = __start_prt_rules; at < __stop_prt_rules; at++)
        printf("%s:%ld %s\n", (*at)->file, (*at)->line, (*at)->text);
    exit(0);
}

bool prt_rule_is_removed(const struct prt_rule *rule)
{
    char place[256];
    if (removed == NULL) return false;
    snprintf(place, sizeof place, "%s:%ld", rule->file, rule->line);
    return strcmp(place, removed) == 0;
}

#endif
