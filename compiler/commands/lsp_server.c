/* SPDX-License-Identifier: MIT */
#include "compiler/commands/lsp_server.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/commands/answer_child.h"
#include "compiler/commands/lsp_work.h"
#include "compiler/driver/driver_files.h"
#include "base/utf8.h"

/* Numbers of the protocol and of JSON-RPC. */
enum {
    MESSAGE_MAX_BYTES = 256 << 20,
    HEADER_MAX_BYTES = 4096,
    ERROR_PARSE = -32700,
    ERROR_REQUEST = -32600,
    ERROR_METHOD = -32601,
    ERROR_PARAMS = -32602,
    ERROR_INTERNAL = -32603,
    ERROR_UNINITIALIZED = -32002,
    ERROR_REQUEST_FAILED = -32803,
    SYNC_INCREMENTAL = 2,
};

struct document {
    char *uri, *path, *text;
    size_t size_bytes;
    bool changed;   /* since its diagnostics were computed */
    json_t *others; /* the files that are not open and have diagnostics because of it */
};

struct server {
    FILE *from, *to;
    bool in_process;
    struct document *documents;
    size_t count;
    char **folders; /* of the workspace */
    size_t folder_count;
    bool initialized, shut_down, ended;
    int status;
};

/* ---- messages ---- */

/* The body's length, from the header lines up to an empty one. False: the end, or no such header. */
static bool read_header(FILE *from, size_t *length)
{
    static const char name[] = "Content-Length:";
    char line[HEADER_MAX_BYTES];
    *length = SIZE_MAX;
    while (fgets(line, sizeof line, from) != NULL) {
        if (strcmp(line, "\r\n") == 0 || strcmp(line, "\n") == 0) return *length != SIZE_MAX;
        if (strncasecmp(line, name, sizeof name - 1) != 0) continue;
        char *end;
        errno = 0;
        unsigned long long number = strtoull(line + sizeof name - 1, &end, 10);
        if (errno != 0 || end == line + sizeof name - 1 || number > MESSAGE_MAX_BYTES) return false;
        *length = (size_t)number;
    }
    return false;
}

static void send_message(const struct server *server, json_t *message)
{
    json_object_set_new(message, "jsonrpc", json_string("2.0"));
    char *text = json_dumps(message, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text != NULL) {
        fprintf(server->to, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
        fflush(server->to);
    }
    free(text);
    json_decref(message);
}

/* `result` becomes the message's. */
static void send_result(const struct server *server, json_t *id, json_t *result)
{
    json_t *message = json_object();
    json_object_set(message, "id", id);
    json_object_set_new(message, "result", result != NULL ? result : json_null());
    send_message(server, message);
}

static void send_error(const struct server *server, json_t *id, int code, const char *text)
{
    json_t *message = json_object(), *error = json_object();
    if (id != NULL)
        json_object_set(message, "id", id);
    else
        json_object_set_new(message, "id", json_null());
    json_object_set_new(error, "code", json_integer(code));
    json_object_set_new(error, "message", json_string(text));
    json_object_set_new(message, "error", error);
    send_message(server, message);
}

/* ---- documents ---- */

static int hexadecimal_digit(char digit)
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* The path of file:///PATH; "" for other documents. */
static char *path_of_uri(const char *uri)
{
    static const char scheme[] = "file://";
    char *path = calloc(strlen(uri) + 1, 1), *to = path;
    if (path == NULL || strncmp(uri, scheme, sizeof scheme - 1) != 0) return path;
    for (uri += sizeof scheme - 1; *uri != '\0';) {
        int high = *uri == '%' ? hexadecimal_digit(uri[1]) : -1;
        int low = high >= 0 ? hexadecimal_digit(uri[2]) : -1;
        bool escaped = low >= 0 && (high | low) != 0;
        *to++ = escaped ? (char)(high << 4 | low) : *uri;
        uri += escaped ? 3 : 1;
    }
    return path;
}

static struct document *document_find(struct server *server, const char *uri)
{
    for (size_t i = 0; uri != NULL && i < server->count; i++)
        if (strcmp(server->documents[i].uri, uri) == 0) return &server->documents[i];
    return NULL;
}

static void document_set_text(struct document *document, json_t *text)
{
    size_t size = json_string_length(text);
    char *bytes = malloc(size + 1);
    if (bytes == NULL) return;
    memcpy(bytes, json_string_value(text), size + 1);
    free(document->text);
    document->text = bytes;
    document->size_bytes = size;
    document->changed = true;
}

static void document_open(struct server *server, json_t *item)
{
    const char *uri = json_string_value(json_object_get(item, "uri"));
    json_t *text = json_object_get(item, "text");
    if (uri == NULL || !json_is_string(text)) return;
    struct document *document = document_find(server, uri);
    if (document == NULL) {
        struct document *grown =
            realloc(server->documents, (server->count + 1) * sizeof *server->documents);
        if (grown == NULL) return;
        server->documents = grown;
        document = &grown[server->count];
        *document = (struct document){strdup(uri), path_of_uri(uri), NULL, 0, false, json_array()};
        if (document->uri == NULL || document->path == NULL) return;
        server->count++;
    }
    document_set_text(document, text);
    /* The files that import this one may be open too. */
    for (size_t i = 0; i < server->count; i++)
        server->documents[i].changed = true;
}

/* The offset of a position in the text; its end if the position is past it. */
static size_t text_offset(const struct document *document, json_t *position)
{
    const char *at = document->text, *end = document->text + document->size_bytes;
    json_int_t line = json_integer_value(json_object_get(position, "line"));
    json_int_t character = json_integer_value(json_object_get(position, "character"));
    for (; line > 0 && at < end; line--) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        at = newline != NULL ? newline + 1 : end;
    }
    return (size_t)(at - document->text) +
           utf16_prefix_bytes(at, (size_t)(end - at), character > 0 ? (size_t)character : 0);
}

