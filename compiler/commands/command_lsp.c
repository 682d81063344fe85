/* SPDX-License-Identifier: MIT */
/*
 * pipec lsp: a language server on standard input and output.
 *
 * This process reads messages and keeps the open documents. Each answer is computed in a child process (lsp_work.h), from the
 * texts that the editor holds. Diagnostics are computed when no message waits, so fast typing delays them.
 */
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compiler/commands/commands.h"
#include "compiler/commands/lsp_work.h"
#include "compiler/driver/command_line.h"
#include "compiler/driver/driver_files.h"
#include "base/words.h"

static const char help_text[] =
    "usage: pipec lsp [--stdio]\n"
    "\n"
    "A language server for editors, on standard input and output: diagnostics while typing, "
    "fixes,\n"
    "hover, definitions, completion, symbols and formatting. docs/editors.md sets up editors.\n"
    "\n"
    "  --stdio               the only transport, and the default\n"
    "  -h, --help, --version[=json]  this text; the version\n"
    "\n"
    "Exit status: 0 after 'shutdown' and 'exit', 1 without 'shutdown', 2 usage or files.\n";

/* Numbers of the protocol and of JSON-RPC. */
enum {
    MESSAGE_MAX_BYTES = 256 << 20,
    ANSWER_MAX_BYTES = 256 << 20,
    HEADER_MAX_BYTES = 4096,
    ERROR_PARSE = -32700,
    ERROR_REQUEST = -32600,
    ERROR_METHOD = -32601,
    ERROR_PARAMS = -32602,
    ERROR_INTERNAL = -32603,
    ERROR_UNINITIALIZED = -32002,
};

struct document {
    char *uri, *path, *text;
    size_t size_bytes;
    bool changed;   /* since its diagnostics were computed */
    json_t *others; /* the files that are not open and have diagnostics because of it */
};

struct server {
    struct document *documents;
    size_t count;
    bool initialized, shut_down, ended;
    int status;
};

/* ---- messages ---- */

static bool read_bytes(char *to, size_t size)
{
    return fread(to, 1, size, stdin) == size;
}

