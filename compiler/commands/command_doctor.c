/* SPDX-License-Identifier: MIT */
/* pipec doctor: looks at what pipec needs on this machine, and says how to get what is missing. */
#include <dlfcn.h>
#include <llvm/Config/llvm-config.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/codegen/common/link.h"
#include "compiler/codegen/common/llvm_load.h"
#include "compiler/commands/commands.h"
#include "compiler/commands/http_library.h"
#include "compiler/commands/piperun_path.h"
#include "compiler/commands/program_run.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/driver_files.h"
#include "compiler/support/output.h"
#include "base/json_write.h"
#include "base/vec.h"
#include "lang/embedded.h"

static const char help_text[] =
    "usage: pipec doctor [--json]\n"
    "\n"
    "Says what is installed, which devices there are, what is missing and how to get it. A small\n"
    "pipeline is compiled and run on a simulated device and on the host's cores.\n"
    "\n"
    "  --json                one JSON object, with the devices to compile for\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec doctor\n"
    "  $ pipec doctor --json\n"
    "\n"
    "Exit status: 0 all that is needed works (what is optional may be missing), 1 something that "
    "is\n"
    "needed does not work, 2 usage or files.\n";

struct finding {
    const char *name;
    bool is_there, is_needed;
    const char *text; /* what it is, or what it is for and how to get it */
};

struct examination {
    struct arena *arena;
    const char *piperun, *folder, *source; /* a temporary folder, with a pipeline in it */
    VEC(struct finding) findings;
};

static void add_finding(struct examination *x, const char *name, bool is_needed, bool is_there,
                        const char *text)
{
    vec_push(x->arena, &x->findings, (struct finding){name, is_there, is_needed, text});
}

static const char *first_line_copy(struct arena *arena, const char *text)
{
    return arena_string(arena, text, strcspn(text, "\n"));
}

/* ---- the programs ---- */

static void examine_piperun(struct examination *x)
{
    const char *words[] = {"piperun", "--version", NULL};
    struct program_run run = program_run(x->arena, x->piperun, words);
    bool is_there = run.status == EXIT_DONE;
    bool is_same =
        strncmp(run.text, "piperun " PIPEC_VERSION, sizeof "piperun " PIPEC_VERSION - 1) == 0;
    const char *text =
        arena_printf(x->arena, "%s: %s", x->piperun, first_line_copy(x->arena, run.text));
    if (!is_there)
        text = "it runs what pipec compiles: install it beside pipec, or into a folder of PATH";
    else if (!is_same)
        text = arena_printf(x->arena, "%s, but pipec is version " PIPEC_VERSION, text);
    add_finding(x, "piperun", true, is_there && is_same, text);
}

static void examine_llvm(struct examination *x)
{
    const char *problem = llvm_load();
    add_finding(x, "llvm", true, problem == NULL,
                problem == NULL
                    ? LLVM_VERSION_STRING
                    : arena_printf(x->arena, "generates code: install the package libllvm%d: %s",
                                   PIPEC_LLVM_MAJOR, problem));
}

static void examine_linker(struct examination *x)
{
    const char *found = NULL;
    for (size_t i = 0; found == NULL && link_programs[i] != NULL; i++) {
        const char *words[] = {link_programs[i], "--version", NULL};
        struct program_run run = program_run(x->arena, link_programs[i], words);
        if (run.status == EXIT_DONE)
            found = arena_printf(x->arena, "%s: %s", link_programs[i],
                                 first_line_copy(x->arena, run.text));
    }
    add_finding(x, "linker", true, found != NULL,
                found != NULL ? found
                              : "makes an image of the code: install the package binutils, or name "
                                "a linker with --linker");
}

/* The text after the last "error: ", which is the cause of those before it, else the first line. */
static const char *problem_copy(struct arena *arena, const char *text)
{
    static const char mark[] = "error: ";
    for (const char *error; (error = strstr(text, mark)) != NULL;)
        text = error + sizeof mark - 1;
    return first_line_copy(arena, text);
}