/* One change: a text in place of a range, or of the whole text. */
static void document_edit(struct document *document, json_t *change)
{
    json_t *text = json_object_get(change, "text"), *range = json_object_get(change, "range");
    if (!json_is_string(text)) return;
    if (range == NULL) {
        document_set_text(document, text);
        return;
    }
    size_t begin = text_offset(document, json_object_get(range, "start"));
    size_t end = text_offset(document, json_object_get(range, "end"));
    size_t added = json_string_length(text);
    if (end < begin) end = begin;
    size_t size = document->size_bytes - (end - begin) + added;
    char *bytes = malloc(size + 1);
    if (bytes == NULL) return;
    memcpy(bytes, document->text, begin);
    memcpy(bytes + begin, json_string_value(text), added);
    memcpy(bytes + begin + added, document->text + end, document->size_bytes - end + 1);
    free(document->text);
    document->text = bytes;
    document->size_bytes = size;
}

static void document_change(struct server *server, const char *uri, json_t *changes)
{
    size_t i;
    json_t *change;
    struct document *document = document_find(server, uri);
    if (document == NULL) return;
    json_array_foreach(changes, i, change)
    {
        document_edit(document, change);
    }
    for (i = 0; i < server->count; i++)
        server->documents[i].changed = true;
}

static void publish_uri(const struct server *server, const char *uri, json_t *diagnostics)
{
    json_t *message = json_object(), *params = json_object();
    json_object_set_new(params, "uri", json_string(uri));
    json_object_set_new(params, "diagnostics", diagnostics);
    json_object_set_new(message, "method", json_string("textDocument/publishDiagnostics"));
    json_object_set_new(message, "params", params);
    send_message(server, message);
}

static void document_free(struct document *document)
{
    free(document->uri);
    free(document->path);
    free(document->text);
    json_decref(document->others);
}

static void document_close(struct server *server, const char *uri)
{
    struct document *document = document_find(server, uri);
    if (document == NULL) return;
    publish_uri(server, uri, json_array());
    document_free(document);
    server->count--;
    memmove(document, document + 1,
            (size_t)(server->documents + server->count - document) * sizeof *document);
}

/* ---- answers ---- */

static unsigned position_part(json_t *params, const char *part)
{
    json_int_t number =
        json_integer_value(json_object_get(json_object_get(params, "position"), part));
    return number < 0 ? 0 : number > INT32_MAX ? INT32_MAX : (unsigned)number;
}

static const char *text_of(json_t *params)
{
    json_t *name = json_object_get(params, "newName");
    return json_string_value(name != NULL ? name : json_object_get(params, "query"));
}

