#!/bin/sh
# SPDX-License-Identifier: MIT
# llvm_stubs.sh SONAME NAMES: C code that replaces libLLVM in the link of pipec, for x86-64.  Loading libLLVM takes more
# than nine tenths of the start of a process, and only the child process that generates code calls it.  So each function of
# LLVM that the file NAMES lists is a jump through a table.  llvm_load (compiler/codegen/common/llvm_load.h) fills the table, which then
# cannot be written any more, as the linker's own tables cannot.
set -eu
export LC_ALL=C
names=$(cat "$2")
[ -n "$names" ] || { echo "llvm_stubs.sh: '$2' names no function" >&2; exit 1; }
cat <<'END'
#include <dlfcn.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/codegen/common/llvm_load.h"

static const char *const names[] = {
END
echo "$names" | sed 's/.*/    "&",/'
cat <<END
};
enum { FUNCTIONS = sizeof names / sizeof names[0], PAGE_BYTES = 4096, PAGE_ENTRIES = PAGE_BYTES / sizeof(void *) };
__attribute__((visibility("hidden"), aligned(PAGE_BYTES))) /* it has its pages to itself */
void *llvm_functions[(FUNCTIONS + PAGE_ENTRIES - 1) / PAGE_ENTRIES * PAGE_ENTRIES];

/* The part of LLVM that scripts/llvm_part.sh links, in the folder of the executable; NULL: there is none. */
static void *load_part(void)
{
    static const char name[] = "/libpipec-$1";
    char path[PATH_MAX + sizeof name];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    if (length <= 0 || length == PATH_MAX) return NULL;
    path[length] = '\\0';
    memcpy(strrchr(path, '/'), name, sizeof name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

const char *llvm_load(void)
{
    void *library = load_part();
    if (library == NULL) library = dlopen("$1", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        void *function = library != NULL ? dlsym(library, names[i]) : NULL;
        if (function == NULL) return dlerror();
        llvm_functions[i] = function;
    }
    if (mprotect(llvm_functions, sizeof llvm_functions, PROT_READ) != 0) return "its table cannot be protected";
    return NULL;
}

__asm__(".text\n"
END
echo "$names" | awk '{ printf "        \".globl %s\\n.hidden %s\\n.type %s, @function\\n\"\n", $1, $1, $1
    printf "        \"%s: endbr64\\n jmp *llvm_functions+%d(%%rip)\\n\"\n", $1, 8 * (NR - 1) }'
cat <<'END'
        ".previous\n");
END
