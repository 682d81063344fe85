/* SPDX-License-Identifier: MIT */
#include "tools/piperun/replay_print.h"

#include "tools/piperun/message.h"

#include <inttypes.h>
#include <stdio.h>

static void show_step(void *context, const struct prt_replay_step *step)
{
    uint64_t *played = context;
    struct prt_error line; /* a name comes out escaped */
    prt_error_set(&line, PRT_OK, "%" PRIu64 ": %s, firing %" PRIu64, ++*played, step->node,
                  step->firing);
    fputs(line.message, stdout);
    for (uint32_t i = 0; i < step->level_count; i++) {
        const struct prt_replay_level *level = &step->levels[i];
        prt_error_set(&line, PRT_OK, "%s '%s' holds %" PRIu64 " of %" PRIu64, i == 0 ? ":" : ",",
                      level->buffer, level->packets, level->depth_packets);
        fputs(line.message, stdout);
    }
    putchar('\n');
}

int prt_command_replay(struct prt_session *session)
{
    struct prt_error error;
    uint64_t played = 0;
    enum prt_status status = prt_run_replay(session->run, show_step, &played, &error);
    int output_status = prt_output_status();
    if (output_status != EXIT_DONE) return output_status;
    (void)prt_complain_status(&error);
    return prt_status_exit_code(status);
}