static bool wants_declaration(json_t *params)
{
    return json_is_true(json_object_get(json_object_get(params, "context"), "includeDeclaration"));
}

/* `document` NULL: about the whole project. */
static json_t *answer_of(const struct server *server, editor_answer *work,
                         const struct document *document, json_t *params)
{
    struct arena *arena = arena_create();
    struct editor_document *documents =
        ARENA_ARRAY(arena, struct editor_document, server->count + 1);
    struct editor_request request = {.arena = arena,
                                     .documents = documents,
                                     .open_count = server->count,
                                     .document_count = server->count,
                                     .folders = (const char *const *)server->folders,
                                     .folder_count = server->folder_count,
                                     .text = text_of(params),
                                     .with_declaration = wants_declaration(params),
                                     .line = position_part(params, "line"),
                                     .character = position_part(params, "character")};
    for (size_t i = 0; i < server->count; i++) {
        const struct document *d = &server->documents[i];
        documents[i] = (struct editor_document){d->uri, d->path, d->text, d->size_bytes};
        if (d == document) request.document = &documents[i];
    }
    size_t size;
    char *bytes = server->in_process ? answer_here(work, &request, &size)
                                     : answer_of_child(work, &request, 0, &size);
    json_t *answer = bytes != NULL ? json_loadb(bytes, size, JSON_DECODE_ANY, NULL) : NULL;
    free(bytes);
    arena_destroy(arena);
    return answer;
}

static struct document *document_of_path(struct server *server, const char *path)
{
    for (size_t i = 0; path != NULL && i < server->count; i++)
        if (strcmp(server->documents[i].path, path) == 0) return &server->documents[i];
    return NULL;
}

/* Publishes the diagnostics of one file of the answer for `document`. An open file has its own answer. */
static void publish_file(struct server *server, struct document *document, json_t *file)
{
    const char *uri = json_string_value(json_object_get(file, "uri"));
    json_t *diagnostics = json_object_get(file, "diagnostics");
    char *path = uri != NULL ? path_of_uri(uri) : NULL;
    const struct document *of = document_of_path(server, path);
    free(path);
    if (of == document) {
        publish_uri(server, document->uri, json_incref(diagnostics));
    } else if (of == NULL && uri != NULL) {
        publish_uri(server, uri, json_incref(diagnostics));
        json_array_append(document->others, json_object_get(file, "uri"));
    }
}

static void publish_diagnostics(struct server *server, struct document *document)
{
    size_t i;
    json_t *file, *answer = answer_of(server, lsp_diagnostics, document, NULL);
    document->changed = false;
    if (answer == NULL) return;
    json_array_foreach(document->others, i, file)
    {
        publish_uri(server, json_string_value(file), json_array());
    }
    json_array_clear(document->others);
    json_array_foreach(answer, i, file)
    {
        publish_file(server, document, file);
    }
    json_decref(answer);
}

static json_t *text_edit(json_t *edit)
{
    json_t *copy = json_object();
    json_object_set(copy, "range", json_object_get(edit, "range"));
    json_object_set(copy, "newText", json_object_get(edit, "newText"));
    return copy;
}

/* {"changes": {URI: [edit, ...]}} of the edits of a diagnostic. */
static json_t *workspace_edit(json_t *edits)
{
    size_t i;
    json_t *edit, *changes = json_object(), *result = json_object();
    json_array_foreach(edits, i, edit)
    {
        const char *uri = json_string_value(json_object_get(edit, "uri"));
        if (uri == NULL) continue;
        json_t *list = json_object_get(changes, uri);
        if (list == NULL) {
            list = json_array();
            json_object_set_new(changes, uri, list);
        }
        json_array_append_new(list, text_edit(edit));
    }
    json_object_set_new(result, "changes", changes);
    return result;
}

