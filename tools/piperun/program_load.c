/* SPDX-License-Identifier: MIT */
#include "tools/piperun/program_load.h"

#include "lang/devdesc.h"
#include "tools/piperun/message.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool prt_is_source(const char *path)
{
    return ends_with(path, ".pipe") || ends_with(path, ".cmds");
}

/* The pipec beside this program, else the one on the PATH. */
static void find_compiler(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size);
    if (length > 0 && (size_t)length < size) {
        path[length] = '\0';
        char *slash = strrchr(path, '/');
        if (slash != NULL && (size_t)(slash - path) + sizeof "/pipec" <= size) {
            memcpy(slash, "/pipec", sizeof "/pipec");
            if (access(path, X_OK) == 0) return;
        }
    }
    snprintf(path, size, "pipec");
}

/* `pipec --device D --march=native --debug-mode -p P -D NAME=VALUE... -o - -- FILE`; NULL without memory. */
static const char **compiler_arguments(const struct prt_command *command, const char *compiler)
{
    const char **arguments = calloc(12 + 2 * command->definition_count, sizeof *arguments);
    const char *device = command->device;
    size_t count = 0;
    uint32_t cores;
    if (arguments == NULL) return NULL;
    arguments[count++] = compiler;
    if (device != NULL && strcmp(device, "null") != 0) {
        arguments[count++] = "--device";
        arguments[count++] = strncmp(device, "sim:", 4) == 0 ? device + 4 : device;
    }
    /* Code for the host's own cores may use all their instructions. */
    if (device != NULL && devdesc_host_cores(device, &cores)) arguments[count++] = "--march=native";
    if (command->debug) arguments[count++] = "--debug-mode";
    if (command->pipeline != NULL) {
        arguments[count++] = "-p";
        arguments[count++] = command->pipeline;
    }
    for (size_t i = 0; i < command->definition_count; i++) {
        if (command->definitions[i].value[0] == '@')
            continue; /* a file is read when the run begins */
        arguments[count++] = "-D";
        arguments[count++] = command->definitions[i].text;
    }
    arguments[count++] = "-o";
    arguments[count++] = "-";
    arguments[count++] = "--";
    arguments[count] = command->file;
    return arguments;
}

/* In the child: becomes the compiler, which ends with piperun. */
static void become_compiler(const char *const *arguments, int to)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    signal(SIGPIPE, SIG_DFL);
    dup2(to, STDOUT_FILENO);
    execvp(arguments[0], (char *const *)arguments);
    prt_say_error("cannot run '%s': %s", arguments[0], strerror(errno));
    _exit(EXIT_USAGE);
}

/* Runs pipec with `to` as its standard output; its exit code. */
static int run_compiler(const struct prt_command *command, int to)
{
    char compiler[4096];
    int status;
    find_compiler(compiler, sizeof compiler);
    const char **arguments = compiler_arguments(command, compiler);
    if (arguments == NULL) return prt_complain_memory();
    fflush(NULL);
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, the child would leave no status */
    pid_t child = fork();
    if (child == 0) become_compiler(arguments, to);
    free(arguments);
    if (child < 0) return PRT_COMPLAIN(EXIT_USAGE, "cannot start pipec: %s", strerror(errno));
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return PRT_COMPLAIN(EXIT_INTERNAL, "cannot wait for pipec: %s", strerror(errno));
    }
    if (!WIFEXITED(status))
        return PRT_COMPLAIN(EXIT_INTERNAL, "pipec was ended by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == EXIT_DONE)
        prt_say_done("compiled '%s' with '%s'", command->file, compiler);
    return WEXITSTATUS(status);
}

/* Messages about the container name the source: it is the file that the user knows. */
static int load_compiled(const char *source, int file, struct prt_program **program)
{
    struct prt_error error;
    struct stat info;
    if (fstat(file, &info) != 0 || info.st_size <= 0)
        return PRT_COMPLAIN(EXIT_INTERNAL, "%s: pipec has written no container", source);
    void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) return prt_complain_memory();
    enum prt_status status = prt_program_load_memory(bytes, (size_t)info.st_size, program, &error);
    munmap(bytes, (size_t)info.st_size);
    if (status == PRT_OK) return EXIT_DONE;
    return PRT_COMPLAIN(prt_status_exit_code(status), "%s: %s", source, error.message);
}

/* Compiles into a file in memory: nothing to remove afterwards. */
static int load_source(const struct prt_command *command, struct prt_program **program)
{
    int file = memfd_create("piperun-program", MFD_CLOEXEC);
    if (file < 0) return PRT_COMPLAIN(EXIT_USAGE, "no memory file: %s", strerror(errno));
    int exit_code = run_compiler(command, file);
    if (exit_code == EXIT_DONE) exit_code = load_compiled(command->file, file, program);
    close(file);
    return exit_code;
}

static int load_program(const struct prt_command *command, struct prt_program **program)
{
    struct prt_error error;
    if (prt_is_source(command->file)) return load_source(command, program);
    if (command->pipeline != NULL)
        return PRT_COMPLAIN(EXIT_USAGE, "-p %s: '%s' is compiled already: pipec -p chooses",
                            command->pipeline, command->file);
    if (prt_program_load_file(command->file, program, &error) == PRT_OK) return EXIT_DONE;
    return prt_complain_status(&error);
}

int prt_command_load(const struct prt_command *command, struct prt_program **program)
{
    int exit_code = load_program(command, program);
    for (size_t i = 0; exit_code == EXIT_DONE && i < command->library_count; i++)
        prt_program_allow_library(*program, command->libraries[i]);
    return exit_code;
}
