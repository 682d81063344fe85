/* SPDX-License-Identifier: MIT */
/*
 * link: an object file to a shared object, by an external linker.
 *
 * The linker works in a folder of its own under $TMPDIR, which is removed when the link ends, when
 * the process exits, and on a signal (support/output.h, cleanup_add).
 */
#include "compiler/codegen/common/link.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/codegen/common/code_generator.h"
#include "compiler/codegen/common/foreign_files.h"
#include "compiler/support/output.h"

#ifndef PIPEC_LLD
#define PIPEC_LLD "ld.lld"
#endif
#ifndef PIPEC_LLVM_MAJOR
#define PIPEC_LLVM_MAJOR 22
#endif
#define TEXT_OF(x) ("ld.lld-" #x)
#define LLD_OF(major) TEXT_OF(major)

enum { STATUS_KILLED = 128 };   /* of a linker that a signal has ended */
enum { FOREIGN_ARGUMENTS = 5 }; /* beside the files */
enum { FILE_OBJECT, FILE_IMAGE, FILE_MESSAGES, FILE_COUNT };
static const char *const file_names[FILE_COUNT] = {"kernels.o", "kernels.so", "messages"};

/* ---- the folder ---- */

struct workshop {
    const struct code_generator *code;
    char *folder;
    char *files[FILE_COUNT];
};

static bool create_folder(struct arena *arena, struct workshop *shop)
{
    const char *parent = getenv("TMPDIR");
    if (parent == NULL || parent[0] == '\0') parent = "/tmp";
    shop->folder = arena_printf(arena, "%s/pipec-XXXXXX", parent);
    if (!cleanup_make_folder(shop->folder)) return false;
    for (int i = 0; i < FILE_COUNT; i++) {
        shop->files[i] = arena_printf(arena, "%s/%s", shop->folder, file_names[i]);
        cleanup_add(shop->files[i], false);
    }
    return true;
}

static void remove_folder(const struct workshop *shop)
{
    for (int i = 0; i < FILE_COUNT; i++)
        cleanup_remove(shop->files[i]);
    cleanup_remove(shop->folder);
}

/* ---- files ---- */

static bool write_file(const char *path, struct link_bytes bytes)
{
    FILE *file = fopen(path, "wbe");
    if (file == NULL) return false;
    bool good = fwrite(bytes.bytes, 1, bytes.size_bytes, file) == bytes.size_bytes;
    int saved = errno;
    good = fclose(file) == 0 && good;
    if (!good && saved != 0) errno = saved;
    return good;
}

static bool read_object(struct arena *arena, const char *path, struct link_bytes *out)
{
    struct stat status;
    FILE *file = fopen(path, "rbe");
    if (file == NULL) return false;
    bool good = fstat(fileno(file), &status) == 0;
    if (good) {
        size_t size = (size_t)status.st_size;
        unsigned char *bytes = arena_alloc(arena, size + 1);
        good = fread(bytes, 1, size, file) == size;
        *out = (struct link_bytes){bytes, size};
    }
    fclose(file);
    return good;
}

/* ---- the linker ---- */

/* With errno's reason. */
static bool report_files(struct compile *cx, const char *what)
{
    const char *reason = strerror(errno);
    diag_report(cx->diags, RULE_CODEGEN, (struct span){0}, "%s: %s", what, reason);
    cx->halt = HALT_RESOURCES;
    return false;
}

/* Symbols of foreign code are bound within the image, whatever the process has loaded; what they use must be there. */
static void add_foreign(const struct compile *cx, char **arguments, size_t *count)
{
    const struct foreign_files *files = cx->foreign;
    if (files == NULL) return;
    arguments[(*count)++] = "-Bsymbolic";
    arguments[(*count)++] = "--no-undefined";
    for (size_t i = 0; i < files->items.count; i++)
        if (files->items.items[i].kind != FOREIGN_BITCODE)
            arguments[(*count)++] = (char *)files->items.items[i].path;
    arguments[(*count)++] = "--as-needed";
    for (size_t i = 0; i < sizeof files->system / sizeof *files->system; i++)
        if (files->system[i] != NULL) arguments[(*count)++] = (char *)files->system[i];
}

