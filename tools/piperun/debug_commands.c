/* SPDX-License-Identifier: MIT */
/* The commands of `piperun --debug` (piperun(1), "THE DEBUGGER"). */
#include "tools/piperun/debug_session.h"

#include "base/file_open.h"
#include "tools/piperun/message.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* `text`: the words after the command's name, without blanks at its ends. */
typedef void (*command_handler)(struct prt_debug_loop *loop, const char *text);

enum words { WORDS_NONE, WORDS_NAMES, WORDS_BREAK, WORDS_INFO, WORDS_COMMANDS };

struct debug_command {
    const char *name, *alias;
    command_handler handler;
    enum words words; /* the kind of words that may follow it */
    bool repeats;     /* an empty line repeats it */
    const char *arguments, *summary, *more;
};

/* ---- messages ---- */

/* Prints an error of a typed command to the terminal.  An error of a script gets its place, and the exit status is then
 * that of a failure. */
static void print_command_error(struct prt_debug_loop *loop, const char *format, ...)
    PRT_PRINTF(2, 3);

static void print_command_error(struct prt_debug_loop *loop, const char *format, ...)
{
    struct prt_error line;
    char place[300];
    va_list arguments;
    va_start(arguments, format);
    prt_error_set_va(&line, PRT_OK, PRT_NO_OFFSET, format, arguments);
    va_end(arguments);
    if (prt_lines_are_typed(loop->lines)) {
        fprintf(loop->to, "%s\n", line.message);
        return;
    }
    fflush(loop->to);
    prt_lines_place(loop->lines, place, sizeof place);
    prt_say_error("%s: %s", place, line.message);
    loop->failed = true;
}

static void complain_status(struct prt_debug_loop *loop, enum prt_status status,
                            const struct prt_error *error)
{
    if (status != PRT_OK) print_command_error(loop, "%s", error->message);
}

static bool take_debug_number(struct prt_debug_loop *loop, const char *text, uint64_t *number)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (isdigit((unsigned char)text[0]) && *end == '\0' && errno == 0) {
        *number = value;
        return true;
    }
    print_command_error(loop, "'%s' is not a number", text);
    return false;
}

/* ---- running ---- */

/* False: the run cannot go on. */
static bool resume_run(struct prt_debug_loop *loop)
{
    if (loop->stop->cause == PRT_STOP_END) {
        print_command_error(loop, "the run has ended");
        return false;
    }
    loop->begun = loop->resumed = true;
    return true;
}

static void do_run(struct prt_debug_loop *loop, const char *text)
{
    (void)text;
    if (loop->begun)
        print_command_error(loop,
                            "the run has begun: what its inputs have given does not come again; "
                            "'continue' goes on");
    else if (resume_run(loop))
        prt_debug_continue(loop->debugger);
}

static void do_start(struct prt_debug_loop *loop, const char *text)
{
    (void)text;
    if (loop->begun)
        print_command_error(loop, "the run has begun");
    else if (resume_run(loop))
        prt_debug_step(loop->debugger, 0);
}

static void do_step(struct prt_debug_loop *loop, const char *text)
{
    uint64_t count = 1;
    if (text[0] != '\0' && !take_debug_number(loop, text, &count)) return;
    if (count > 0 && resume_run(loop)) prt_debug_step(loop->debugger, count);
}

/* The stage of that name.  Without a name: the stage that fires next, or has fired last, or PRT_NONE.  False:
 * there is no such stage, and the message has been printed. */
static bool take_stage(struct prt_debug_loop *loop, const char *text, uint32_t *stage)
{
    struct prt_error error;
    *stage = loop->stop->next.stage != PRT_NONE ? loop->stop->next.stage : loop->stop->last.stage;
    if (text[0] == '\0') return true;
    enum prt_status status = prt_debug_find_stage(loop->debugger, text, stage, &error);
    complain_status(loop, status, &error);
    return status == PRT_OK;
}

