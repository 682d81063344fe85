/* SPDX-License-Identifier: MIT */
#include "tools/piperun/program_text.h"

#include "lang/devdesc.h"
#include "base/file_open.h"
#include "base/nearest.h"
#include "base/plural.h"
#include "lang/sched_code.h"
#include "tools/piperun/io/stream.h"
#include "runtime/load/image.h"
#include "runtime/load/reader.h"
#include "runtime/load/rewrite.h"
#include "runtime/load/stage_listing.h"
#include "runtime/verify/verify.h"
#include "tools/piperun/program_load.h"
#include "tools/piperun/message.h"
#include "tools/piperun/run_ports.h"
#include "tools/piperun/signals.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char verify_text[] =
    "usage: piperun verify FILE.pbc\n"
    "\n"
    "Proves again, from the container only, that rates balance, that no deadlock is possible, "
    "that "
    "no buffer under- or\n"
    "overflows and that the scheduler's program ends, and prints what has been proven.  Checks the "
    "images, too,\n"
    "and executes nothing of them.\n"
    "\n"
    "examples:\n"
    "  $ pipec smooth.pipe -o smooth.pbc\n"
    "  $ piperun verify smooth.pbc\n"
    "\n"
    "Exit status: 0, 1 where the container is refused, 2 usage or files.\n";

static const char disasm_text[] =
    "usage: piperun disasm FILE.pbc\n"
    "\n"
    "Prints the scheduler's program of a container as text, which 'piperun asm' reads.\n"
    "\n"
    "examples:\n"
    "  $ pipec smooth.pipe -o smooth.pbc\n"
    "  $ piperun disasm smooth.pbc > smooth.sasm\n"
    "\n"
    "Exit status: 0, 1 where the container is refused, 2 usage or files.\n";

static const char asm_text[] =
    "usage: piperun asm FILE.sasm [--into FILE.pbc] -o OUT.pbc\n"
    "\n"
    "Writes a copy of a container with another scheduler program, if it passes the checks of "
    "'piperun "
    "verify'.\n"
    "\n"
    "  FILE.sasm             the program as text, as 'piperun disasm' prints it; '-' is standard "
    "input\n"
    "  --into FILE.pbc       the container to copy; default: what -o names, which is then "
    "replaced\n"
    "  -o OUT.pbc            where the copy goes; '-' is standard output\n"
    "\n"
    "examples:\n"
    "  $ pipec smooth.pipe -o smooth.pbc\n"
    "  $ piperun disasm smooth.pbc > smooth.sasm\n"
    "  $ piperun asm smooth.sasm --into smooth.pbc -o changed.pbc\n"
    "\n"
    "Exit status: 0, 1 where the program or the container is refused, 2 usage or files.\n";

/* Prints the text if -h or --help is among the options. */
static bool has_been_helped(int argc, char **argv, const char *text)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "-h") != 0 && strcmp(argv[i], "--help") != 0) continue;
        fputs(text, stdout);
        return true;
    }
    return false;
}

static int read_container(const char *path, struct prt_container *container)
{
    struct prt_error error;
    enum prt_status status = prt_container_read_file(path, container, &error);
    if (status == PRT_OK) return EXIT_DONE;
    if (status == PRT_E_FORMAT && prt_is_source(path))
        return PRT_COMPLAIN(EXIT_REFUSED,
                            "%s: this is a source, no container: 'pipec %s -o FILE.pbc' makes one",
                            path, path);
    return prt_complain_status(&error);
}

/* `piperun WORD FILE.pbc` */
static const char *only_operand(int argc, char **argv)
{
    if (argc == 2 && argv[1][0] != '-') return argv[1];
    prt_say_error("usage: piperun %s FILE.pbc (piperun %s --help)", argv[0], argv[0]);
    return NULL;
}

/* The description of its target, if the container embeds one. */
static bool find_device(const struct prt_container *c, struct devdesc *device)
{
    return devdesc_builtin(prt_container_text(c, c->device->name), device) &&
           devdesc_hash(device) == c->device->description_hash;
}

