/* SPDX-License-Identifier: MIT */
/*
 * pipec complete: completion of command lines of pipec and piperun, for shells.
 *
 * The script of each shell asks `pipec complete -- WORD...` for the candidates of the last word. The help of a command is the
 * table of its options and their values. Devices, rules and topics come from their tables; ports, pipelines and tests from
 * the source on the line.
 */
#include <stdlib.h>
#include <string.h>

#include "compiler/codegen/common/instruction_set.h"
#include "compiler/commands/command_explain.h"
#include "compiler/commands/commands.h"
#include "compiler/commands/piperun_path.h"
#include "compiler/commands/program_run.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/driver_files.h"
#include "compiler/syntax/parse.h"
#include "base/words.h"
#include "lang/embedded.h"

static const char help_text[] =
    "usage: pipec complete bash|zsh|fish\n"
    "       pipec complete -- PROGRAM WORD...\n"
    "\n"
    "Prints the script that completes command lines of pipec and piperun in a shell. 'make "
    "install'\n"
    "puts the scripts where the shells find them. The second form is for these scripts: it prints\n"
    "the candidates for the last word, one a line; none: a file.\n"
    "\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "examples:\n"
    "  $ pipec complete bash >pipec.bash               # then: source pipec.bash\n"
    "  $ pipec complete -- pipec graph --format=\n"
    "  $ pipec complete -- pipec run smooth.pipe ''    # the ports\n"
    "\n"
    "Exit status: 0 done, 2 usage.\n";

/* ---- the scripts ---- */

/* Bash splits words at '=' and ':'; the words are put together again. */
static const char bash_script[] =
    "# completion of pipec and piperun; made by 'pipec complete bash'\n"
    "_pipec() {\n"
    "    local words=() word joins= last found\n"
    "    for word in \"${COMP_WORDS[@]:0:COMP_CWORD+1}\"; do\n"
    "        if [[ $word == [=:] && ${#words[@]} -gt 0 ]]; then\n"
    "            words[-1]+=$word joins=1\n"
    "        elif [[ -n $joins ]]; then\n"
    "            words[-1]+=$word joins=\n"
    "        else\n"
    "            words+=(\"$word\")\n"
    "        fi\n"
    "    done\n"
    "    last=${words[-1]}\n"
    "    mapfile -t found < <(pipec complete -- \"${words[@]}\" 2>/dev/null)\n"
    "    COMPREPLY=(\"${found[@]#\"${last%\"${last##*[=:]}\"}\"}\")\n"
    "    [[ ${#found[@]} -gt 0 && ${found[0]} == *[=:] ]] && compopt -o nospace 2>/dev/null\n"
    "    return 0\n"
    "}\n"
    "complete -o default -F _pipec pipec piperun\n";

/* zsh executes the file as the function _pipec when a command line is completed for the first time. */
static const char zsh_script[] =
    "#compdef pipec piperun\n"
    "# completion of pipec and piperun; made by 'pipec complete zsh'\n"
    "_pipec() {\n"
    "    local -a found open\n"
    "    found=(${(f)\"$(pipec complete -- \"${(@)words[1,CURRENT]}\" 2>/dev/null)\"})\n"
    "    open=(${(M)found:#*[=:]})\n"
    "    found=(${found:#*[=:]})\n"
    "    (( $#open )) && compadd -S '' -a open\n"
    "    (( $#found )) && compadd -a found\n"
    "    (( $#open + $#found )) || _files\n"
    "}\n"
    "if [[ ${funcstack[1]} == _pipec ]]; then\n"
    "    _pipec \"$@\"\n"
    "else\n"
    "    compdef _pipec pipec piperun\n"
    "fi\n";

static const char fish_script[] =
    "# completion of pipec and piperun; made by 'pipec complete fish'\n"
    "for program in pipec piperun\n"
    "    complete -c $program -a '(pipec complete -- (commandline -opc) (commandline -ct) "
    "2>/dev/null)'\n"
    "end\n";

static const struct {
    const char *shell, *text;
} scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

/* ---- candidates ---- */

struct completion {
    struct arena *arena;
    const char *const *words; /* the program first */
    size_t count;
    const char *command; /* "" if there is no word */
    const char *last;    /* the word that is completed */
    const char *file;    /* the first word that names a source, or NULL */
};

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

/* `head`, then the candidate, if the word begins so. */
static void offer_candidate(const struct completion *c, const char *head, const char *text)
{
    size_t length = strlen(c->last), own = strlen(head);
    const char *whole = own > 0 ? arena_printf(c->arena, "%s%s", head, text) : text;
    if (strncmp(whole, c->last, length) == 0) printf("%s\n", whole);
}