/* A quick fix for each diagnostic that has edits. */
static json_t *code_actions(json_t *params)
{
    size_t i;
    json_t *diagnostic, *actions = json_array();
    json_t *diagnostics = json_object_get(json_object_get(params, "context"), "diagnostics");
    json_array_foreach(diagnostics, i, diagnostic)
    {
        json_t *edits = json_object_get(diagnostic, "data"), *action, *fixed;
        const char *message = json_string_value(json_object_get(diagnostic, "message"));
        if (json_array_size(edits) == 0 || message == NULL) continue;
        const char *help = strstr(message, "\nhelp: ");
        const char *title = help != NULL ? help + strlen("\nhelp: ") : message;
        action = json_object();
        fixed = json_array();
        json_array_append(fixed, diagnostic);
        json_object_set_new(action, "title", json_stringn(title, strcspn(title, "\n")));
        json_object_set_new(action, "kind", json_string("quickfix"));
        json_object_set_new(action, "isPreferred", json_true());
        json_object_set_new(action, "diagnostics", fixed);
        json_object_set_new(action, "edit", workspace_edit(edits));
        json_array_append_new(actions, action);
    }
    return actions;
}

/* ---- methods ---- */

static json_t *words_of(const char *const *words)
{
    json_t *array = json_array();
    for (; *words != NULL; words++)
        json_array_append_new(array, json_string(*words));
    return array;
}

static json_t *server_capabilities(void)
{
    static const char *const enabled[] = {
        "hoverProvider",          "definitionProvider",        "referencesProvider",
        "documentSymbolProvider", "documentHighlightProvider", "workspaceSymbolProvider",
        "inlayHintProvider",      "documentFormattingProvider"};
    json_t *of = json_pack("{s:s,s:{s:b,s:i},s:{s:[s]},s:{s:[s]},s:{s:[s,s,s,s,s]},s:{s:b}}",
                           "positionEncoding", "utf-16", "textDocumentSync", "openClose", 1,
                           "change", SYNC_INCREMENTAL, "codeActionProvider", "codeActionKinds",
                           "quickfix", "completionProvider", "triggerCharacters", ".",
                           "signatureHelpProvider", "triggerCharacters", "(", "<", ",", ";", ">",
                           "renameProvider", "prepareProvider", 1);
    json_t *legend = json_pack("{s:o,s:o}", "tokenTypes", words_of(token_types), "tokenModifiers",
                               words_of(token_modifiers));
    for (size_t i = 0; i < sizeof enabled / sizeof *enabled; i++)
        json_object_set_new(of, enabled[i], json_true());
    json_object_set_new(of, "semanticTokensProvider",
                        json_pack("{s:o,s:b}", "legend", legend, "full", 1));
    return json_pack("{s:o,s:{s:s,s:s}}", "capabilities", of, "serverInfo", "name", "pipec",
                     "version", PIPEC_VERSION);
}

static void folder_add(struct server *server, const char *uri)
{
    if (uri == NULL) return;
    char *path = path_of_uri(uri);
    char **grown = realloc(server->folders, (server->folder_count + 1) * sizeof *grown);
    if (grown != NULL) server->folders = grown;
    if (grown == NULL || path == NULL || *path == '\0') {
        free(path);
        return;
    }
    size_t length = strlen(path);
    if (length > 1 && path[length - 1] == '/') path[length - 1] = '\0';
    server->folders[server->folder_count++] = path;
}

/* Takes the folders of the workspace. */
static void initialize_server(struct server *server, json_t *params)
{
    size_t i;
    json_t *folder, *folders = json_object_get(params, "workspaceFolders");
    json_array_foreach(folders, i, folder)
    {
        folder_add(server, json_string_value(json_object_get(folder, "uri")));
    }
    if (json_array_size(folders) == 0)
        folder_add(server, json_string_value(json_object_get(params, "rootUri")));
    server->initialized = true;
}

static const struct {
    const char *method;
    editor_answer *work;
} works[] = {
    {"textDocument/hover", lsp_hover},
    {"textDocument/definition", answer_definition},
    {"textDocument/references", answer_references},
    {"textDocument/documentHighlight", answer_highlight},
    {"textDocument/prepareRename", answer_prepare_rename},
    {"textDocument/rename", answer_rename},
    {"textDocument/completion", answer_completion},
    {"textDocument/signatureHelp", answer_signature},
    {"textDocument/documentSymbol", answer_symbols},
    {"textDocument/semanticTokens/full", answer_tokens},
    {"textDocument/inlayHint", answer_hints},
    {"textDocument/formatting", lsp_formatting},
    {"workspace/symbol", answer_workspace_symbols},
};