/* Compiles and runs the pipeline, and compares its output: needs LLVM and the linker. */
static void examine_device(struct examination *x, const char *device, const char *text)
{
    const char *words[] = {"pipec",   "test", "-q", arena_printf(x->arena, "--device=%s", device),
                           x->source, NULL};
    struct program_run run = program_run(x->arena, "/proc/self/exe", words);
    if (run.status != EXIT_DONE)
        text = arena_printf(x->arena, "a pipeline does not compile and run: %s",
                            problem_copy(x->arena, run.text));
    add_finding(x, device, true, run.status == EXIT_DONE, text);
}

/* The GPUs in the list of devices: "cuda:0 ...; NAME, compute capability 9.0". */
static void list_gpus(struct examination *x)
{
    const char *words[] = {"piperun", "--list-devices", NULL};
    const char *text = program_run(x->arena, x->piperun, words).text;
    for (const char *end; *text != '\0'; text = *end == '\n' ? end + 1 : end) {
        const char *line = first_line_copy(x->arena, text), *remark = strstr(line, "; ");
        end = text + strlen(line);
        if (strncmp(line, "cuda:", 5) == 0 && remark != NULL)
            add_finding(x, arena_string(x->arena, line, strcspn(line, " ")), false, true,
                        remark + 2);
    }
}

static void examine_gpu(struct examination *x)
{
    static const char head[] = "device 'cuda': ";
    const char *words[] = {"piperun",     x->source,       "samples=gen:ramp:8",
                           "smooth=null", "--device=cuda", NULL};
    struct program_run run = program_run(x->arena, x->piperun, words);
    bool is_there = run.status == EXIT_DONE;
    const char *problem = problem_copy(x->arena, run.text);
    if (strncmp(problem, head, sizeof head - 1) == 0) problem += sizeof head - 1;
    add_finding(x, "cuda", false, is_there,
                is_there ? "a pipeline compiles and runs on an NVIDIA GPU"
                         : arena_printf(x->arena, "runs pipelines on an NVIDIA GPU: %.*s",
                                        (int)strcspn(problem, ";"), problem));
    list_gpus(x);
}

/* ---- what is optional ---- */

static void examine_library(struct examination *x, const char *name, const char *file,
                            const char *purpose)
{
    void *library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
    add_finding(x, name, false, library != NULL,
                library != NULL ? file : arena_printf(x->arena, "%s", purpose));
    if (library != NULL) dlclose(library);
}

static void examine_program(struct examination *x, const char *name, const char *option,
                            const char *purpose)
{
    const char *words[] = {name, option, NULL};
    struct program_run run = program_run(x->arena, name, words);
    bool is_there = run.status == EXIT_DONE;
    add_finding(x, name, false, is_there, is_there ? first_line_copy(x->arena, run.text) : purpose);
}

static void examine_libpipert(struct examination *x)
{
    const char *words[] = {"pkg-config", "--modversion", "pipert", NULL};
    struct program_run run = program_run(x->arena, "pkg-config", words);
    bool is_there = run.status == EXIT_DONE;
    add_finding(x, "libpipert", false, is_there,
                is_there ? first_line_copy(x->arena, run.text)
                         : "runs pipelines in programs; pkg-config does not find it: 'make "
                           "install', or install the package libpipert-dev");
}

static void examine_options(struct examination *x)
{
    examine_library(x, "sndfile", "libsndfile.so.1",
                    "reads and writes flac, ogg and aiff: install the package libsndfile1");
    examine_library(x, "asound", "libasound.so.2",
                    "live sound in and out of piperun: install the package libasound2");
    examine_library(x, "microhttpd", HTTP_LIBRARY,
                    "serves the page of 'pipec edit': install the package libmicrohttpd12");
    examine_program(
        x, "dot", "-V",
        "draws the text of 'pipec graph' in other forms than svg: install the package graphviz");
    examine_program(x, "cc", "--version",
                    "compiles extern kernels and programs that embed pipelines: install the "
                    "package gcc");
    examine_program(x, "pkg-config", "--version",
                    "finds libpipert for a C compiler: install the package pkgconf");
    examine_libpipert(x);
}

/* ---- the report ---- */

static bool is_well(const struct examination *x)
{
    for (size_t i = 0; i < x->findings.count; i++)
        if (x->findings.items[i].is_needed && !x->findings.items[i].is_there) return false;
    return true;
}

