/*
 * sound_library: libsndfile, loaded when the first WAV file is opened for reading.
 *
 * It brings the codecs of every audio format along: linked in, loading them would be more than a
 * third of the time in which a small pipeline that reads no WAV file has begun and ended.
 *
 * Ownership: from load to unload; its files are closed before.  Thread-safety: any thread.
 * Errors: PRT_E_OPEN: it is not there, or lacks a function; then nothing is loaded.
 */
#ifndef TOOLS_PIPERUN_IO_SOUND_LIBRARY_H
#define TOOLS_PIPERUN_IO_SOUND_LIBRARY_H

#include "base/status.h"

#include <sndfile.h>

/* The functions of sndfile.h, each named as there behind `sf_`. */
struct prt_sound_library {
    void *handle; /* NULL: not loaded */
    SNDFILE *(*open_virtual)(SF_VIRTUAL_IO *io, int mode, SF_INFO *info, void *user);
    sf_count_t (*readf_int)(SNDFILE *file, int *items, sf_count_t frames);
    sf_count_t (*readf_float)(SNDFILE *file, float *items, sf_count_t frames);
    sf_count_t (*readf_double)(SNDFILE *file, double *items, sf_count_t frames);
    int (*error)(SNDFILE *file);
    const char *(*error_number)(int error);
    int (*close)(SNDFILE *file);
};

/* `file`: what is to be read, for the message. */
enum prt_status prt_sound_library_load(struct prt_sound_library *library, const char *file,
                                       struct prt_error *error);
/* A zeroed one is allowed. */
void prt_sound_library_unload(struct prt_sound_library *library);

#endif
