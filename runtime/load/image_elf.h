/* SPDX-License-Identifier: MIT */
/*
 * image_elf: an image, checked before the dynamic linker is asked to load it.
 *
 * The dynamic linker trusts what it loads.  Here it is read first, with every bound checked, as the
 * linker will read it: program headers, then the dynamic section and what that points at.  Section
 * headers are not looked at.  An image that is accepted
 *   - executes nothing when it is loaded or unloaded: it has no constructors and destructors, no
 *     symbols and relocations whose value is computed by code of its own (IFUNC, IRELATIVE)
 *   - brings no other library with it, and uses nothing of the process but memcpy, memmove, memset.  With
 *     foreign code (`foreign`, else NULL) it may use any symbol, and the libraries that the container names.
 *     These are executed when they are loaded: image.h asks for permission
 *   - has no memory that is writable and executable, and asks for no executable stack
 *   - is changed by relocations only in its data, not in tables that the dynamic linker reads later.
 * These rules do not restrict what the kernels do when they are called: a container is trusted as
 * an executable is.
 *
 * Work: linear in the image.
 */
#ifndef RUNTIME_LOAD_IMAGE_ELF_H
#define RUNTIME_LOAD_IMAGE_ELF_H

#include "runtime/load/reader.h"

#include <stdint.h>

/* `offset` is the place of the image in the container, for errors.  PRT_E_FORMAT, PRT_E_DEVICE (code for another
 * processor). */
enum prt_status prt_image_elf_verify(const uint8_t *bytes, uint64_t size_bytes, uint64_t offset,
                                     const struct prt_container *foreign, struct prt_error *error);

#endif