static void offer_words(const struct completion *c, const char *head, const char *words)
{
    while (*words != '\0') {
        size_t length = strcspn(words, " ");
        offer_candidate(c, head, arena_string(c->arena, words, length));
        words += length + (words[length] == ' ');
    }
}

static void offer_files_of(const struct completion *c, const char *head,
                           const struct embedded_file *file)
{
    for (; file->name != NULL; file++)
        offer_candidate(c, head, file->name);
}

static void offer_rules(const struct completion *c, const char *head)
{
    for (int i = 0; i < RULE_COUNT; i++)
        offer_candidate(c, head, rule_id((enum rule)i));
}

/* ---- names in the source ---- */

enum wanted_name { WANTS_PORT, WANTS_PIPELINE, WANTS_TEST, WANTS_ARGUMENT };

static const struct ast_item *parse_completed_file(const struct completion *c)
{
    uint32_t source;
    struct compile cx = compile_begin(c->arena, (struct compile_options){0});
    if (c->file == NULL || source_read(cx.sources, c->file, &source) != SOURCE_OK) return NULL;
    return parse_one_file(&cx, source)->items;
}

static void offer_ports(const struct completion *c, const struct ast_item *item)
{
    for (const struct ast_port *p = item->signature.ports; p != NULL; p = p->next)
        offer_candidate(c, "", arena_printf(c->arena, "%s=", p->name.text));
}

static void offer_arguments(const struct completion *c, const char *head,
                            const struct ast_item *item)
{
    for (const struct ast_type_param *p = item->signature.type_params; p != NULL; p = p->next)
        offer_candidate(c, head, arena_printf(c->arena, "%s=", p->name.text));
    for (const struct ast_param *p = item->signature.params; p != NULL; p = p->next)
        offer_candidate(c, head, arena_printf(c->arena, "%s=", p->name.text));
}

static void offer_names(const struct completion *c, const char *head, enum wanted_name wanted)
{
    for (const struct ast_item *item = parse_completed_file(c); item != NULL; item = item->next) {
        if (item->kind == AST_ITEM_TEST && wanted == WANTS_TEST)
            offer_candidate(c, head, item->name.text);
        if (item->kind != AST_ITEM_PIPELINE) continue;
        if (wanted == WANTS_PORT) offer_ports(c, item);
        if (wanted == WANTS_PIPELINE) offer_candidate(c, head, item->signature.name.text);
        if (wanted == WANTS_ARGUMENT) offer_arguments(c, head, item);
    }
}

/* ---- options, from the help of the command ---- */

static bool is_piperun(const struct completion *c)
{
    const char *slash = strrchr(c->words[0], '/');
    return strcmp(slash != NULL ? slash + 1 : c->words[0], "piperun") == 0;
}

static const char *help_of(const struct completion *c, const char *command)
{
    const char *of_run[] = {"piperun", "--help", NULL}, *of_pipec[] = {"pipec", "--help", NULL};
    const char *of_command[] = {"pipec", "help", command, NULL};
    if (is_piperun(c)) return program_run(c->arena, piperun_path(c->arena, NULL), of_run).text;
    return program_run(c->arena, "/proc/self/exe", *command != '\0' ? of_command : of_pipec).text;
}

struct help_option {
    const char *name;   /* "--name=" if it needs a value, else "--name"; "-D" */
    const char *values; /* "min|fast|default"; words in capitals stand for values */
};

/* Reads "--name=VALUES" or "--name[=VALUES]". An empty name: it is no option. */
static struct help_option read_option(struct arena *arena, const char *word, size_t length)
{
    size_t end = 0;
    struct help_option option = {"", ""};
    if (length < 2 || word[0] != '-') return option;
    while (end < length && (byte_is_word(word[end]) || word[end] == '-') &&
           !(end > 2 && word[end] >= 'A' && word[end] <= 'Z'))
        end++;
    size_t value = end + (end < length && word[end] == '[');
    bool has_values = value < length && word[value] == '=';
    if (end < 2) return option;
    option.name = arena_string(arena, word, end + (has_values && value == end));
    if (has_values) option.values = arena_string(arena, word + value + 1, length - value - 1);
    return option;
}

typedef void visit_option(const struct completion *c, const struct help_option *option, void *data);