static void do_next(struct prt_debug_loop *loop, const char *text)
{
    uint32_t stage;
    if (!take_stage(loop, text, &stage)) return;
    if (stage == PRT_NONE)
        do_start(loop, text);
    else if (resume_run(loop))
        prt_debug_until_stage(loop->debugger, stage);
}

static void do_continue(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    uint64_t count = 1;
    if (text[0] != '\0' && !take_debug_number(loop, text, &count)) return;
    if (count > 1 && loop->last_break == 0) {
        print_command_error(loop, "it has not stopped at a breakpoint");
        return;
    }
    if (!resume_run(loop)) return;
    if (count > 1 &&
        prt_debug_break_ignore(loop->debugger, loop->last_break, count - 1, &error) == PRT_OK)
        fprintf(loop->to, "breakpoint %" PRIu32 " is ignored %" PRIu64 " times\n", loop->last_break,
                count - 1);
    prt_debug_continue(loop->debugger);
}

static const char *behind_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(text, word, length) != 0 || (text[length] != '\0' && text[length] != ' '))
        return NULL;
    text += length;
    return text + strspn(text, " ");
}

static void do_until(struct prt_debug_loop *loop, const char *text)
{
    const char *cycle = behind_word(text, "cycle");
    uint64_t number;
    if (cycle == NULL) {
        do_next(loop, text);
        return;
    }
    if (take_debug_number(loop, cycle, &number) && resume_run(loop))
        prt_debug_until_cycle(loop->debugger, number);
}

static void do_finish(struct prt_debug_loop *loop, const char *text)
{
    uint32_t stage;
    if (!take_stage(loop, text, &stage)) return;
    if (stage == PRT_NONE)
        print_command_error(loop, "of which stage? nothing has fired");
    else if (resume_run(loop))
        prt_debug_until_end(loop->debugger, stage);
}

static void leave_debugger(struct prt_debug_loop *loop)
{
    loop->leaving = true;
    if (loop->stop->cause != PRT_STOP_END) prt_debug_kill(loop->debugger);
}

static void do_kill(struct prt_debug_loop *loop, const char *text)
{
    (void)text;
    if (loop->stop->cause == PRT_STOP_END)
        print_command_error(loop, "the run has ended");
    else
        leave_debugger(loop);
}

static void do_quit(struct prt_debug_loop *loop, const char *text)
{
    uint64_t number = 0;
    if (text[0] != '\0' && !take_debug_number(loop, text, &number)) return;
    if (text[0] != '\0') loop->exit_code = (int)(number & 0xff);
    leave_debugger(loop);
}

/* ---- breakpoints ---- */

static void say_break(struct prt_debug_loop *loop, const char *kind, uint32_t number,
                      const char *text)
{
    fprintf(loop->to, "%s %" PRIu32 ": %s\n", kind, number, text);
}

static void do_break(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    uint32_t number;
    enum prt_status status = prt_debug_break(loop->debugger, text, false, &number, &error);
    if (status == PRT_OK) say_break(loop, "Breakpoint", number, text);
    complain_status(loop, status, &error);
}

static void do_tbreak(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    uint32_t number;
    enum prt_status status = prt_debug_break(loop->debugger, text, true, &number, &error);
    if (status == PRT_OK) say_break(loop, "Temporary breakpoint", number, text);
    complain_status(loop, status, &error);
}

static void do_watch(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    uint32_t number;
    enum prt_status status = prt_debug_watch(loop->debugger, text, &number, &error);
    if (status == PRT_OK) say_break(loop, "Watchpoint", number, text);
    complain_status(loop, status, &error);
}

typedef enum prt_status (*break_deed)(struct prt_debug_loop *loop, uint32_t number,
                                      struct prt_error *error);

static enum prt_status delete_break(struct prt_debug_loop *loop, uint32_t number,
                                    struct prt_error *error)
{
    return prt_debug_break_delete(loop->debugger, number, error);
}

static enum prt_status enable_break(struct prt_debug_loop *loop, uint32_t number,
                                    struct prt_error *error)
{
    return prt_debug_break_enable(loop->debugger, number, true, error);
}

