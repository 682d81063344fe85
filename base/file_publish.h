/* SPDX-License-Identifier: MIT */
/*
 * file_publish: gives a complete file its name, such that the name survives a loss of power.
 *
 * Only this module renames files. The bytes are on disk only after fsync, and the rename only after fsync
 * of the folder.
 *
 * Thread-safety: yes.
 */
#ifndef BASE_FILE_PUBLISH_H
#define BASE_FILE_PUBLISH_H

#include <stdbool.h>

/* Synchronises the bytes of the open file.  False: errno. */
bool file_synchronise(int descriptor);

/* Renames `temporary`, whose bytes are synchronised, to `target` in the same folder, and
 * synchronises that folder. A folder without read permission, or on a file system that cannot
 * synchronise folders, is no error. False: errno. Then *renamed says whether `target` is the new
 * file already; if so, it may not be on disk yet. */
bool file_publish(const char *temporary, const char *target, bool *renamed);

#endif