/* The body's length, from the header lines up to an empty one. False: the end, or no such header. */
static bool read_header(size_t *length)
{
    static const char name[] = "Content-Length:";
    char line[HEADER_MAX_BYTES];
    *length = SIZE_MAX;
    while (fgets(line, sizeof line, stdin) != NULL) {
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

static void send_message(json_t *message)
{
    json_object_set_new(message, "jsonrpc", json_string("2.0"));
    char *text = json_dumps(message, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text != NULL) {
        printf("Content-Length: %zu\r\n\r\n%s", strlen(text), text);
        fflush(stdout);
    }
    free(text);
    json_decref(message);
}

/* `result` becomes the message's. */
static void send_result(json_t *id, json_t *result)
{
    json_t *message = json_object();
    json_object_set(message, "id", id);
    json_object_set_new(message, "result", result != NULL ? result : json_null());
    send_message(message);
}

static void send_error(json_t *id, int code, const char *text)
{
    json_t *message = json_object(), *error = json_object();
    if (id != NULL)
        json_object_set(message, "id", id);
    else
        json_object_set_new(message, "id", json_null());
    json_object_set_new(error, "code", json_integer(code));
    json_object_set_new(error, "message", json_string(text));
    json_object_set_new(message, "error", error);
    send_message(message);
}

static void send_notification(const char *method, json_t *params)
{
    json_t *message = json_object();
    json_object_set_new(message, "method", json_string(method));
    json_object_set_new(message, "params", params);
    send_message(message);
}

/* ---- documents ---- */

static int hexadecimal(char digit)
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
        int high = *uri == '%' ? hexadecimal(uri[1]) : -1;
        int low = high >= 0 ? hexadecimal(uri[2]) : -1;
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

static void document_change(struct server *server, const char *uri, json_t *changes)
{
    struct document *document = document_find(server, uri);
    if (document == NULL || json_array_size(changes) == 0) return;
    json_t *text = json_object_get(json_array_get(changes, json_array_size(changes) - 1), "text");
    if (!json_is_string(text)) return;
    document_set_text(document, text);
    for (size_t i = 0; i < server->count; i++)
        server->documents[i].changed = true;
}

static void publish(const char *uri, json_t *diagnostics)
{
    json_t *params = json_object();
    json_object_set_new(params, "uri", json_string(uri));
    json_object_set_new(params, "diagnostics", diagnostics);
    send_notification("textDocument/publishDiagnostics", params);
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
    publish(uri, json_array());
    document_free(document);
    server->count--;
    memmove(document, document + 1,
            (size_t)(server->documents + server->count - document) * sizeof *document);
}

/* ---- answers ---- */

_Noreturn static void work_in_child(lsp_work *work, const struct lsp_request *request, int to)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = dup(STDERR_FILENO);
    if (null >= 0) dup2(null, STDOUT_FILENO); /* nothing but messages goes to the editor */
    FILE *file = fdopen(to, "w");
    if (file == NULL) _exit(EXIT_FILES);
    work(request, file);
    _exit(fclose(file) == 0 ? EXIT_DONE : EXIT_FILES);
}

static json_t *read_answer(int from)
{
    FILE *file = fdopen(from, "r");
    if (file == NULL) {
        close(from);
        return NULL;
    }
    json_t *answer = json_loadf(file, JSON_DECODE_ANY, NULL);
    fclose(file);
    return answer;
}

/* The answer of a child process, or NULL if it has failed. */
static json_t *answer_of(const struct server *server, lsp_work *work,
                         const struct document *document, unsigned line, unsigned character)
{
    int ends[2], status = -1;
    struct lsp_document *documents = calloc(server->count + 1, sizeof *documents);
    struct lsp_request request = {documents, server->count, NULL, line, character};
    if (documents == NULL || pipe(ends) != 0) {
        free(documents);
        return NULL;
    }
    for (size_t i = 0; i < server->count; i++) {
        const struct document *d = &server->documents[i];
        documents[i] = (struct lsp_document){d->uri, d->path, d->text, d->size_bytes};
        if (d == document) request.document = &documents[i];
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        work_in_child(work, &request, ends[1]);
    }
    close(ends[1]);
    json_t *answer = read_answer(ends[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    free(documents);
    if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE) return answer;
    json_decref(answer);
    return NULL;
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
        publish(document->uri, json_incref(diagnostics));
    } else if (of == NULL && uri != NULL) {
        publish(uri, json_incref(diagnostics));
        json_array_append(document->others, json_object_get(file, "uri"));
    }
}

static void publish_diagnostics(struct server *server, struct document *document)
{
    size_t i;
    json_t *file, *answer = answer_of(server, lsp_diagnostics, document, 0, 0);
    document->changed = false;
    if (answer == NULL) return;
    json_array_foreach(document->others, i, file) publish(json_string_value(file), json_array());
    json_array_clear(document->others);
    json_array_foreach(answer, i, file) publish_file(server, document, file);
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

static json_t *capabilities(void)
{
    return json_pack("{s:{s:s,s:{s:b,s:i},s:b,s:b,s:{},s:b,s:b,s:{s:[s]}},s:{s:s,s:s}}",
                     "capabilities", "positionEncoding", "utf-16", "textDocumentSync", "openClose",
                     1, "change", 1, "hoverProvider", 1, "definitionProvider", 1,
                     "completionProvider", "documentSymbolProvider", 1,
                     "documentFormattingProvider", 1, "codeActionProvider", "codeActionKinds",
                     "quickfix", "serverInfo", "name", "pipec", "version", PIPEC_VERSION);
}

static const struct {
    const char *method;
    lsp_work *work;
} works[] = {
    {"textDocument/hover", lsp_hover},           {"textDocument/definition", lsp_definition},
    {"textDocument/completion", lsp_completion}, {"textDocument/documentSymbol", lsp_symbols},
    {"textDocument/formatting", lsp_formatting},
};

static unsigned position_part(json_t *params, const char *part)
{
    json_int_t number =
        json_integer_value(json_object_get(json_object_get(params, "position"), part));
    return number < 0 ? 0 : number > INT32_MAX ? INT32_MAX : (unsigned)number;
}

static const char *uri_of(json_t *params)
{
    return json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
}

static void handle_work(struct server *server, json_t *id, lsp_work *work, json_t *params)
{
    const struct document *document = document_find(server, uri_of(params));
    if (document == NULL) {
        send_error(id, ERROR_PARAMS, "the document is not open");
        return;
    }
    json_t *answer = answer_of(server, work, document, position_part(params, "line"),
                               position_part(params, "character"));
    if (answer != NULL)
        send_result(id, answer);
    else
        send_error(id, ERROR_INTERNAL, "pipec has failed on this document");
}

static void handle_request(struct server *server, json_t *id, const char *method, json_t *params)
{
    if (strcmp(method, "initialize") == 0) {
        server->initialized = true;
        send_result(id, capabilities());
        return;
    }
    if (!server->initialized) {
        send_error(id, ERROR_UNINITIALIZED, "'initialize' comes first");
        return;
    }
    if (server->shut_down) {
        send_error(id, ERROR_REQUEST, "the server is shut down");
        return;
    }
    if (strcmp(method, "shutdown") == 0) {
        server->shut_down = true;
        send_result(id, NULL);
        return;
    }
    if (strcmp(method, "textDocument/codeAction") == 0) {
        send_result(id, code_actions(params));
        return;
    }
    for (size_t i = 0; i < sizeof works / sizeof *works; i++)
        if (strcmp(method, works[i].method) == 0) {
            handle_work(server, id, works[i].work, params);
            return;
        }
    send_error(id, ERROR_METHOD, "there is no such method");
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
            send_error(id, ERROR_REQUEST, "a message has a method");
    } else if (id != NULL)
        handle_request(server, id, method, params);
    else
        handle_notification(server, method, params);
}

/* ---- the loop ---- */

/* True if no byte of a message waits. Standard input has no buffer, so poll(2) sees all bytes. */
static bool input_rests(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&input, 1, 0) == 0;
}