static enum prt_status disable_break(struct prt_debug_loop *loop, uint32_t number,
                                     struct prt_error *error)
{
    return prt_debug_break_enable(loop->debugger, number, false, error);
}

/* Applies `deed` to the breakpoints whose numbers follow; to all, if there is no number. */
static void do_to_breaks(struct prt_debug_loop *loop, const char *text, break_deed deed)
{
    struct prt_break_information b;
    struct prt_error error;
    uint32_t number = 0;
    if (text[0] == '\0') {
        for (uint32_t i = 0; prt_debug_break_information(loop->debugger, i, &b);) {
            number = b.number;
            if (deed(loop, number, &error) != PRT_OK) return;
            if (prt_debug_break_information(loop->debugger, i, &b) && b.number == number) i++;
        }
        return;
    }
    while (*text != '\0') {
        char word[32];
        uint64_t given;
        size_t length = strcspn(text, " ");
        snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 31), text);
        if (!take_debug_number(loop, word, &given)) return;
        complain_status(loop, deed(loop, given > UINT32_MAX ? 0 : (uint32_t)given, &error), &error);
        text += length;
        text += strspn(text, " ");
    }
}

static void do_delete(struct prt_debug_loop *loop, const char *text)
{
    do_to_breaks(loop, text, delete_break);
}

static void do_enable(struct prt_debug_loop *loop, const char *text)
{
    do_to_breaks(loop, text, enable_break);
}

static void do_disable(struct prt_debug_loop *loop, const char *text)
{
    do_to_breaks(loop, text, disable_break);
}

/* `N REST`: *rest is the text after the number. */
static bool take_break(struct prt_debug_loop *loop, const char *text, uint32_t *number,
                       const char **rest)
{
    char word[32];
    uint64_t given;
    size_t length = strcspn(text, " ");
    snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 31), text);
    if (!take_debug_number(loop, word, &given)) return false;
    *number = given > UINT32_MAX ? 0 : (uint32_t)given;
    *rest = text + length + strspn(text + length, " ");
    return true;
}

static void do_ignore(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    uint32_t number;
    uint64_t count;
    const char *rest;
    if (!take_break(loop, text, &number, &rest) || !take_debug_number(loop, rest, &count)) return;
    complain_status(loop, prt_debug_break_ignore(loop->debugger, number, count, &error), &error);
}

static void do_condition(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    uint32_t number;
    const char *rest;
    if (!take_break(loop, text, &number, &rest)) return;
    complain_status(loop, prt_debug_break_condition(loop->debugger, number, rest, &error), &error);
}

/* ---- inspecting ---- */

static void do_print(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    complain_status(loop, prt_debug_print(loop->debugger, text, loop->to, &error), &error);
}

static void do_examine(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    complain_status(loop, prt_debug_examine(loop->debugger, text, loop->to, &error), &error);
}

static void do_origin(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    complain_status(loop, prt_debug_origin_of(loop->debugger, text, loop->to, &error), &error);
}

static void show_display(struct prt_debug_loop *loop, const struct prt_debug_display *display)
{
    struct prt_error error;
    fprintf(loop->to, "%" PRIu32 ": ", display->number);
    if (prt_debug_print(loop->debugger, display->text, loop->to, &error) != PRT_OK)
        fprintf(loop->to, "%s: %s\n", display->text, error.message);
}

void prt_debug_show_displays(struct prt_debug_loop *loop)
{
    for (uint32_t i = 0; i < loop->display_count; i++)
        show_display(loop, &loop->displays[i]);
}

static void do_display(struct prt_debug_loop *loop, const char *text)
{
    if (text[0] == '\0') {
        prt_debug_show_displays(loop);
        return;
    }
    size_t count = (size_t)loop->display_count + 1;
    struct prt_debug_display *grown = realloc(loop->displays, count * sizeof *grown);
    if (grown != NULL) loop->displays = grown;
    char *copy = grown != NULL ? strdup(text) : NULL;
    if (copy == NULL) {
        print_command_error(loop, "out of memory");
        return;
    }
    struct prt_debug_display *display = &loop->displays[loop->display_count++];
    *display = (struct prt_debug_display){++loop->displays_made, copy};
    show_display(loop, display);
}