/* Each option of the help: in lines that begin with two blanks and '-', up to the text. */
static void each_option(const struct completion *c, const char *help, visit_option *visit,
                        void *data)
{
    for (; *help != '\0'; help += strcspn(help, "\n") + 1) {
        size_t end = strcspn(help, "\n"), at = 2;
        if (strncmp(help, "  -", 3) != 0) continue;
        for (size_t i = 2; i + 1 < end; i++)
            if (help[i] == ' ' && help[i + 1] == ' ') end = i;
        while (at < end) {
            size_t length = strcspn(help + at, " ,\n");
            struct help_option option = read_option(c->arena, help + at, length);
            if (*option.name != '\0') visit(c, &option, data);
            at += length + 1;
        }
        if (help[strcspn(help, "\n")] == '\0') return;
    }
}

struct offered {
    const char *main_help; /* that says which options take a value */
    VEC(const char *) names;
};

static void find_with_value(const struct completion *c, const struct help_option *option,
                            void *data)
{
    const char **wanted = data;
    size_t length = strlen(*wanted);
    (void)c;
    if (strncmp(option->name, *wanted, length) == 0 && strcmp(option->name + length, "=") == 0)
        *wanted = option->name;
}

/* Once: a command may say "--buffers, ...: as in 'pipec --help'". */
static void offer_option(const struct completion *c, const struct help_option *option, void *data)
{
    struct offered *offered = data;
    const char *name = option->name;
    if (offered->main_help != NULL) each_option(c, offered->main_help, find_with_value, &name);
    for (size_t i = 0; i < offered->names.count; i++)
        if (strcmp(offered->names.items[i], name) == 0) return;
    vec_push(c->arena, &offered->names, name);
    offer_candidate(c, "", name);
}

static void offer_options(const struct completion *c)
{
    struct offered offered = {0};
    bool is_command = *c->command != '\0' && !is_piperun(c);
    if (is_command) offered.main_help = help_of(c, "");
    each_option(c, help_of(c, c->command), offer_option, &offered);
    if (strcmp(c->command, "inspect") == 0)
        each_option(c, offered.main_help, offer_option, &offered);
}

/* ---- values of options ---- */

struct wanted_values {
    const char *option; /* without '=' */
    const char *values;
};

static void find_values(const struct completion *c, const struct help_option *option, void *data)
{
    struct wanted_values *wanted = data;
    size_t length = strcspn(option->name, "=");
    (void)c;
    if (strlen(wanted->option) == length && strncmp(wanted->option, option->name, length) == 0 &&
        *wanted->values == '\0')
        wanted->values = option->values;
}

/* Of the command, else of all commands. */
static const char *values_of(const struct completion *c, const char *option)
{
    struct wanted_values wanted = {option, ""};
    each_option(c, help_of(c, c->command), find_values, &wanted);
    if (*wanted.values == '\0' && *c->command != '\0' && !is_piperun(c))
        each_option(c, help_of(c, ""), find_values, &wanted);
    return wanted.values;
}

/* The words of "text|json:FILE|N[:FILE]" that stand for themselves: text and json:. False: there are none. */
static bool offer_listed_values(const struct completion *c, const char *head, const char *values)
{
    bool listed = false;
    while (*values != '\0' && *values != '[' && *values != ']') {
        size_t length = 0;
        while (byte_is_word(values[length]) || values[length] == '-')
            length++;
        length += values[length] == ':';
        if (*values >= 'a' && *values <= 'z') {
            offer_candidate(c, head, arena_string(c->arena, values, length));
            listed = true;
        }
        values += strcspn(values, "|[]");
        values += *values == '|';
    }
    return listed;
}

static void offer_instruction_sets(const struct completion *c, const char *head)
{
    for (unsigned i = 0; instruction_set_name(i) != NULL; i++)
        offer_candidate(c, head, instruction_set_name(i));
}

/* `option` without '='; `head` stands before each value. False: its values are not known. */
static bool offer_values(const struct completion *c, const char *option, const char *head)
{
    if (offer_listed_values(c, head, values_of(c, option))) return true;
    if (strcmp(option, "--march") == 0) {
        offer_instruction_sets(c, head);
    } else if (strcmp(option, "--device") == 0) {
        offer_files_of(c, head, embedded_device_files);
        if (is_piperun(c)) offer_candidate(c, head, "null");
    } else if (strcmp(option, "-p") == 0) {
        offer_names(c, head, WANTS_PIPELINE);
    } else if (strcmp(option, "-k") == 0) {
        offer_names(c, head, WANTS_TEST);
    } else if (strcmp(option, "-D") == 0) {
        offer_names(c, head, WANTS_ARGUMENT);
    } else if (strcmp(option, "-W") == 0 || strcmp(option, "-Werror") == 0) {
        offer_rules(c, head);
    } else {
        return false;
    }
    return true;
}

