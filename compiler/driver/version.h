/* SPDX-License-Identifier: MIT */
/*
 * version: the answer to --version.
 */
#ifndef PIPEC_VERSION_H
#define PIPEC_VERSION_H

#include <stdbool.h>
#include <stdio.h>

/* Of the sources; "": not known. Called once, at the start of main, so that a new commit changes one object only. */
void version_set_commit(const char *commit);
/* Prints the version as text (`form` NULL), or as JSON ("json"): commit, LLVM, libraries, devices, licence. False: there is no
 * such form. */
bool version_print(FILE *to, const char *form);

#endif