static void do_undisplay(struct prt_debug_loop *loop, const char *text)
{
    uint64_t number = 0;
    uint32_t kept = 0, before = loop->display_count;
    if (text[0] != '\0' && !take_debug_number(loop, text, &number)) return;
    for (uint32_t i = 0; i < before; i++) {
        if (text[0] != '\0' && loop->displays[i].number != number)
            loop->displays[kept++] = loop->displays[i];
        else
            free(loop->displays[i].text);
    }
    loop->display_count = kept;
    if (kept == before && text[0] != '\0')
        print_command_error(loop, "there is no display %s", text);
}

static void do_where(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    complain_status(loop, prt_debug_where(loop->debugger, text, loop->to, &error), &error);
}

/* From the stage that fires next, or fired last. */
static void do_backtrace(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    uint32_t from =
        loop->stop->next.stage != PRT_NONE ? loop->stop->next.stage : loop->stop->last.stage;
    if (text[0] == '\0') text = prt_debug_name(loop->debugger, from != PRT_NONE ? from : 0);
    complain_status(loop, prt_debug_where(loop->debugger, text, loop->to, &error), &error);
}

static void do_list(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    complain_status(loop, prt_debug_list(loop->debugger, text, loop->to, &error), &error);
}

static void do_directory(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    complain_status(loop, prt_debug_directory(loop->debugger, text, &error), &error);
}

static void do_disassemble(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    bool all = strcmp(text, "all") == 0;
    if (text[0] != '\0' && !all) {
        print_command_error(loop, "disassemble [all]");
        return;
    }
    complain_status(loop, prt_debug_disassemble(loop->debugger, all, loop->to, &error), &error);
}

static void do_trace(struct prt_debug_loop *loop, const char *text)
{
    struct prt_error error;
    if (text[0] == '\0') {
        print_command_error(loop, "to which file?");
        return;
    }
    const char *path = strcmp(text, "off") == 0 ? NULL : text;
    complain_status(loop, prt_debug_trace(loop->debugger, path, &error), &error);
}

/* ---- info ---- */

static void show_breakpoints(struct prt_debug_loop *loop)
{
    struct prt_break_information b;
    uint32_t i = 0;
    for (; prt_debug_break_information(loop->debugger, i, &b); i++) {
        fprintf(loop->to, "%-3" PRIu32 " %s%s: %s", b.number, b.temporary ? "temporary " : "",
                b.kind, b.text);
        if (b.condition[0] != '\0') fprintf(loop->to, " if %s", b.condition);
        fprintf(loop->to, "; met %" PRIu64 " time%s", b.hits, b.hits == 1 ? "" : "s");
        if (b.ignore > 0) fprintf(loop->to, "; ignored %" PRIu64 " more", b.ignore);
        fputs(b.enabled ? "\n" : "; disabled\n", loop->to);
    }
    if (i == 0) fputs("no breakpoints and no watchpoints\n", loop->to);
}

static void show_displays(struct prt_debug_loop *loop)
{
    for (uint32_t i = 0; i < loop->display_count; i++)
        fprintf(loop->to, "%" PRIu32 ": %s\n", loop->displays[i].number, loop->displays[i].text);
    if (loop->display_count == 0) fputs("nothing is displayed\n", loop->to);
}

static void show_stages(struct prt_debug_loop *loop)
{
    prt_debug_show_stages(loop->debugger, loop->to);
}

static void show_buffers(struct prt_debug_loop *loop)
{
    prt_debug_show_buffers(loop->debugger, loop->to);
}

static void show_ports(struct prt_debug_loop *loop)
{
    prt_debug_show_ports(loop->debugger, loop->to);
}

static void show_cycles(struct prt_debug_loop *loop)
{
    prt_debug_show_cycles(loop->debugger, loop->to);
}

static void show_program(struct prt_debug_loop *loop)
{
    prt_debug_show_program(loop->debugger, loop->to);
}