/* The container by itself, for its device, and the images; nothing is executed. */
static enum prt_status verify_program_text(const struct prt_container *container,
                                           struct prt_proof *proof, struct prt_error *error)
{
    struct devdesc device;
    enum prt_status status = prt_verify_prove(container, proof, error);
    if (status == PRT_OK && find_device(container, &device))
        status = prt_verify_device(container, &device, error);
    return status == PRT_OK ? prt_image_verify_all(container, error) : status;
}

/* Prints the proof in a few words. */
static void tell_proof(const char *path, const struct prt_container *container,
                       const struct prt_proof *proof)
{
    printf("%s: %" PRIu32 " stage%s, %" PRIu32 " buffer%s: rates balance, %s\n", path,
           container->stage_count, plural(container->stage_count), container->buffer_count,
           plural(container->buffer_count),
           container->pipeline->flags & CONTAINER_PIPELINE_UNPROVEN
               ? "its author accepts that it may stall"
           : container->pipeline->flags & CONTAINER_PIPELINE_COUNTEREXAMPLE
               ? "it is the counterexample of a stall"
               : "no deadlock is possible");
    printf("%s: %" PRIu32 " instruction%s: %" PRIu32 " of %" PRIu32
           " stage%s run by a static schedule (%" PRIu32 " run%s of firings), %" PRIu32
           " guard%s can hold; no buffer under- or overflows, the program ends\n",
           path, proof->instructions, plural(proof->instructions), proof->static_stages,
           proof->stages, proof->stages == 1 ? " is" : "s are", proof->runs, plural(proof->runs),
           proof->guards, plural(proof->guards));
    struct devdesc device;
    printf("%s: %s '%s'\n", path,
           find_device(container, &device)
               ? "memory, reference entries and sub-devices are within those of"
               : "memory, reference entries and sub-devices are compared when it is run on",
           prt_container_text(container, container->device->name));
    printf("%s: %" PRIu64 " of %" PRIu64 " step%s of work\n", path, proof->work, proof->work_limit,
           plural(proof->work_limit));
}

int prt_command_verify(int argc, char **argv)
{
    struct prt_container container;
    struct prt_error error;
    if (has_been_helped(argc, argv, verify_text)) return EXIT_DONE;
    const char *path = only_operand(argc, argv);
    if (path == NULL) return EXIT_USAGE;
    int exit_code = read_container(path, &container);
    if (exit_code != EXIT_DONE) return exit_code;
    struct prt_proof proof;
    if (verify_program_text(&container, &proof, &error) != PRT_OK)
        exit_code = PRT_COMPLAIN(prt_status_exit_code(error.status), "%s: %s", path, error.message);
    else
        tell_proof(path, &container, &proof);
    prt_container_free(&container);
    return exit_code;
}

/* An invalid container is disassembled all the same, without the names of its numbers. */
static int print_disassembly(const struct prt_container *container, const char *path)
{
    struct sched_error error;
    struct prt_error unheard;
    struct sched_set *sets = calloc((size_t)container->set_count + 1, sizeof *sets);
    if (sets == NULL) return prt_complain_memory();
    for (uint32_t i = 0; i < container->set_count; i++)
        sets[i] = (struct sched_set){(uint32_t *)(uintptr_t)container->sets[i].stages,
                                     container->sets[i].count};
    const struct sched_program program = {container->stage_count, sets, container->set_count,
                                          (uint8_t *)(uintptr_t)container->code,
                                          container->code_bytes};
    if (prt_verify_graph(container, &unheard) == PRT_OK) prt_stage_listing(stdout, container);
    bool done = sched_disassemble(stdout, &program, &error);
    free(sets);
    if (!done) return PRT_COMPLAIN(EXIT_REFUSED, "%s: %s", path, error.message);
    return EXIT_DONE;
}

