/* SPDX-License-Identifier: MIT */
/* pipec help: the help of a command, a topic, or all that `pipec explain` explains. */
#include <stdio.h>
#include <string.h>

#include "compiler/commands/command_explain.h"
#include "compiler/commands/commands.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/driver_files.h"
#include "base/nearest.h"
#include "base/terminal_text.h"
#include "lang/embedded.h"

static const char help_text[] = "usage: pipec help [TOPIC]\n"
                                "\n"
                                "  TOPIC                 a command, a topic of 'pipec help', a "
                                "rule such as deadlock, an item of\n"
                                "                        the library such as fir_lowpass\n"
                                "  -h, --help, --version[=json]  this text; the version\n"
                                "\n"
                                "examples:\n"
                                "  $ pipec help\n"
                                "  $ pipec help rates\n"
                                "  $ pipec help graph\n"
                                "  $ pipec help deadlock\n"
                                "\n"
                                "Exit status: 0 done, 2 there is no such topic.\n";

static const struct embedded_file *topic_find(const char *name)
{
    const struct embedded_file *file = embedded_topic_files;
    while (file->name != NULL && strcmp(file->name, name) != 0)
        file++;
    return file->name != NULL ? file : NULL;
}

/* The topics in the order in which a reader needs them. */
static void print_topics(FILE *to)
{
    static const char *const names[] = {"start",    "language", "ports", "rates",
                                        "feedback", "views",    "speed", "wrong"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = (const char *)topic_find(names[i])->bytes;
        fprintf(to, "  %-20s  %.*s\n", names[i], (int)strcspn(text, "\n"), text);
    }
}

static void print_overview(FILE *to)
{
    fputs("pipec compiles stream pipelines, and piperun runs them.\n"
          "\n"
          "commands ('pipec help COMMAND' has the options and examples)\n"
          "  new FILE.pipe         write a small pipeline to begin with\n"
          "  run FILE.pipe ...     compile and run\n"
          "  FILE.pipe -o F.pbc    compile; without -o only check\n"
          "  test FILE.pipe        run the test blocks\n"
          "  bench FILE.pipe       time each stage on this machine's devices, and compare\n"
          "  graph FILE.pipe       the shape: nodes and buffers, for a picture\n"
          "  inspect FILE.pipe     the proofs and the plan: rates, depths and why, memory, speed\n"
          "  edit FILE.pipe        a graphical editor in the browser, which writes the source\n"
          "  report FILE.pipe      a page about the program and a run of it\n"
          "  --emit=KIND FILE.pipe what a step of the compiler made: ast, llvm, asm, sched, ...\n"
          "  fmt, lint PATH...     the one layout of sources; code that is probably a mistake\n"
          "  lsp                   a language server for editors\n"
          "  explain NAME          a rule, or an item of the library\n"
          "  complete SHELL        the script that completes command lines in bash, zsh or fish\n"
          "  doctor                what is installed, which devices there are, what is missing\n"
          "\n"
          "topics ('pipec help TOPIC')\n",
          to);
    print_topics(to);
}

static bool is_explained(const char *name)
{
    bool explained = rule_find(name) != RULE_COUNT || explain_is_library(name);
    for (int i = 0; i < RULE_COUNT && !explained; i++)
        explained = strcmp(rule_group((enum rule)i), name) == 0;
    return explained;
}

static int report_unknown_topic(const char *name)
{
    struct arena *arena = arena_create();
    struct explain_names names = {0};
    for (size_t i = 0; command_name(i) != NULL; i++)
        vec_push(arena, &names.of, command_name(i));
    for (const struct embedded_file *file = embedded_topic_files; file->name != NULL; file++)
        vec_push(arena, &names.of, file->name);
    for (int i = 0; i < RULE_COUNT; i++)
        vec_push(arena, &names.of, rule_id((enum rule)i));
    explain_item_names(arena, &names);
    const char *nearest = nearest_name(name, names.of.items, names.of.count);
    fputs("pipec: error: there is no help on '", stderr);
    terminal_text_print(stderr, name);
    if (nearest != NULL)
        fprintf(stderr, "'; did you mean '%s'?\n", nearest);
    else
        fputs("'; 'pipec help' lists the topics\n", stderr);
    arena_destroy(arena);
    return EXIT_FILES;
}

static int help_on(char *name)
{
    char *of_command[] = {name, "--help", NULL}, *of_explain[] = {"explain", name, NULL};
    const struct command *command = command_find(name);
    const struct embedded_file *topic = topic_find(name);
    if (command != NULL) return command->run(2, of_command);
    if (topic == NULL && is_explained(name)) return command_explain(2, of_explain);
    if (topic == NULL && strcmp(name, "inspect") != 0) return report_unknown_topic(name);
    if (topic != NULL)
        fputs((const char *)topic->bytes, stdout);
    else
        fputs(command_line_inspect_help, stdout);
    return standard_output_status();
}

int command_help(int argc, char **argv)
{
    if (argc > 2) {
        fputs("pipec: error: help is shown on one topic at a time\n", stderr);
        return EXIT_FILES;
    }
    char *name = argc > 1 ? argv[1] : NULL;
    if (name == NULL) {
        print_overview(stdout);
    } else if (name[0] != '-') {
        return help_on(name);
    } else if (!command_line_answer(name, help_text)) {
        fprintf(stderr,
                "pipec: error: unknown option '%s'\n"
                "pipec: 'pipec help --help' lists the options\n",
                name);
        return EXIT_FILES;
    }
    return standard_output_status();
}