static const struct {
    const char *name;
    void (*show)(struct prt_debug_loop *loop);
} topics[] = {{"breakpoints", show_breakpoints},
              {"buffers", show_buffers},
              {"cycles", show_cycles},
              {"display", show_displays},
              {"ports", show_ports},
              {"program", show_program},
              {"stages", show_stages},
              {"watchpoints", show_breakpoints}};

enum { TOPICS = sizeof topics / sizeof topics[0] };

static void do_info(struct prt_debug_loop *loop, const char *text)
{
    for (int i = 0; i < TOPICS && text[0] != '\0'; i++) {
        if (strncmp(topics[i].name, text, strlen(text)) != 0) continue;
        topics[i].show(loop);
        return;
    }
    print_command_error(loop, "info breakpoints|buffers|cycles|display|ports|program|stages");
}

/* ---- other commands ---- */

static void do_echo(struct prt_debug_loop *loop, const char *text)
{
    fprintf(loop->to, "%s\n", text);
}

static void do_source(struct prt_debug_loop *loop, const char *text)
{
    if (text[0] == '\0')
        print_command_error(loop, "of which file?");
    else if (!prt_lines_source(loop->lines, text))
        print_command_error(loop, "%s: %s", text,
                            errno == ELOOP ? "too many files in files" : file_error_text(errno));
}

static void do_set(struct prt_debug_loop *loop, const char *text)
{
    (void)text;
    print_command_error(loop, "nothing can be changed: the results are those of any other run");
}

static void do_help(struct prt_debug_loop *loop, const char *text);

/* ---- the table ---- */