int prt_command_disasm(int argc, char **argv)
{
    struct prt_container container;
    if (has_been_helped(argc, argv, disasm_text)) return EXIT_DONE;
    const char *path = only_operand(argc, argv);
    if (path == NULL) return EXIT_USAGE;
    int exit_code = read_container(path, &container);
    if (exit_code != EXIT_DONE) return exit_code;
    exit_code = print_disassembly(&container, path);
    prt_container_free(&container);
    return exit_code;
}

struct assembly {
    const char *text_path, *into, *out;
    char *text;
    size_t text_bytes;
};

static int refuse_option(int option, char **argv, const struct option *options)
{
    const char *word = unknown_option(argv), *meant = nearest_option(word, options);
    if (option == ':')
        return PRT_COMPLAIN(EXIT_USAGE, "%s: an argument is missing", argv[optind - 1]);
    if (meant != NULL)
        return PRT_COMPLAIN(EXIT_USAGE, "unknown option '%s'; did you mean '--%s'?", word, meant);
    return PRT_COMPLAIN(EXIT_USAGE, "unknown option '%s' (piperun asm --help)", word);
}

static int read_assembly(int argc, char **argv, struct assembly *assembly)
{
    static const struct option assembly_options[] = {{"into", required_argument, NULL, 'i'},
                                                     {NULL, 0, NULL, 0}};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:", assembly_options, NULL)) != -1) {
        if (option == 'i')
            assembly->into = optarg;
        else if (option == 'o')
            assembly->out = optarg;
        else
            return refuse_option(option, argv, assembly_options);
    }
    if (optind + 1 == argc) assembly->text_path = argv[optind];
    if (assembly->into == NULL && assembly->out != NULL && strcmp(assembly->out, "-") != 0)
        assembly->into = assembly->out;
    if (assembly->text_path == NULL || assembly->into == NULL || assembly->out == NULL)
        return PRT_COMPLAIN(
            EXIT_USAGE,
            "usage: piperun asm FILE.sasm [--into FILE.pbc] -o OUT.pbc (piperun asm --help)");
    bool over = strcmp(assembly->text_path, "-") != 0 && strcmp(assembly->out, "-") != 0 &&
                prt_ports_share(assembly->out, assembly->text_path, PRT_PORT_OUT);
    if (over) return PRT_COMPLAIN(EXIT_USAGE, "asm: '%s' is the text that is read", assembly->out);
    return EXIT_DONE;
}

static int read_program_text(const char *path, char **text, size_t *size)
{
    enum { TEXT_BYTES_MAX = 256 << 20 };
    FILE *file = strcmp(path, "-") == 0 ? stdin : file_open_input_stream(path);
    if (file == NULL) return PRT_COMPLAIN(EXIT_USAGE, "%s: %s", path, file_error_text(errno));
    size_t capacity = 1 << 16;
    *size = 0;
    *text = malloc(capacity);
    while (*text != NULL) {
        *size += fread(*text + *size, 1, capacity - *size, file);
        if (*size < capacity || capacity >= TEXT_BYTES_MAX) break;
        char *larger = realloc(*text, capacity *= 2);
        if (larger == NULL) free(*text);
        *text = larger;
    }
    bool failed = ferror(file) != 0;
    int why = errno;
    if (file != stdin) fclose(file);
    if (*text == NULL) return prt_complain_memory();
    if (failed) return PRT_COMPLAIN(EXIT_USAGE, "%s: %s", path, strerror(why));
    if (*size >= TEXT_BYTES_MAX) return PRT_COMPLAIN(EXIT_REFUSED, "%s: larger than 256 MiB", path);
    return EXIT_DONE;
}

