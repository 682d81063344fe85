/* SPDX-License-Identifier: MIT */
/* foreign_files: the contract is in foreign_files.h. */
#include "compiler/codegen/common/foreign_files.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file_open.h"
#include "compiler/codegen/common/elf_view.h"
#include "compiler/support/source.h"

enum { FILE_MAX_BYTES = 256 << 20 };

static const char *const system_folders[] = {
    "/lib/x86_64-linux-gnu",
    "/usr/lib/x86_64-linux-gnu",
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
};
enum { SYSTEM_FOLDERS = sizeof system_folders / sizeof *system_folders };

/* ---- where ---- */

static const char *in_system(struct compile *cx, const char *name)
{
    for (size_t i = 0; i < SYSTEM_FOLDERS; i++) {
        const char *path = arena_printf(cx->arena, "%s/%s", system_folders[i], name);
        if (access(path, R_OK) == 0) return path;
    }
    return NULL;
}

/* ---- what ---- */

static bool begins_with_magic(struct link_bytes bytes, const char *magic, size_t length)
{
    return bytes.size_bytes >= length && memcmp(bytes.bytes, magic, length) == 0;
}

static bool refuse_file(struct compile *cx, const struct foreign_file *file, const char *why,
                        const char *help)
{
    struct diag *diag =
        diag_report(cx->diags, RULE_CODEGEN, file->span, "'%s' %s", file->name, why);
    if (help != NULL) diag_help(diag, "%s", help);
    return false;
}

static bool classify_elf(struct compile *cx, struct foreign_file *file)
{
    struct elf_view elf;
    if (!elf_view_open(file->bytes.bytes, file->bytes.size_bytes, &elf))
        return refuse_file(cx, file, "is damaged: its tables lie outside of it", NULL);
    if (elf.header.e_machine != EM_X86_64)
        return refuse_file(cx, file, "is for another processor: images are for x86-64",
                           "compile it for x86-64");
    file->kind = elf.header.e_type == ET_DYN ? FOREIGN_SHARED : FOREIGN_OBJECT;
    if (elf.header.e_type == ET_REL) return true;
    if (elf.header.e_type != ET_DYN)
        return refuse_file(cx, file, "is a program, not an object file or a shared object", NULL);
    const char *soname = elf_view_soname(&elf);
    if (soname == NULL || strchr(soname, '/') != NULL)
        return refuse_file(cx, file, "is a shared object without a plain name to load it by",
                           "link it with -Wl,-soname,libNAME.so.1");
    file->soname = arena_string(cx->arena, soname, strlen(soname));
    return true;
}

static bool classify_file(struct compile *cx, struct foreign_file *file)
{
    if (begins_with_magic(file->bytes, ELFMAG, SELFMAG)) return classify_elf(cx, file);
    if (begins_with_magic(file->bytes, "!<arch>\n", 8)) {
        file->kind = FOREIGN_ARCHIVE;
        return true;
    }
    if (begins_with_magic(file->bytes, "BC\xc0\xde", 4) ||
        begins_with_magic(file->bytes, "\xde\xc0\x17\x0b", 4)) {
        file->kind = FOREIGN_BITCODE;
        return true;
    }
    const char *text = memchr(file->bytes.bytes, '\0', file->bytes.size_bytes) == NULL
                           ? "is a text: name the file with the code"
                           : "is no object file, archive, shared object or LLVM bitcode";
    return refuse_file(cx, file, text,
                       "compile the code: cc -O2 -c CODE.c, or clang -O2 -emit-llvm -c CODE.c");
}

static bool read_foreign_file(struct compile *cx, struct foreign_file *file)
{
    FILE *stream = file_open_input_stream(file->path);
    if (stream == NULL) {
        const char *why = file_error_text(errno);
        return refuse_file(cx, file, arena_printf(cx->arena, "cannot be read: %s", why), NULL);
    }
    bool good = fseek(stream, 0, SEEK_END) == 0;
    long size = good ? ftell(stream) : -1;
    good = size >= 0 && size <= FILE_MAX_BYTES && fseek(stream, 0, SEEK_SET) == 0;
    unsigned char *bytes = arena_alloc(cx->arena, good ? (size_t)size + 1 : 1);
    good = good && fread(bytes, 1, (size_t)size, stream) == (size_t)size;
    fclose(stream);
    if (!good)
        return refuse_file(cx, file, "cannot be read whole, or is larger than 256 MiB", NULL);
    file->bytes = (struct link_bytes){bytes, (size_t)size};
    return true;
}

static bool report_missing_file(struct compile *cx, const struct foreign_file *file,
                                const struct kernel *kernel)
{
    struct diag *diag =
        diag_report(cx->diags, RULE_CODEGEN, file->span,
                    "there is no file '%s' with the code of '%s'", file->name, kernel->name);
    diag_note(diag, "files are found beside the source, then in the -I folders");
    diag_help(diag, "compile the code first; 'pipec --emit=header' and 'pipec --emit=skeleton' "
                    "write its declarations and a beginning");
    return false;
}

