/*
 * text_table: names in columns of a text report.
 *
 * Control bytes are shown as \xNN; a column is a character of UTF-8.  Errors: those of the stream.
 */
#ifndef RUNTIME_OBSERVE_TEXT_TABLE_H
#define RUNTIME_OBSERVE_TEXT_TABLE_H

#include <stdint.h>
#include <stdio.h>

/* Columns that the name takes. */
int prt_text_columns(const char *name);

/* All of the name. */
void prt_text_name(FILE *to, const char *name);

/* The name in `width` (4 or more) columns: filled with blanks, or cut, with ".." at its end. */
void prt_text_cell(FILE *to, const char *name, int width);

/* 100 x part / whole; 0 where there is no whole. */
double prt_text_percent(uint64_t part, uint64_t whole);

#endif
