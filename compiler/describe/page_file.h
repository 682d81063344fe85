/* SPDX-License-Identifier: MIT */
/* page_file: the styles and scripts of compiler/page. */
#ifndef PIPEC_PAGE_FILE_H
#define PIPEC_PAGE_FILE_H

#include <stdio.h>

/* Writes the file of that name. */
void page_file_put(FILE *to, const char *name);

#endif