/* Writes the whole file or none, as every output; a signal leaves no temporary. */
static int write_bytes(const char *path, const void *bytes, size_t size)
{
    struct prt_error error;
    struct prt_sink *sink = NULL;
    struct prt_port_spec spec = {.path = (char *)(uintptr_t)path, .format = PRT_FORMAT_RAW};
    struct prt_io_environment environment = {.interrupt_fd = -1, .no_named_pipes = true};
    if (prt_temporaries_create(&environment.temporaries) != PRT_OK) return prt_complain_memory();
    prt_signals_install();
    prt_signals_guard(environment.temporaries, -1);
    enum prt_status status = prt_sink_open(&spec, SCALAR_U8, &environment, &sink, &error);
    if (status == PRT_OK) status = prt_sink_write(sink, bytes, size, &error);
    if (status == PRT_OK) status = prt_sink_finish(sink, &error);
    prt_signals_end();
    prt_sink_close(sink);
    prt_temporaries_destroy(environment.temporaries);
    return status == PRT_OK ? EXIT_DONE : prt_complain_status(&error);
}

/* Reports the error of the reader or the verifier for the container with the new program; if it is
 * about an instruction, with its line in the text. */
static int complain_program(const struct assembly *assembly, const struct prt_container *changed,
                            const struct prt_error *error)
{
    uint64_t base = changed->section_offset_bytes[CONTAINER_PROGRAM];
    uint32_t line = 0;
    if (changed->code_bytes > 0 && error->offset != PRT_NO_OFFSET && error->offset >= base &&
        error->offset - base < changed->code_bytes)
        line =
            sched_line_at(assembly->text, assembly->text_bytes, (uint32_t)(error->offset - base));
    int exit_code = prt_status_exit_code(error->status);
    if (line == 0) return PRT_COMPLAIN(exit_code, "%s: %s", assembly->text_path, error->message);
    return PRT_COMPLAIN(exit_code, "%s:%" PRIu32 ": %s", assembly->text_path, line, error->message);
}

/* Reads and verifies the new container. */
static int check_program(const struct assembly *assembly, const uint8_t *bytes, size_t size)
{
    struct prt_container changed = {.bytes = NULL};
    struct prt_proof proof;
    struct prt_error error;
    if (prt_container_read_memory(bytes, size, &changed, &error) != PRT_OK)
        return PRT_COMPLAIN(prt_status_exit_code(error.status), "%s: %s", assembly->into,
                            error.message);
    int exit_code = EXIT_DONE;
    if (verify_program_text(&changed, &proof, &error) != PRT_OK)
        exit_code = complain_program(assembly, &changed, &error);
    prt_container_free(&changed);
    return exit_code;
}

static int replace_program(const struct assembly *assembly, const struct sched_program *program)
{
    struct prt_container container;
    struct prt_error error;
    uint8_t *bytes = NULL;
    size_t size = 0;
    int exit_code = read_container(assembly->into, &container);
    if (exit_code != EXIT_DONE) return exit_code;
    enum prt_status status = prt_container_with_program(&container, program, &bytes, &size, &error);
    prt_container_free(&container);
    if (status != PRT_OK)
        return PRT_COMPLAIN(prt_status_exit_code(status), "%s: %s", assembly->text_path,
                            error.message);
    exit_code = check_program(assembly, bytes, size);
    if (exit_code == EXIT_DONE) exit_code = write_bytes(assembly->out, bytes, size);
    free(bytes);
    return exit_code;
}

static int assemble_into(const struct assembly *assembly)
{
    struct sched_program program;
    struct sched_error error;
    if (!sched_assemble(assembly->text, assembly->text_bytes, &program, &error)) {
        if (error.no_memory) return prt_complain_memory();
        return PRT_COMPLAIN(EXIT_REFUSED, "%s:%" PRIu32 ": %s", assembly->text_path, error.line,
                            error.message);
    }
    int exit_code = replace_program(assembly, &program);
    sched_program_free(&program);
    return exit_code;
}

int prt_command_asm(int argc, char **argv)
{
    struct assembly assembly = {.text = NULL};
    if (has_been_helped(argc, argv, asm_text)) return EXIT_DONE;
    int exit_code = read_assembly(argc, argv, &assembly);
    if (exit_code == EXIT_DONE)
        exit_code = read_program_text(assembly.text_path, &assembly.text, &assembly.text_bytes);
    if (exit_code == EXIT_DONE) exit_code = assemble_into(&assembly);
    free(assembly.text);
    return exit_code;
}
