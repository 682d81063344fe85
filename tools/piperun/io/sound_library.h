/* SPDX-License-Identifier: MIT */
/*
 * sound_library: libsndfile, loaded when a sound file is opened for reading, or aiff or flac for writing.
 *
 * It needs the codecs of every audio format: linked in, loading them would be more than a
 * third of the time of a small run that reads no sound.
 *
 * Ownership: from load to unload; its files are closed before.  Thread-safety: any thread.
 * Errors: PRT_E_OPEN: it is not there, or lacks a function; then nothing is loaded.
 */
#ifndef TOOLS_PIPERUN_IO_SOUND_LIBRARY_H
#define TOOLS_PIPERUN_IO_SOUND_LIBRARY_H

#include "base/status.h"

#include <sndfile.h>

/* The functions of sndfile.h, each named as there after `sf_`. */
struct prt_sound_library {
    void *handle; /* NULL: not loaded */
    SNDFILE *(*open_virtual)(SF_VIRTUAL_IO *io, int mode, SF_INFO *info, void *user);
    sf_count_t (*readf_int)(SNDFILE *file, int *items, sf_count_t frames);
    sf_count_t (*readf_float)(SNDFILE *file, float *items, sf_count_t frames);
    sf_count_t (*readf_double)(SNDFILE *file, double *items, sf_count_t frames);
    sf_count_t (*write_short)(SNDFILE *file, const short *items, sf_count_t count);
    sf_count_t (*write_int)(SNDFILE *file, const int *items, sf_count_t count);
    sf_count_t (*write_float)(SNDFILE *file, const float *items, sf_count_t count);
    sf_count_t (*write_double)(SNDFILE *file, const double *items, sf_count_t count);
    int (*command)(SNDFILE *file, int command, void *data, int bytes);
    int (*error)(SNDFILE *file);
    const char *(*error_number)(int error);
    int (*close)(SNDFILE *file);
};

/* `file`: its name, for the message. */
enum prt_status prt_sound_library_load(struct prt_sound_library *library, const char *file,
                                       struct prt_error *error);
/* The text of an error number, without the words "Error : ". */
const char *prt_sound_library_reason(const struct prt_sound_library *library, int error_number);
/* A zeroed one is allowed. */
void prt_sound_library_unload(struct prt_sound_library *library);

#endif
