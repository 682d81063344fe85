/* SPDX-License-Identifier: MIT */
/*
 * file_publish: a complete file gets its name, and keeps it when the machine loses power.
 *
 * The only place that renames: a rename is on disk only after its folder is, as the bytes are only after fsync.
 *
 * Thread-safety: yes.
 */
#ifndef BASE_FILE_PUBLISH_H
#define BASE_FILE_PUBLISH_H

#include <stdbool.h>

/* Synchronises the bytes of the open file.  False: errno. */
bool file_synchronise(int descriptor);

/* Renames `temporary`, whose bytes are synchronised, to `target` in the same folder, and synchronises that folder.
 * Not an error: a folder that may not be read, and a file system that cannot synchronise one.
 *
 * False: errno.  *renamed says whether `target` is the new file already; only its being on disk is in doubt then. */
bool file_publish(const char *temporary, const char *target, bool *renamed);

#endif
