/* SPDX-License-Identifier: MIT */
/*
 * rule: the kinds of diagnostics, as rules.def lists them, and their levels.
 */
#ifndef PIPEC_RULE_H
#define PIPEC_RULE_H

#include <stdbool.h>

enum diag_level { DIAG_OFF, DIAG_NOTE, DIAG_WARNING, DIAG_ERROR };

enum rule {
#define RULE(enumerator, id, level, group, summary) RULE_##enumerator,
#include "compiler/diagnostics/rules.def"
#undef RULE
    RULE_COUNT
};

const char *rule_id(enum rule rule);
/* The rule with this id, or RULE_COUNT. */
enum rule rule_find(const char *id);
enum diag_level rule_level(enum rule rule); /* the default level */
bool rule_is_lint(enum rule rule);          /* off by default: `pipec lint` and -W switch it on */
/* True if a comment `pipec: allow(ID)` may accept it: a warning, a note, or an ACCEPTABLE_ERROR. */
bool rule_is_suppressible(enum rule rule);
const char *rule_group(enum rule rule);
const char *rule_summary(enum rule rule);
const char *diag_level_name(enum diag_level level);

#endif
