/* SPDX-License-Identifier: MIT */
/* Text to tokens. */
#include "tests/oracle/kahn.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

const char *kahn_intern(const char *text, size_t length)
{
    static char **names;
    static size_t count, room; /* an open hash table */
    if (2 * (count + 1) > room) {
        size_t old_room = room;
        char **old = names;
        room = room ? 2 * room : 1024;
        names = kahn_alloc(room * sizeof *names);
        count = 0;
        for (size_t i = 0; i < old_room; i++) {
            if (!old[i]) continue;
            size_t hash = 5381;
            for (const char *c = old[i]; *c; c++)
                hash = hash * 33 + (unsigned char)*c;
            while (names[hash % room])
                hash++;
            names[hash % room] = old[i];
            count++;
        }
        free(old);
    }
    size_t hash = 5381;
    for (size_t i = 0; i < length; i++)
        hash = hash * 33 + (unsigned char)text[i];
    for (;; hash++) {
        char **place = &names[hash % room];
        if (!*place) {
            *place = kahn_alloc(length + 1);
            memcpy(*place, text, length);
            count++;
            return *place;
        }
        if (strlen(*place) == length && memcmp(*place, text, length) == 0) return *place;
    }
}

static const char *const WORDS[] = {"import", "const", "struct",  "fn",    "kernel",   "pipeline",
                                    "buffer", "state", "table",   "local", "finish",   "launch",
                                    "stop",   "if",    "else",    "for",   "while",    "do",
                                    "switch", "case",  "default", "break", "continue", "return"};
static const char *const SIGNS[] = {
    "<<=", ">>=", "<-", "->", "..", "+=", "-=", "*=", "/=", "%=", "&=", "^=",
    "|=",  "<<",  ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--"};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static int escaped(const char **text, int line)
{
    static const char letters[] = "abfnrtv\\'\"?", values[] = "\a\b\f\n\r\t\v\\'\"?";
    const char *c = *text + 1, *letter = strchr(letters, *c);
    int value = 0;
    if (*c && letter) {
        value = values[letter - letters];
        c++;
    } else if (*c == 'x') {
        for (c++; isxdigit((unsigned char)*c); c++)
            value = value * 16 + (isdigit((unsigned char)*c) ? *c - '0' : (*c | 32) - 'a' + 10);
    } else if (*c >= '0' && *c <= '7') {
        for (int i = 0; i < 3 && *c >= '0' && *c <= '7'; i++)
            value = value * 8 + *c++ - '0';
    } else {
        kahn_refuse(line, "an escape that there is not");
    }
    *text = c;
    return value;
}

/* 8x8: begins with a digit that is not 0. */
static size_t dimensions_length(const char *text)
{
    size_t at = 0;
    if (text[0] < '1' || text[0] > '9') return 0;
    while (isdigit((unsigned char)text[at]))
        at++;
    if (text[at] != 'x' || !isdigit((unsigned char)text[at + 1])) return 0;
    while (text[at] == 'x' && isdigit((unsigned char)text[at + 1]))
        for (at++; isdigit((unsigned char)text[at]);)
            at++;
    return at;
}

static const char *number(const char *text, struct token *token)
{
    const char *c = text;
    token->kind = K_NUMBER;
    if (c[0] == '0' && (c[1] | 32) == 'x') {
        token->integer = strtoull(c, (char **)&c, 16);
    } else if (c[0] == '0' && (c[1] | 32) == 'b') {
        token->integer = strtoull(c + 2, (char **)&c, 2);
    } else {
        while (isdigit((unsigned char)*c))
            c++;
        token->is_float = (*c == '.' && c[1] != '.') || (*c | 32) == 'e' || *c == 'f' || *c == 'F';
        if (token->is_float)
            token->number = strtod(text, (char **)&c);
        else
            token->integer = strtoull(text, (char **)&c, text[0] == '0' ? 8 : 10);
    }
    for (; *c && strchr("uUlLfF", *c); c++)
        token->suffix |= (*c | 32) == 'u' ? SUFFIX_U : (*c | 32) == 'l' ? SUFFIX_L : SUFFIX_F;
    return c;
}

static const char *quoted(const char *text, struct token *token)
{
    char *into = kahn_alloc(strlen(text) + 1), quote = *text++;
    size_t length = 0;
    while (*text && *text != quote)
        if (*text == '\\')
            into[length++] = (char)escaped(&text, token->line);
        else
            into[length++] = *text++;
    token->kind = quote == '"' ? K_STRING : K_NUMBER;
    token->text = kahn_intern(into, length);
    token->integer = (unsigned char)into[0];
    free(into);
    return text + 1;
}

static const char *word(const char *text, struct token *token)
{
    size_t length = 0;
    while (is_name(text[length]))
        length++;
    token->text = kahn_intern(text, length);
    token->kind = K_NAME;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++)
        if (strcmp(WORDS[i], token->text) == 0) token->kind = K_WORD;
    return text + length;
}

static const char *sign(const char *text, struct token *token)
{
    size_t length = 1;
    for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS && length == 1; i++)
        if (strncmp(SIGNS[i], text, strlen(SIGNS[i])) == 0) length = strlen(SIGNS[i]);
    token->kind = K_SIGN;
    token->text = kahn_intern(text, length);
    return text + length;
}

static const char *blanks(const char *text, int *line)
{
    for (;; text++) {
        if (text[0] == '/' && text[1] == '/') {
            text += strcspn(text, "\n") - 1;
        } else if (text[0] == '/' && text[1] == '*') {
            for (text += 2; *text && !(text[0] == '*' && text[1] == '/'); text++)
                *line += *text == '\n';
            text++;
        } else if (*text == '\n') {
            ++*line;
        } else if (!*text || !isspace((unsigned char)*text)) {
            return text;
        }
    }
}

static const char *one(const char *text, struct token *token)
{
    size_t dims = dimensions_length(text);
    if (dims) {
        token->kind = K_DIMENSIONS;
        token->text = kahn_intern(text, dims);
        return text + dims;
    }
    if (isdigit((unsigned char)*text) || (*text == '.' && isdigit((unsigned char)text[1])))
        return number(text, token);
    if (*text == '"' || *text == '\'') return quoted(text, token);
    return is_name(*text) ? word(text, token) : sign(text, token);
}

struct token *kahn_tokens(const char *text)
{
    struct token *tokens = NULL;
    size_t count = 0, room = 0;
    int line = 1;
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) text += 3;
    for (;;) {
        if (count == room) {
            struct token *more = realloc(tokens, (room = 2 * room + 256) * sizeof *tokens);
            if (!more) abort();
            tokens = more;
        }
        text = blanks(text, &line);
        struct token *token = &tokens[count++];
        *token = (struct token){.line = line, .text = ""};
        if (!*text) return tokens;
        text = one(text, token);
    }
}