/* ---- the word ---- */

/* Those of piperun are in the first lines of its help: "       piperun verify FILE.pbc". */
static void offer_commands(const struct completion *c)
{
    static const char usage[] = "\n       piperun ";
    for (size_t i = 0; !is_piperun(c) && command_name(i) != NULL; i++)
        offer_candidate(c, "", command_name(i));
    if (!is_piperun(c)) return;
    const char *at = help_of(c, "");
    while ((at = strstr(at, usage)) != NULL) {
        at += sizeof usage - 1;
        offer_candidate(c, "", arena_string(c->arena, at, strcspn(at, " ")));
    }
}

static void offer_operands(const struct completion *c)
{
    struct explain_names names = {0};
    const char *equals = strchr(c->last, '=');
    bool runs = strcmp(c->command, "run") == 0 || (is_piperun(c) && c->file != NULL);
    bool explains = strcmp(c->command, "explain") == 0, helps = strcmp(c->command, "help") == 0;
    if (runs && equals != NULL)
        offer_words(c, arena_string(c->arena, c->last, (size_t)(equals - c->last) + 1),
                    "- null gen:ramp gen:noise: gen:zeros");
    else if (runs)
        offer_names(c, "", WANTS_PORT);
    if (strcmp(c->command, "complete") == 0) offer_words(c, "", "bash zsh fish");
    if (strcmp(c->command, "partition") == 0) offer_files_of(c, "", embedded_device_files);
    if (helps) {
        for (size_t i = 0; command_name(i) != NULL; i++)
            offer_candidate(c, "", command_name(i));
        offer_files_of(c, "", embedded_topic_files);
    }
    if (!helps && !explains) return;
    offer_rules(c, "");
    explain_item_names(c->arena, &names);
    for (size_t i = 0; i < names.of.count; i++)
        offer_candidate(c, "", names.of.items[i]);
}

static void offer_candidates(const struct completion *c)
{
    const char *equals = strchr(c->last, '=');
    const char *before = c->count > 2 ? c->words[c->count - 2] : "";
    if (strncmp(c->last, "--", 2) == 0 && equals != NULL) {
        offer_values(c, arena_string(c->arena, c->last, (size_t)(equals - c->last)),
                     arena_string(c->arena, c->last, (size_t)(equals - c->last) + 1));
    } else if (strncmp(c->last, "-Werror=", 8) == 0) {
        offer_rules(c, "-Werror=");
    } else if (strncmp(c->last, "-W", 2) == 0) {
        offer_rules(c, strncmp(c->last, "-Wno-", 5) == 0 ? "-Wno-" : "-W");
    } else if (c->last[0] == '-') {
        offer_options(c);
    } else if (before[0] == '-' && strchr(before, '=') == NULL && offer_values(c, before, "")) {
        return;
    } else {
        if (c->count == 2) offer_commands(c);
        offer_operands(c);
    }
}

static struct completion completion_of(struct arena *arena, const char *const *words, size_t count)
{
    struct completion c = {arena, words, count, "", words[count - 1], NULL};
    for (size_t i = 1; i + 1 < count; i++)
        if (c.file == NULL && (ends_in(words[i], ".pipe") || ends_in(words[i], ".pbc")))
            c.file = words[i];
    bool is_command = count > 2 && (command_find(words[1]) != NULL || is_piperun(&c) ||
                                    strcmp(words[1], "inspect") == 0);
    if (is_command && words[1][0] != '-') c.command = words[1];
    return c;
}

/* ---- the command ---- */

static int print_script(const char *shell)
{
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(scripts[i].shell, shell) == 0) {
            fputs(scripts[i].text, stdout);
            return standard_output_status();
        }
    fprintf(stderr, "pipec: error: '%s' is none of the shells bash, zsh and fish\n", shell);
    return EXIT_FILES;
}

int command_complete(int argc, char **argv)
{
    if (argc > 1 && command_line_answer(argv[1], help_text)) return standard_output_status();
    if (argc > 3 && strcmp(argv[1], "--") == 0) {
        struct arena *arena = arena_create();
        struct completion c = completion_of(arena, (const char *const *)argv + 2, (size_t)argc - 2);
        offer_candidates(&c);
        arena_destroy(arena);
        return standard_output_status();
    }
    if (argc == 2 && argv[1][0] != '-') return print_script(argv[1]);
    fputs("pipec: error: a shell is missing: bash, zsh or fish\n"
          "pipec: 'pipec complete --help' shows both forms\n",
          stderr);
    return EXIT_FILES;
}
