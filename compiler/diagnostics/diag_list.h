/* SPDX-License-Identifier: MIT */
/*
 * diag_list: diagnostics inside of a larger JSON text, and which rules were broken.
 */
#ifndef PIPEC_DIAG_LIST_H
#define PIPEC_DIAG_LIST_H

#include "compiler/diagnostics/diag.h"
#include "base/json_write.h"

/* All that were collected, sorted by place, as an array under `key`: the objects of
 * --diagnostics=json. */
void diag_list_json(const struct diags *diags, struct json *json, const char *key);
bool diag_has(const struct diags *diags, enum rule rule);

#endif