static void print_findings_text(const struct examination *x)
{
    printf("pipec %s, LLVM %d\n\n", PIPEC_VERSION, PIPEC_LLVM_MAJOR);
    for (size_t i = 0; i < x->findings.count; i++) {
        const struct finding *finding = &x->findings.items[i];
        const char *word = finding->is_there ? "ok" : finding->is_needed ? "WRONG" : "missing";
        printf("%-8s %-11s %s\n", word, finding->name, finding->text);
    }
    fputs("\npipec compiles for", stdout);
    for (const struct embedded_file *file = embedded_device_files; file->name != NULL; file++)
        printf("%s %s", file == embedded_device_files ? "" : ",", file->name);
    puts(", and for descriptions of your own (--device FILE.dev)");
    puts(is_well(x) ? "\nAll that is needed works." : "\nSomething that is needed does not work.");
}

static void print_findings_json(const struct examination *x)
{
    struct json json = {.to = stdout};
    json_begin(&json, NULL, '{');
    json_number(&json, "version", 1);
    json_text(&json, "tool", "pipec " PIPEC_VERSION);
    json_boolean(&json, "works", is_well(x));
    json_begin(&json, "findings", '[');
    for (size_t i = 0; i < x->findings.count; i++) {
        const struct finding *finding = &x->findings.items[i];
        json_begin_line(&json, NULL, '{');
        json_text(&json, "name", finding->name);
        json_boolean(&json, "there", finding->is_there);
        json_boolean(&json, "needed", finding->is_needed);
        json_text(&json, "text", finding->text);
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_begin(&json, "devices", '[');
    for (const struct embedded_file *file = embedded_device_files; file->name != NULL; file++)
        json_text(&json, NULL, file->name);
    json_end(&json, ']');
    json_end(&json, '}');
}

/* ---- the pipeline that is tried ---- */

static bool write_source(struct examination *x)
{
    const struct embedded_file *start = embedded_start_files;
    char *folder = arena_printf(x->arena, "%s/pipec-doctor-XXXXXX",
                                getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
    while (strcmp(start->name, "numbers") != 0)
        start++;
    if (!cleanup_make_folder(folder)) return false;
    x->folder = folder;
    x->source = arena_printf(x->arena, "%s/doctor.pipe", folder);
    FILE *file = fopen(x->source, "w");
    if (file == NULL) return false;
    bool written = fwrite(start->bytes, 1, start->size, file) == start->size;
    return fclose(file) == 0 && written;
}

static int examine_machine(struct arena *arena, bool as_json)
{
    struct examination x = {.arena = arena, .piperun = piperun_path(arena, NULL)};
    if (!write_source(&x))
        return file_failure("write", x.source != NULL ? x.source : "a temporary folder");
    examine_piperun(&x);
    examine_llvm(&x);
    examine_linker(&x);
    examine_device(&x, "sim16", "a simulated GPU: a pipeline compiles and runs");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    examine_device(
        &x, "cpu",
        arena_printf(arena, "%s: a pipeline compiles and runs",
                     arena_counted(arena, cores > 0 ? (uint64_t)cores : 1, "processor")));
    examine_gpu(&x);
    examine_options(&x);
    if (as_json)
        print_findings_json(&x);
    else
        print_findings_text(&x);
    cleanup_remove(x.folder);
    int status = standard_output_status();
    return status == EXIT_DONE && !is_well(&x) ? EXIT_REFUSED : status;
}

int command_doctor(int argc, char **argv)
{
    bool as_json = false;
    for (int i = 1; i < argc; i++) {
        if (command_line_answer(argv[i], help_text)) return standard_output_status();
        if (strcmp(argv[i], "--json") == 0) {
            as_json = true;
            continue;
        }
        fprintf(stderr,
                "pipec: error: unknown %s '%s'\n"
                "pipec: 'pipec doctor --help' lists the options\n",
                argv[i][0] == '-' ? "option" : "argument", argv[i]);
        return EXIT_FILES;
    }
    struct arena *arena = arena_create();
    cleanup_install();
    int status = examine_machine(arena, as_json);
    arena_destroy(arena);
    return status;
}
