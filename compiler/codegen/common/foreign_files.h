/* SPDX-License-Identifier: MIT */
/*
 * foreign_files: the files that have the code of extern kernels.
 *
 * They are found like imports: in the folder of the source that names them, then in the -I folders. The name of a
 * shared object without a folder is also looked for where the system keeps libraries.  The first bytes of a
 * file decide its kind, not its name.
 *
 * The code says for which declaration it was written: NAME_signature is a string in it.
 *
 * Fails  RULE_CODEGEN.
 */
#ifndef COMPILER_CODEGEN_COMMON_FOREIGN_FILES_H
#define COMPILER_CODEGEN_COMMON_FOREIGN_FILES_H

#include "base/vec.h"
#include "compiler/codegen/common/link.h"
#include "compiler/context/context.h"
#include "compiler/ir/graph.h"

enum foreign_kind { FOREIGN_OBJECT, FOREIGN_ARCHIVE, FOREIGN_SHARED, FOREIGN_BITCODE };

struct foreign_file {
    const char *name; /* as `from` names it */
    const char *path;
    struct span span;
    enum foreign_kind kind;
    struct link_bytes bytes;
    const char *soname; /* SHARED: the name by which the dynamic linker finds it; else NULL */
};

struct foreign_files {
    VEC(struct foreign_file) items; /* each once, in order of first mention */
    const char *system[2];          /* the C library's shared objects; NULL: not found */
};

/* The files of all extern kernels of the graph; NULL: there is no such kernel, or after an error. */
const struct foreign_files *foreign_files_find(struct compile *cx, const struct graph *graph);

/* Checks the image that was linked with the files: every kernel has the signature of its declaration, as far as that
 * can be seen, and loading the image executes none of its code. */
bool foreign_image_check(struct compile *cx, const struct graph *graph,
                         const struct foreign_files *files, struct link_bytes image);

#endif
