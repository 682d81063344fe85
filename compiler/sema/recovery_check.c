/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "compiler/diagnostics/diag_set.h"
#include "compiler/sema/sema.h"
#include "base/vec.h"
#include "base/words.h"

/* The words that syntax errors left out: each may be a name declared there. */
struct lost_words {
    struct compile *cx;
    bool any;           /* any name may be declared there */
    const char **table; /* interned, open addressing; NULL: empty */
    size_t size, count;
};

static const char **find_lost_slot(const char **table, size_t size, const char *word)
{
    uint64_t hash = ((uint64_t)(uintptr_t)word >> 3) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(hash >> 32) & (size - 1);
    while (table[at] != NULL && table[at] != word)
        at = (at + 1) & (size - 1);
    return &table[at];
}

static void grow_lost_words(struct lost_words *words)
{
    size_t size = words->size > 0 ? words->size * 2 : 64;
    const char **table = ARENA_ARRAY(words->cx->arena, const char *, size);
    for (size_t i = 0; i < words->size; i++)
        if (words->table[i] != NULL)
            *find_lost_slot(table, size, words->table[i]) = words->table[i];
    words->table = table;
    words->size = size;
}

static void note_lost_word(struct lost_words *words, const char *word)
{
    if (words->count * 2 >= words->size) grow_lost_words(words);
    const char **slot = find_lost_slot(words->table, words->size, word);
    if (*slot != NULL) return;
    *slot = word;
    words->count++;
    if (strcmp(word, "import") == 0 || strcmp(word, "include") == 0) words->any = true;
}

static bool may_be_lost(const struct lost_words *words, struct span span)
{
    if (words->any) return true;
    if (words->size == 0 || span.source == 0 || span.end <= span.begin) return false;
    const char *text = source_get(words->cx->sources, span.source)->bytes + span.begin;
    const char *word = intern_name(words->cx->names, text, span.end - span.begin);
    return *find_lost_slot(words->table, words->size, word) != NULL;
}

static bool follows_lost_word(void *data, enum rule rule, struct span span, const char *message)
{
    (void)message;
    switch (rule) {
    case RULE_UNKNOWN_NAME:
    case RULE_UNKNOWN_BUFFER: return may_be_lost(data, span);
    case RULE_NO_PIPELINE:
    case RULE_NO_CONSUMER:
    case RULE_NO_PRODUCER:
    case RULE_UNUSED_BUFFER: return true;
    default: return rule_level(rule) != DIAG_ERROR;
    }
}

void sema_check_damaged(struct compile *cx, const struct ast_program *program)
{
    struct lost_words words = {.cx = cx};
    struct diags *all = cx->diags;
    for (const struct ast_file *file = program->files; file != NULL; file = file->next) {
        if (file->is_commands) return;
        words.any |= file->names_missing;
        for (const struct ast_lost *lost = file->lost; lost != NULL; lost = lost->next) {
            const char *text = source_get(words.cx->sources, lost->span.source)->bytes;
            for (uint32_t at = lost->span.begin; at < lost->span.end;) {
                uint32_t begin = at;
                while (at < lost->span.end && byte_is_word(text[at]))
                    at++;
                if (at > begin && !byte_is_digit(text[begin]))
                    note_lost_word(&words, intern_name(words.cx->names, text + begin, at - begin));
                if (at == begin) at++;
            }
        }
    }
    cx->diags = diags_fork(cx->arena, all);
    diag_hide(cx->diags, follows_lost_word, &words);
    sema_check(cx, program, all);
    diag_take(all, cx->diags);
    cx->diags = all;
}