static const char *uri_of(json_t *params)
{
    return json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
}

static void handle_work(struct server *server, json_t *id, editor_answer *work, json_t *params)
{
    const struct document *document = document_find(server, uri_of(params));
    if (document == NULL && work != answer_workspace_symbols) {
        send_error(server, id, ERROR_PARAMS, "the document is not open");
        return;
    }
    json_t *answer = answer_of(server, work, document, params);
    const char *refused = json_string_value(json_object_get(answer, "refused"));
    if (refused != NULL)
        send_error(server, id, ERROR_REQUEST_FAILED, refused);
    else if (answer != NULL)
        send_result(server, id, json_incref(answer));
    else
        send_error(server, id, ERROR_INTERNAL, "pipec has failed on this document");
    json_decref(answer);
}

static void handle_request(struct server *server, json_t *id, const char *method, json_t *params)
{
    if (strcmp(method, "initialize") == 0) {
        initialize_server(server, params);
        send_result(server, id, server_capabilities());
        return;
    }
    if (!server->initialized) {
        send_error(server, id, ERROR_UNINITIALIZED, "'initialize' comes first");
        return;
    }
    if (server->shut_down) {
        send_error(server, id, ERROR_REQUEST, "the server is shut down");
        return;
    }
    if (strcmp(method, "shutdown") == 0) {
        server->shut_down = true;
        send_result(server, id, NULL);
        return;
    }
    if (strcmp(method, "textDocument/codeAction") == 0) {
        send_result(server, id, code_actions(params));
        return;
    }
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strcmp(method, works[i].method) == 0) {
            handle_work(server, id, works[i].work, params);
            return;
        }
    send_error(server, id, ERROR_METHOD, "there is no such method");
}

static void handle_notification(struct server *server, const char *method, json_t *params)
{
    if (strcmp(method, "exit") == 0) {
        server->ended = true;
        server->status = server->shut_down ? EXIT_DONE : EXIT_REFUSED;
    } else if (strcmp(method, "textDocument/didOpen") == 0) {
        document_open(server, json_object_get(params, "textDocument"));
    } else if (strcmp(method, "textDocument/didChange") == 0) {
        document_change(server, uri_of(params), json_object_get(params, "contentChanges"));
    } else if (strcmp(method, "textDocument/didClose") == 0) {
        document_close(server, uri_of(params));
    }
}

static void handle_message(struct server *server, json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
    if (method == NULL) {
        /* An answer to the server, which asks nothing, has no method. */
        if (json_object_get(message, "result") == NULL && json_object_get(message, "error") == NULL)
            send_error(server, id, ERROR_REQUEST, "a message has a method");
    } else if (id != NULL)
        handle_request(server, id, method, params);
    else
        handle_notification(server, method, params);
}

/* ---- the loop ---- */

/* True if no byte of a message waits. The input has no buffer, so poll(2) sees all bytes. */
static bool input_rests(const struct server *server)
{
    struct pollfd input = {.fd = fileno(server->from), .events = POLLIN};
    return server->in_process || poll(&input, 1, 0) == 0;
}

/* False: the input has ended, or is no message. */
static bool handle_next(struct server *server)
{
    size_t length;
    if (!read_header(server->from, &length)) return false;
    char *body = malloc(length + 1);
    if (body == NULL || fread(body, 1, length, server->from) != length) {
        free(body);
        return false;
    }
    json_t *message = json_loadb(body, length, JSON_ALLOW_NUL, NULL);
    free(body);
    if (json_is_object(message))
        handle_message(server, message);
    else
        send_error(server, NULL, ERROR_PARSE, "the message is no JSON object");
    json_decref(message);
    return true;
}

int lsp_server_run(FILE *from, FILE *to, bool in_process)
{
    struct server server = {
        .from = from, .to = to, .in_process = in_process, .status = EXIT_REFUSED};
    while (!server.ended && handle_next(&server))
        for (size_t i = 0; i < server.count && input_rests(&server); i++)
            if (server.documents[i].changed) publish_diagnostics(&server, &server.documents[i]);
    while (server.count > 0)
        document_free(&server.documents[--server.count]);
    while (server.folder_count > 0)
        free(server.folders[--server.folder_count]);
    free(server.documents);
    free(server.folders);
    return server.status;
}