/* Runs it with standard error to the messages' file.  Its exit status, or -1 with errno set. */
static int run_linker(const struct compile *cx, const struct workshop *shop, const char *linker)
{
    char *fixed[] = {(char *)linker,
                     "-m",
                     (char *)shop->code->linker_emulation,
                     "-shared",
                     "--build-id=none",
                     "--hash-style=gnu",
                     "-z",
                     "relro",
                     "-z",
                     "now",
                     "-z",
                     "noseparate-code",
                     "-z",
                     "noexecstack",
                     "--strip-debug", /* functions keep their names, for profilers */
                     "-o",
                     shop->files[FILE_IMAGE],
                     shop->files[FILE_OBJECT]};
    size_t count = sizeof fixed / sizeof *fixed;
    size_t foreign = cx->foreign != NULL ? cx->foreign->items.count + FOREIGN_ARGUMENTS : 0;
    char **arguments = ARENA_ARRAY(cx->arena, char *, count + foreign + 1);
    memcpy(arguments, fixed, sizeof fixed);
    add_foreign(cx, arguments, &count);
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, shop->files[FILE_MESSAGES],
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int error = posix_spawnp(&child, linker, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        errno = error;
        return -1;
    }
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : STATUS_KILLED;
}

static bool report_linker(struct compile *cx, const struct workshop *shop, const char *linker,
                          int status)
{
    struct link_bytes messages;
    bool foreign = cx->foreign != NULL && status != STATUS_KILLED;
    struct diag *diag = foreign
                            ? diag_report(cx->diags, RULE_CODEGEN, cx->foreign->items.items[0].span,
                                          "the code of the extern kernels cannot be linked")
                            : diag_report(cx->diags, RULE_CODEGEN, (struct span){0},
                                          "the linker '%s' failed with status %d", linker, status);
    if (status == STATUS_KILLED) cx->halt = HALT_RESOURCES;
    if (read_object(cx->arena, shop->files[FILE_MESSAGES], &messages) && messages.size_bytes > 0) {
        const char *text = (const char *)messages.bytes;
        diag_note(diag, "%.*s", (int)strcspn(text, "\n"), text);
    }
    if (foreign)
        diag_help(diag, "name every file in 'from' that the code needs: objects, archives, shared "
                        "objects");
    return false;
}

/* One that is missing is the installation's fault; what else there is, the system's. */
static bool is_missing(void)
{
    return errno == ENOENT || errno == ENOTDIR || errno == EACCES;
}

static bool report_no_linker(struct compile *cx, const char *linker)
{
    const char *reason = strerror(errno);
    if (!is_missing()) cx->halt = HALT_RESOURCES;
    diag_report(cx->diags, RULE_CODEGEN, (struct span){0}, "cannot run the linker '%s': %s", linker,
                reason);
    return false;
}

/* More than the image takes, which is little more than the object.  False: errno says why. */
static bool has_link_room(const struct workshop *shop, size_t object_bytes)
{
    static const unsigned char zeros[1 << 16];
    FILE *file = fopen(shop->files[FILE_IMAGE], "wbe");
    if (file == NULL) return false;
    size_t left = object_bytes + sizeof zeros;
    bool good = true;
    while (left > 0 && good) {
        size_t part = left < sizeof zeros ? left : sizeof zeros;
        good = fwrite(zeros, 1, part, file) == part;
        left -= part;
    }
    int saved = errno;
    if (fclose(file) != 0) return false;
    errno = saved;
    return good;
}

/* GNU ld first: it links a kernel image in 3 ms, where ld.lld takes 17, most of which is loading
 * LLVM's library once more. */
const char *const link_programs[] = {"ld.bfd", PIPEC_LLD, LLD_OF(PIPEC_LLVM_MAJOR),
                                     "ld.lld", "ld",      NULL};

