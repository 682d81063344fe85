/* Rules that can be left out: see verify_rule.h. */
#include "runtime/load/verify_rule.h"

#ifdef PRT_VERIFY_REMOVABLE

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the linker puts around the section. */
extern const struct prt_rule *const __start_prt_rules[], *const __stop_prt_rules[];

static long removed = -1;

/* PRT_RULES=list prints the rules and ends the program; PRT_RULES=N leaves out number N. */
__attribute__((constructor)) static void read_environment(void)
{
    const char *word = getenv("PRT_RULES");
    if (word == NULL) return;
    removed = strtol(word, NULL, 10);
    if (strcmp(word, "list") != 0) return;
    for (const struct prt_rule *const *at = __start_prt_rules; at < __stop_prt_rules; at++)
        printf("%ld %s:%ld %s\n", (long)(at - __start_prt_rules), (*at)->file, (*at)->line,
               (*at)->text);
    exit(0);
}

bool prt_rule_is_removed(const struct prt_rule *const *place)
{
    return place - __start_prt_rules == removed;
}

#endif
