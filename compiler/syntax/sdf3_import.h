/* SPDX-License-Identifier: MIT */
/*
 * sdf3_import: reads a graph of the SDF3 tools as a command list (lang/sdf3.md).
 */
#ifndef PIPEC_SDF3_IMPORT_H
#define PIPEC_SDF3_IMPORT_H

#include "compiler/context/context.h"

/* Whether the text begins as XML does, and as no program can. */
bool sdf3_begins(const struct source *source);
/* The source with the command list of the graph in source `id`, which is XML. 0 after an error. Its places are reported
 * as places of the XML text (source_origin). */
uint32_t sdf3_import(struct compile *cx, uint32_t id);

#endif