static const struct debug_command commands[] = {
    {"backtrace", "bt", do_backtrace, WORDS_NAMES, false, "[NODE]",
     "the chain of waiting stages, from the stage that fires next: what each waits for, and which "
     "stage it needs",
     ""},
    {"break", "b", do_break, WORDS_BREAK, false, "WHAT [if CONDITION]",
     "stop before a node fires, at packets of some value, at a buffer's level, at a cycle",
     "WHAT is one of\n"
     "  NODE|KERNEL [firing N]        before it fires; before firing N only\n"
     "  NODE:N                        the same\n"
     "  kernel KERNEL [firing N]      where a node has the kernel's name\n"
     "  buffer BUFFER OP N            when the number of packets that it holds becomes so\n"
     "  value BUFFER[.FIELD] OP V     when such a packet is written\n"
     "  cycle N                       before the first firing at that time or later\n"
     "OP is one of == != < <= > >=; firings, packets and cycles count from 0.\n"},
    {"condition", "", do_condition, WORDS_NONE, false, "N [CONDITION]",
     "breakpoint N is met only where the condition holds",
     "Places and numbers, compared by == != < <= > >= and joined by && || ! ( ); the words are\n"
     "cycle, firing and level(BUFFER).  Without a condition it is met always.\n"},
    {"continue", "c", do_continue, WORDS_NONE, true, "[N]",
     "go on to the next stop; N: to the Nth time that this breakpoint is met", ""},
    {"delete", "d", do_delete, WORDS_NONE, false, "[N]...", "delete breakpoints, or all", ""},
    {"directory", "dir", do_directory, WORDS_NONE, false, "[PATH]", "where sources are looked for",
     ""},
    {"disable", "", do_disable, WORDS_NONE, false, "[N]...", "breakpoints are not met, or none is",
     ""},
    {"disassemble", "", do_disassemble, WORDS_NONE, false, "[all]",
     "the scheduler program around its present instruction", ""},
    {"display", "", do_display, WORDS_NAMES, false, "[PLACE|CONDITION]",
     "print a place now and at every stop", ""},
    {"echo", "", do_echo, WORDS_NONE, false, "TEXT", "print the text", ""},
    {"enable", "", do_enable, WORDS_NONE, false, "[N]...", "breakpoints are met again, or all are",
     ""},
    {"finish", "fin", do_finish, WORDS_NAMES, false, "[NODE]",
     "go on until the stage has ended: the one that fires next", ""},
    {"help", "h", do_help, WORDS_COMMANDS, false, "[COMMAND]", "this list, or more of one command",
     ""},
    {"ignore", "", do_ignore, WORDS_NONE, false, "N COUNT",
     "breakpoint N does not stop the next COUNT times that it is met", ""},
    {"info", "i", do_info, WORDS_INFO, false,
     "breakpoints|buffers|cycles|display|ports|program|stages",
     "tables of breakpoints, buffers, cycles, display, ports, the program, stages", ""},
    {"kill", "k", do_kill, WORDS_NONE, false, "", "end the run; nothing is published", ""},
    {"list", "l", do_list, WORDS_NAMES, true, "[NODE|KERNEL|LINE|FILE:LINE]",
     "lines of the source; then the lines after them", ""},
    {"next", "n", do_next, WORDS_NAMES, true, "[NODE]",
     "go on until the stage that fires next is about to fire again", ""},
    {"origin", "", do_origin, WORDS_NAMES, false, "PACKETS",
     "which firing, and which statement, has written packets", ""},
    {"print", "p", do_print, WORDS_NAMES, false, "PLACE|CONDITION",
     "packets of a buffer, variables of a node, whether a condition holds",
     "  BUFFER            the packets that it holds, the oldest first\n"
     "  BUFFER[i]         one of them; [-1]: the one that was taken last\n"
     "  BUFFER[i..j]      from i to j\n"
     "  BUFFER@n          packet n of all that it has ever held\n"
     "  NODE              state, tables and arguments; NODE.state, NODE.tables, NODE.arguments\n"
     "  NODE.name         one of them\n"
     "and .FIELD and [INDEX] after a value.  Variables need a program compiled with "
     "--debug-mode.\n"},
    {"quit", "q", do_quit, WORDS_NONE, false, "[STATUS]",
     "leave; what has not ended is killed; exit with the status", ""},
    {"run", "r", do_run, WORDS_NONE, false, "", "begin the run", ""},
    {"set", "", do_set, WORDS_NONE, false, "", "nothing can be changed", ""},
    {"source", "", do_source, WORDS_NONE, false, "FILE", "commands from a file", ""},
    {"start", "", do_start, WORDS_NONE, false, "", "begin, and stop before the first firing", ""},
    {"step", "s", do_step, WORDS_NONE, true, "[N]", "go on for one firing, or N", ""},
    {"tbreak", "tb", do_tbreak, WORDS_BREAK, false, "WHAT [if CONDITION]", "as break, for one stop",
     ""},
    {"trace", "", do_trace, WORDS_NONE, false, "FILE|off",
     "write every firing from now on, with its packets; JSON lines if FILE ends in .jsonl", ""},
    {"undisplay", "", do_undisplay, WORDS_NONE, false, "[N]", "display no more", ""},
    {"until", "u", do_until, WORDS_NAMES, false, "cycle N|NODE",
     "go on until that time, or until the node is about to fire", ""},
    {"watch", "", do_watch, WORDS_NAMES, false, "BUFFER[.FIELD] [OP V] [if CONDITION]",
     "stop when a packet, or such a packet, is written, and say by which statement", ""},
    {"where", "w", do_where, WORDS_NAMES, false, "[NODE]",
     "which stage waits for what; with NODE: the chain of waiting stages from there", ""},
    {"x", "", do_examine, WORDS_NAMES, false, "PLACE", "the bytes of a place", ""},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static bool is_command_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && strncmp(text, word, length) == 0;
}

static void complain_command(struct prt_debug_loop *loop, const char *text, int length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", length, text);
    struct nearest nearest = {.wanted = word};
    for (int i = 0; i < COMMANDS; i++)
        nearest_consider(&nearest, commands[i].name);
    if (nearest.near)
        print_command_error(loop, "there is no command '%s'; did you mean '%s'?", word,
                            nearest.name);
    else
        print_command_error(loop, "there is no command '%s' ('help' lists them)", word);
}

