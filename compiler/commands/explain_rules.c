/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "compiler/commands/command_explain.h"
#include "base/json_write.h"
#include "compiler/diagnostics/rule_page.h"

enum { EXPLAIN_VERSION = 1 };

static const char *level_text(enum rule rule)
{
    if (!rule_is_lint(rule)) return diag_level_name(rule_level(rule));
    return rule_level(rule) == DIAG_NOTE ? "note, lint" : "warning, lint";
}

void explain_list(FILE *to, const enum rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%-26s %-14s %-12s %s\n", rule_id(rules[i]), level_text(rules[i]),
                rule_group(rules[i]), rule_summary(rules[i]));
}

/* ---- text ---- */

static void print_text_example(FILE *to, const char *title, const struct rule_example *example)
{
    if (example->text == NULL) return;
    fprintf(to, "\n%s", title);
    if (*example->options) fprintf(to, ", with %s", example->options);
    fputs(":\n\n", to);
    for (const char *line = example->text; *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(to, "%s%.*s\n", length > 0 ? "    " : "", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

void explain_text(FILE *to, struct arena *arena, const enum rule *rules, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct rule_page page = rule_page(arena, rules[i]);
        fprintf(to, "%s%s: %s\n(%s; group %s)\n\n%s\n", i > 0 ? "\n" : "", rule_id(rules[i]),
                rule_summary(rules[i]), level_text(rules[i]), rule_group(rules[i]),
                page.explanation);
        print_text_example(to, "Fails", &page.fails);
        print_text_example(to, "Fixed", &page.fixed);
    }
}

/* ---- JSON ---- */

static void put_example(struct json *json, const char *key, const struct rule_example *example)
{
    if (example->text == NULL) {
        json_text(json, key, NULL);
        return;
    }
    json_begin(json, key, '{');
    json_text(json, "options", example->options);
    json_text(json, "language", example->language);
    json_text(json, "text", example->text);
    json_end(json, '}');
}

void explain_json(FILE *to, struct arena *arena, const enum rule *rules, size_t count)
{
    struct json json = {.to = to};
    json_begin(&json, NULL, '{');
    json_number(&json, "version", EXPLAIN_VERSION);
    json_begin(&json, "rules", '[');
    for (size_t i = 0; i < count; i++) {
        struct rule_page page = rule_page(arena, rules[i]);
        json_begin(&json, NULL, '{');
        json_text(&json, "id", rule_id(rules[i]));
        json_text(&json, "level", diag_level_name(rule_level(rules[i])));
        json_boolean(&json, "lint_only", rule_is_lint(rules[i]));
        json_boolean(&json, "suppressible", rule_is_suppressible(rules[i]));
        json_text(&json, "group", rule_group(rules[i]));
        json_text(&json, "summary", rule_summary(rules[i]));
        json_text(&json, "explanation", page.explanation);
        put_example(&json, "fails", &page.fails);
        put_example(&json, "fixed", &page.fixed);
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_end(&json, '}');
}

/* ---- man ---- */

static bool ends_sentence(const char *text, size_t available)
{
    return available > 2 && strchr(".:?!", text[0]) != NULL && text[1] == ' ' &&
           (isupper((unsigned char)text[2]) || text[2] == '`');
}

/* Prints one line. Words `like this` get quotes, and each sentence its own line. */
static void print_man_line(FILE *to, const char *line, size_t length, bool literal)
{
    bool quoted = false;
    if (length > 0 && (*line == '.' || *line == '\'')) fputs("\\&", to);
    for (size_t i = 0; i < length; i++) {
        if (!literal && ends_sentence(line + i, length - i))
            fprintf(to, "%c\n", line[i++]);
        else if (line[i] == '\\')
            fputs("\\e", to);
        else if (line[i] == '-')
            fputs("\\-", to);
        else if (line[i] == '`' && !literal)
            fputs((quoted = !quoted) ? "\\(oq" : "\\(cq", to);
        else
            fputc(line[i], to);
    }
    fputc('\n', to);
}

static void print_man_text(FILE *to, const char *text, bool literal)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (length == 0 && !literal)
            fputs(".Pp\n", to);
        else
            print_man_line(to, text, length, literal);
        text += length + (text[length] == '\n');
    }
}

static void print_man_example(FILE *to, const char *title, const struct rule_example *example)
{
    if (example->text == NULL) return;
    fprintf(to, ".Pp\n%s", title);
    if (*example->options) {
        fputs(", with\n.Ql ", to);
        print_man_line(to, example->options, strlen(example->options), true);
    } else {
        fputs(":\n", to);
    }
    fputs(".Bd -literal -offset indent\n", to);
    print_man_text(to, example->text, true);
    fputs(".Ed\n", to);
}

void explain_man(FILE *to, struct arena *arena, const enum rule *rules, size_t count)
{
    fputs(".\\\" Made by pipec explain --list --format=man.\n"
          ".Dd November 20, 2026\n.Dt PIPEC-RULES 7\n.Os\n.Sh NAME\n.Nm pipec-rules\n"
          ".Nd the rules of the diagnostics of pipec\n.Sh DESCRIPTION\n"
          "Every diagnostic of\n.Xr pipec 1\nends with the id of its rule in brackets.\n"
          "Ids never change their meaning.\n"
          "Rules marked\n.Sq lint\nare reported by\n.Ic pipec lint\n"
          "and with\n.Fl W Ns Cm lint ;\nerrors of the language cannot be lowered.\n"
          ".Sh RULES\n",
          to);
    for (size_t i = 0; i < count; i++) {
        struct rule_page page = rule_page(arena, rules[i]);
        fprintf(to, ".Ss %s\n", rule_id(rules[i]));
        fprintf(to, "(%s; group %s)\n.Pp\n", level_text(rules[i]), rule_group(rules[i]));
        print_man_text(to, page.explanation, false);
        print_man_example(to, "Fails", &page.fails);
        print_man_example(to, "Fixed", &page.fixed);
    }
    fputs(".Sh SEE ALSO\n.Xr pipec 1\n.Sh LICENCE\nFree software under the MIT licence, without "
          "any warranty.\n",
          to);
}
