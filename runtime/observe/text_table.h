/* SPDX-License-Identifier: MIT */
/*
 * text_table: cells of a text report.  Names are shown as base/terminal_text.h says.
 *
 * Errors: those of the stream.
 */
#ifndef RUNTIME_OBSERVE_TEXT_TABLE_H
#define RUNTIME_OBSERVE_TEXT_TABLE_H

#include <stdint.h>
#include <stdio.h>

/* The name in `width` (4 or more) columns: filled with blanks, or cut, with ".." at its end. */
void prt_text_cell(FILE *to, const char *name, unsigned width);

/* 100 x part / whole; 0 where there is no whole. */
double prt_text_percent(uint64_t part, uint64_t whole);

#endif