/* By its name, its alias, or a beginning that only one name has. */
static const struct debug_command *find_command(struct prt_debug_loop *loop, const char *text,
                                                size_t length)
{
    const struct debug_command *found = NULL;
    for (int i = 0; i < COMMANDS; i++) {
        const struct debug_command *c = &commands[i];
        if (is_command_word(text, length, c->name) || is_command_word(text, length, c->alias))
            return c;
    }
    for (int i = 0; i < COMMANDS; i++) {
        if (strncmp(commands[i].name, text, length) != 0) continue;
        if (found != NULL) {
            print_command_error(loop, "'%.*s' is short for '%s' and for '%s'", (int)length, text,
                                found->name, commands[i].name);
            return NULL;
        }
        found = &commands[i];
    }
    if (found == NULL) complain_command(loop, text, (int)length);
    return found;
}

static void do_help(struct prt_debug_loop *loop, const char *text)
{
    if (text[0] != '\0') {
        const struct debug_command *c = find_command(loop, text, strcspn(text, " "));
        if (c == NULL) return;
        fprintf(loop->to, "%s%s%s", c->name, c->arguments[0] != '\0' ? " " : "", c->arguments);
        if (c->alias[0] != '\0') fprintf(loop->to, "   (%s)", c->alias);
        fprintf(loop->to, "\n%s\n%s", c->summary, c->more);
        return;
    }
    for (int i = 0; i < COMMANDS; i++)
        fprintf(loop->to, "%-12s %s\n", commands[i].name, commands[i].summary);
    fputs("An empty line repeats step, next, continue and list; names may be cut short.\n",
          loop->to);
}

/* ---- lines ---- */

static void execute_command(struct prt_debug_loop *loop, const char *line)
{
    size_t length = 0;
    while (isalpha((unsigned char)line[length]))
        length++;
    if (length == 0) {
        print_command_error(loop, "'%s' is no command", line);
        return;
    }
    const struct debug_command *command = find_command(loop, line, length);
    if (command == NULL) return;
    char *text = strdup(line + length + strspn(line + length, " \t"));
    if (text == NULL) {
        print_command_error(loop, "out of memory");
        return;
    }
    for (size_t end = strlen(text); end > 0 && isspace((unsigned char)text[end - 1]); end--)
        text[end - 1] = '\0';
    free(loop->last_command);
    loop->last_command = command->repeats ? strdup(command->name) : NULL;
    command->handler(loop, text);
    free(text);
}

void prt_debug_command(struct prt_debug_loop *loop, const char *line)
{
    line += strspn(line, " \t");
    if (line[0] == '#') return;
    if (line[0] != '\0') {
        execute_command(loop, line);
        return;
    }
    char *again = prt_lines_are_typed(loop->lines) && loop->last_command != NULL
                      ? strdup(loop->last_command)
                      : NULL;
    if (again != NULL) execute_command(loop, again);
    free(again);
}

/* ---- completion ---- */

static const char *break_word(const struct prt_debug_loop *loop, uint32_t index)
{
    static const char *const words[] = {"buffer", "cycle", "kernel", "value"};
    return index < 4 ? words[index] : prt_debug_name(loop->debugger, index - 4);
}

const char *prt_debug_words(void *context, const char *before, uint32_t index)
{
    const struct prt_debug_loop *loop = context;
    before += strspn(before, " \t");
    size_t length = strcspn(before, " \t");
    if (length == 0) return index < COMMANDS ? commands[index].name : NULL;
    const struct debug_command *command = NULL;
    for (int i = 0; i < COMMANDS && command == NULL; i++) {
        const struct debug_command *c = &commands[i];
        if (strncmp(c->name, before, length) == 0 || is_command_word(before, length, c->alias))
            command = c;
    }
    enum words words = command != NULL ? command->words : WORDS_NONE;
    switch (words) {
    case WORDS_NAMES: return prt_debug_name(loop->debugger, index);
    case WORDS_BREAK: return break_word(loop, index);
    case WORDS_INFO: return index < TOPICS ? topics[index].name : NULL;
    case WORDS_COMMANDS: return index < COMMANDS ? commands[index].name : NULL;
    case WORDS_NONE: break;
    }
    return NULL;
}