static void publish_when_idle(struct server *server)
{
    for (size_t i = 0; i < server->count && input_rests(); i++)
        if (server->documents[i].changed) publish_diagnostics(server, &server->documents[i]);
}

/* False: the input has ended, or is no message. */
static bool handle_next(struct server *server)
{
    size_t length;
    if (!read_header(&length)) return false;
    char *body = malloc(length + 1);
    if (body == NULL || !read_bytes(body, length)) {
        free(body);
        return false;
    }
    json_t *message = json_loadb(body, length, JSON_ALLOW_NUL, NULL);
    free(body);
    if (json_is_object(message))
        handle_message(server, message);
    else
        send_error(NULL, ERROR_PARSE, "the message is no JSON object");
    json_decref(message);
    return true;
}

int command_lsp(int argc, char **argv)
{
    struct server server = {.status = EXIT_REFUSED};
    for (int i = 1; i < argc; i++) {
        if (command_line_answer(argv[i], help_text)) return standard_output_status();
        if (strcmp(argv[i], "--stdio") == 0) continue;
        fprintf(stderr,
                "pipec: error: unknown option '%s'\n"
                "pipec: 'pipec lsp --help' lists the options\n",
                argv[i]);
        return EXIT_FILES;
    }
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, a child leaves no status */
    setvbuf(stdin, NULL, _IONBF, 0);
    while (!server.ended && handle_next(&server))
        publish_when_idle(&server);
    while (server.count > 0)
        document_free(&server.documents[--server.count]);
    free(server.documents);
    return server.status;
}
