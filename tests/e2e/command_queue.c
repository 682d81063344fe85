/* SPDX-License-Identifier: MIT */
/* command_queue FILE DEVICE KERNEL FIRINGS PACKETS ROOM [NAME=VALUE]: executes one command.  The input is PACKETS numbers from
 * standard input; the output goes to standard output, and "FIRINGS EXECUTE END" in cycles to standard error. */
#include <pipert.h>
#include <pipert_queue.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum prt_status execute(struct prt_command_queue *queue, char **words, int32_t *x,
                               int32_t *y, struct prt_error *error)
{
    size_t count = 0;
    struct prt_command_event event;
    const struct prt_command_input in = {x, strtoul(words[5], NULL, 10)};
    const struct prt_command_output out = {y, strtoul(words[6], NULL, 10), &count};
    const struct prt_command command = {.kernel = words[3],
                                        .firings = strtoull(words[4], NULL, 10),
                                        .inputs = &in,
                                        .outputs = &out,
                                        .input_count = in.count > 0,
                                        .output_count = 1};
    char *value = words[7] != NULL ? strchr(words[7], '=') : NULL;
    enum prt_status status = PRT_OK;
    if (value != NULL) *value++ = '\0';
    if (value != NULL) status = prt_command_queue_set_argument(queue, words[7], value, error);
    if (status == PRT_OK) status = prt_command_queue_enqueue(queue, &command, &event, error);
    if (status != PRT_OK) return status;
    status = prt_command_queue_wait(queue, error);
    fwrite(y, sizeof *y, count, stdout);
    fprintf(stderr, "%llu %llu %llu\n", (unsigned long long)event.firings,
            (unsigned long long)event.execute_cycles, (unsigned long long)event.end_cycles);
    return status;
}

int main(int argc, char **argv)
{
    static int32_t x[1 << 16], y[1 << 16];
    struct prt_device_tree *tree = NULL;
    struct prt_program *program = NULL;
    struct prt_command_queue *queue = NULL;
    struct prt_error error;
    if (argc < 7 || fread(x, sizeof *x, sizeof x / sizeof *x, stdin) == 0) return 2;
    enum prt_status status = prt_program_load_file(argv[1], &program, &error);
    if (status == PRT_OK) status = prt_device_open(argv[2], NULL, NULL, &tree, NULL, &error);
    if (status == PRT_OK)
        status = prt_command_queue_create(program, tree, prt_device_tree_root(tree), NULL, &queue,
                                          &error);
    prt_device_tree_destroy(tree);
    if (status == PRT_OK) status = execute(queue, argv, x, y, &error);
    if (status != PRT_OK) fprintf(stderr, "%s\n", error.message);
    prt_command_queue_destroy(queue);
    prt_program_free(program);
    return prt_status_exit_code(status);
}
