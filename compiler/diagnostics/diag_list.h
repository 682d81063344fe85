/* SPDX-License-Identifier: MIT */
/*
 * diag_list: diagnostics inside of a larger JSON text.
 */
#ifndef PIPEC_DIAG_LIST_H
#define PIPEC_DIAG_LIST_H

#include "compiler/diagnostics/diag.h"
#include "base/json_write.h"

/* Writes all collected diagnostics, sorted by place, as an array under `key`. The objects are
 * those of --diagnostics=json. */
void diag_list_json(const struct diags *diags, struct json *json, const char *key);

#endif