/* A linker that is not for this machine language fails, and LLVM's is tried; not
 * where the system has failed, for another linker makes other bytes. */
static bool link_with_any(struct compile *cx, const struct workshop *shop, size_t object_bytes)
{
    const char *chosen = cx->options.linker;
    size_t count = chosen != NULL ? 1 : sizeof link_programs / sizeof link_programs[0] - 1;
    for (size_t i = 0; i < count; i++) {
        const char *linker = chosen != NULL ? chosen : link_programs[i];
        int status = run_linker(cx, shop, linker);
        if (status == 0) return true;
        if (status > 0 && !has_link_room(shop, object_bytes))
            return report_files(
                cx, arena_printf(cx->arena, "cannot write '%s'", shop->files[FILE_IMAGE]));
        /* Some C libraries report a failed exec as status 127. */
        bool others = i + 1 < count && (status == 127 || (i == 0 && status != STATUS_KILLED));
        if (status > 0 && !others) return report_linker(cx, shop, linker, status);
        if (status < 0 && !is_missing()) return report_no_linker(cx, linker);
    }
    return report_no_linker(cx, chosen != NULL ? chosen : PIPEC_LLD);
}

/* ---- what the object needs ---- */

static bool is_linkable_symbol(const char *symbol)
{
    static const char *const names[] = {"", "memcpy", "memmove", "memset", "_GLOBAL_OFFSET_TABLE_"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(symbol, names[i]) == 0) return true;
    }
    return false;
}

/* The first undefined symbol that the link cannot resolve, or NULL. LLVM wrote the object, so it is
 * well-formed. */
static const char *missing_symbol(struct link_bytes object)
{
    Elf64_Ehdr header;
    memcpy(&header, object.bytes, sizeof header);
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr table, names;
        memcpy(&table, object.bytes + header.e_shoff + i * sizeof table, sizeof table);
        if (table.sh_type != SHT_SYMTAB) continue;
        memcpy(&names, object.bytes + header.e_shoff + table.sh_link * sizeof names, sizeof names);
        for (size_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, object.bytes + table.sh_offset + at, sizeof symbol);
            const char *name = (const char *)object.bytes + names.sh_offset + symbol.st_name;
            if (symbol.st_shndx == SHN_UNDEF && !is_linkable_symbol(name)) return name;
        }
    }
    return NULL;
}

static bool check_symbols(struct compile *cx, const struct code_generator *code,
                          struct link_bytes object)
{
    const char *missing = cx->foreign == NULL ? missing_symbol(object) : NULL;
    if (missing == NULL) return true;
    struct diag *diag = diag_report(
        cx->diags, RULE_CODEGEN, (struct span){0},
        "the instruction set lacks an operation of the kernels: the code calls '%s'", missing);
    diag_help(diag, "compile for %s, which has all of them", code->complete_set);
    return false;
}

static bool link_in_folder(struct compile *cx, const struct workshop *shop,
                           struct link_bytes object, struct link_bytes *image)
{
    if (!write_file(shop->files[FILE_OBJECT], object))
        return report_files(cx,
                            arena_printf(cx->arena, "cannot write '%s'", shop->files[FILE_OBJECT]));
    if (!link_with_any(cx, shop, object.size_bytes)) return false;
    return read_object(cx->arena, shop->files[FILE_IMAGE], image) ||
           report_files(cx, "cannot read what the linker wrote");
}

bool link_shared_object(struct compile *cx, const struct code_generator *code,
                        struct link_bytes object, struct link_bytes *image)
{
    struct workshop shop = {.code = code};
    if (!check_symbols(cx, code, object)) return false;
    if (!create_folder(cx->arena, &shop))
        return report_files(
            cx, arena_printf(cx->arena, "cannot make a temporary folder '%s'", shop.folder));
    bool good = link_in_folder(cx, &shop, object, image);
    remove_folder(&shop);
    return good;
}
