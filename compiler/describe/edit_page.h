/* SPDX-License-Identifier: MIT */
/*
 * edit_page: the page of `pipec edit` (HTML), without data of a file: its script asks the server for them. Style and script are in
 * compiler/page.
 */
#ifndef PIPEC_EDIT_PAGE_H
#define PIPEC_EDIT_PAGE_H

#include <stddef.h>

/* `nonce` is the script's in the content security policy. The caller frees the text. NULL: no memory. */
char *edit_page(const char *nonce, size_t *size_bytes);

#endif
