/*
 * embedded_library: looks into the text of the standard library, for the helps of messages about
 * programs that do not import it.
 */
#ifndef PIPEC_EMBEDDED_LIBRARY_H
#define PIPEC_EMBEDDED_LIBRARY_H

/* The file that declares a kernel or pipeline (`std/dsp.pipe`), or NULL. */
const char *library_file_of_kernel(const char *name);
/* The same of a function, also of one that calls choose by its type: `sin`. */
const char *library_file_of_function(const char *name);
/* The file that is meant by an import that finds none: dsp.pipe, std/sdp.pipe, std/dsp; or NULL. */
const char *library_file_meant(const char *path);

#endif