static bool add_foreign_file(struct compile *cx, struct foreign_files *files,
                             const struct kernel *kernel, uint32_t index)
{
    struct foreign_file file = {.name = kernel->foreign->files[index],
                                .span = kernel->foreign->file_spans[index]};
    const char *path =
        source_find_file(cx->sources, file.span.source, file.name, cx->options.import_folders,
                         cx->options.import_folder_count);
    bool is_library = strchr(file.name, '/') == NULL && strstr(file.name, ".so") != NULL;
    file.path = path == NULL && is_library ? in_system(cx, file.name) : path;
    if (file.path == NULL) return report_missing_file(cx, &file, kernel);
    for (size_t i = 0; i < files->items.count; i++)
        if (strcmp(files->items.items[i].path, file.path) == 0) return true;
    if (!read_foreign_file(cx, &file) || !classify_file(cx, &file)) return false;
    vec_push(cx->arena, &files->items, file);
    vec_push(cx->arena, &cx->read_files, file.path);
    return true;
}

const struct foreign_files *foreign_files_find(struct compile *cx, const struct graph *graph)
{
    struct foreign_files *files = ARENA_NEW(cx->arena, struct foreign_files);
    bool good = true;
    for (size_t i = 0; i < graph->kernels.count; i++) {
        const struct kernel *kernel = graph->kernels.items[i];
        for (uint32_t f = 0; kernel->foreign != NULL && f < kernel->foreign->file_count; f++)
            good = add_foreign_file(cx, files, kernel, f) && good;
    }
    if (!good || files->items.count == 0) return NULL;
    files->system[0] = in_system(cx, "libc.so.6");
    files->system[1] = in_system(cx, "libm.so.6");
    return files;
}

/* ---- the image ---- */

/* The signature in the code, where it can be seen, or NULL. */
static const char *find_signature(struct compile *cx, const struct foreign_files *files,
                                  const struct elf_view *image, const char *symbol)
{
    const char *text = elf_view_text(image, symbol);
    for (size_t i = 0; text == NULL && i < files->items.count; i++) {
        const struct foreign_file *file = &files->items.items[i];
        struct elf_view elf;
        if (file->kind == FOREIGN_SHARED &&
            elf_view_open(file->bytes.bytes, file->bytes.size_bytes, &elf))
            text = elf_view_text(&elf, symbol);
    }
    return text == NULL ? NULL : arena_string(cx->arena, text, strlen(text));
}

static bool check_foreign_signature(struct compile *cx, const struct foreign_files *files,
                                    const struct elf_view *image, const struct kernel *kernel)
{
    const char *symbol = arena_printf(cx->arena, "%s_signature", kernel->name);
    const char *found = find_signature(cx, files, image, symbol);
    if (found != NULL && strcmp(found, kernel->foreign->signature) == 0) return true;
    struct diag *diag;
    if (found == NULL) {
        diag = diag_report(cx->diags, RULE_CODEGEN, kernel->span,
                           "the code of '%s' does not say for which declaration it was written: "
                           "it has no '%s'",
                           kernel->name, symbol);
        diag_help(diag,
                  "include the header that 'pipec --emit=header' writes in the file that "
                  "defines '%s_run'",
                  kernel->name);
        return false;
    }
    diag = diag_report(cx->diags, RULE_CODEGEN, kernel->span,
                       "the code of '%s' was written for another declaration", kernel->name);
    diag_note(diag, "declared: %s", kernel->foreign->signature);
    diag_note(diag, "its code: %s", found);
    diag_help(diag, "write the header again with 'pipec --emit=header', change the code, and "
                    "compile it");
    return false;
}

static bool check_loading(struct compile *cx, const struct graph *graph,
                          const struct elf_view *image)
{
    const char *problem = elf_view_loading(image);
    if (problem == NULL) return true;
    struct diag *diag = diag_report(cx->diags, RULE_CODEGEN, graph->span,
                                    "the code of the extern kernels %s", problem);
    diag_help(diag, "put this code into a shared object, and name that in 'from'");
    return false;
}

bool foreign_image_check(struct compile *cx, const struct graph *graph,
                         const struct foreign_files *files, struct link_bytes bytes)
{
    struct elf_view image;
    if (!elf_view_open(bytes.bytes, bytes.size_bytes, &image)) {
        diag_report(cx->diags, RULE_CODEGEN, graph->span, "the linker wrote a damaged image");
        return false;
    }
    bool good = check_loading(cx, graph, &image);
    for (size_t i = 0; i < graph->kernels.count; i++)
        if (graph->kernels.items[i]->foreign != NULL)
            good = check_foreign_signature(cx, files, &image, graph->kernels.items[i]) && good;
    return good;
}
