/* SPDX-License-Identifier: MIT */
/* pipec explain: the rules, and the items of the library. */
#include <stdio.h>
#include <string.h>

#include "compiler/driver/command_line.h"
#include "compiler/commands/command_explain.h"
#include "compiler/commands/commands.h"
#include "compiler/driver/driver_files.h"
#include "base/terminal_text.h"
#include "base/arena.h"
#include "compiler/diagnostics/rule_page.h"
#include "base/nearest.h"
#include "base/words.h"

static const char help_text[] =
    "usage: pipec explain ID...                what a rule means, with a failing and a fixed "
    "example\n"
    "       pipec explain GROUP...             the rules of a group, such as rate or performance\n"
    "       pipec explain --list               every rule: level, group, one line\n"
    "       pipec explain std/FILE             the items of a file of the library\n"
    "       pipec explain std/FILE.ITEM...     one item: its parameters, results and effect\n"
    "       pipec explain ITEM...              the same, in whatever file of the library it is\n"
    "       pipec explain std                  the files of the library\n"
    "\n"
    "  --list                all rules\n"
    "  --format=text|json|man  text is the default; man: of rules, a page for mandoc\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec explain deadlock\n"
    "  $ pipec explain std/dsp\n"
    "  $ pipec explain --list\n"
    "\n"
    "Exit status: 0 done, 2 there is no such rule or item.\n";

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_MAN };

struct request {
    enum format format;
    bool list;
    const char **names;
    size_t name_count;
};

static bool refuse_argument(const char *what, const char *argument)
{
    fprintf(stderr, "pipec: error: %s '%s'\npipec: 'pipec explain --help' lists the options\n",
            what, argument);
    return false;
}

static bool take_explain_format(struct request *request, const char *name)
{
    static const char *const names[] = {"text", "json", "man"};
    size_t format = WORD_INDEX(name, names);
    if (format == sizeof names / sizeof *names)
        return refuse_argument("the formats are text, json and man, not", name);
    request->format = (enum format)format;
    return true;
}

static bool read_request(struct request *request, struct arena *arena, int argc, char **argv)
{
    static const char format[] = "--format=";
    request->names = ARENA_ARRAY(arena, const char *, (size_t)argc);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], format, sizeof format - 1) == 0) {
            if (!take_explain_format(request, argv[i] + sizeof format - 1)) return false;
        } else if (strcmp(argv[i], "--list") == 0) {
            request->list = true;
        } else if (argv[i][0] == '-') {
            return refuse_argument("unknown option", argv[i]);
        } else {
            request->names[request->name_count++] = argv[i];
        }
    }
    if (request->list == (request->name_count > 0))
        return refuse_argument("what is to be explained: a rule, or", "--list");
    return true;
}

static bool is_group(const char *name)
{
    for (int i = 0; i < RULE_COUNT; i++)
        if (strcmp(rule_group((enum rule)i), name) == 0) return true;
    return false;
}

static int report_unknown(struct arena *arena, const char *id)
{
    struct explain_names names = {0};
    for (int i = 0; i < RULE_COUNT; i++)
        vec_push(arena, &names.of, rule_id((enum rule)i));
    explain_item_names(arena, &names);
    const char *nearest = nearest_name(id, names.of.items, names.of.count);
    fputs("pipec: error: there is no rule and no item of the library '", stderr);
    terminal_text_print(stderr, id);
    if (nearest != NULL)
        fprintf(stderr, "'; did you mean '%s'?\n", nearest);
    else
        fputs("'; 'pipec explain --list' lists rules, 'pipec explain std' the library\n", stderr);
    return EXIT_FILES;
}

/* Adds the rule, or the rules of the group, with this name. False: neither exists. */
static bool add_rules(const char *name, enum rule *rules, size_t *count)
{
    size_t before = *count;
    enum rule rule = rule_find(name);
    if (rule != RULE_COUNT) rules[(*count)++] = rule;
    for (int i = 0; rule == RULE_COUNT && i < RULE_COUNT; i++)
        if (strcmp(rule_group((enum rule)i), name) == 0) rules[(*count)++] = (enum rule)i;
    return *count > before;
}

static int find_rules(struct arena *arena, const struct request *request, enum rule *rules,
                      size_t *count)
{
    for (size_t i = 0; i < request->name_count; i++)
        if (!add_rules(request->names[i], rules, count))
            return report_unknown(arena, request->names[i]);
    for (int i = 0; request->list && i < RULE_COUNT; i++)
        rules[(*count)++] = (enum rule)i;
    return EXIT_DONE;
}

/* True for a list with one line per rule: all rules, or only groups. */
static bool is_list(const struct request *request)
{
    for (size_t i = 0; i < request->name_count; i++)
        if (rule_find(request->names[i]) != RULE_COUNT) return false;
    return true;
}

static int explain_request(struct arena *arena, const struct request *request)
{
    enum rule *rules = ARENA_ARRAY(arena, enum rule, (request->name_count + 1) * RULE_COUNT);
    size_t count = 0;
    /* The number of names that are items of the library, not rules. */
    size_t items = 0;
    for (size_t i = 0; i < request->name_count; i++)
        items += rule_find(request->names[i]) == RULE_COUNT && !is_group(request->names[i]) &&
                 explain_is_library(request->names[i]);
    if (items > 0 && items < request->name_count) {
        fputs("pipec: error: rules and items of the library are explained one kind at a time\n",
              stderr);
        return EXIT_FILES;
    }
    if (items > 0)
        return explain_library(stdout, request->names, items, request->format == FORMAT_JSON);
    int status = find_rules(arena, request, rules, &count);
    if (status != EXIT_DONE) return status;
    switch (request->format) {
    case FORMAT_JSON: explain_json(stdout, arena, rules, count); break;
    case FORMAT_MAN: explain_man(stdout, arena, rules, count); break;
    case FORMAT_TEXT:
        if (is_list(request))
            explain_list(stdout, rules, count);
        else
            explain_text(stdout, arena, rules, count);
        break;
    }
    return EXIT_DONE;
}

int command_explain(int argc, char **argv)
{
    struct request request = {0};
    for (int i = 1; i < argc; i++)
        if (command_line_answer(argv[i], help_text)) return standard_output_status();
    struct arena *arena = arena_create();
    int status = EXIT_FILES;
    if (read_request(&request, arena, argc, argv)) status = explain_request(arena, &request);
    int written = standard_output_status();
    arena_destroy(arena);
    return written == EXIT_DONE ? status : written;
}
