/* SPDX-License-Identifier: MIT */
#include "compiler/commands/edit_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compiler/commands/answer_child.h"
#include "compiler/commands/edit_file.h"
#include "compiler/commands/edit_work.h"
#include "compiler/commands/http_library.h"
#include "compiler/describe/edit_page.h"
#include "compiler/driver/driver_files.h"

enum { SECRET_BYTES = 16, SECRET_DIGITS = 2 * SECRET_BYTES, WAIT_MILLISECONDS = 1000 };

struct edit_server {
    struct http_library http;
    const struct editor_request *request;
    struct edit_file file;
    char token[SECRET_DIGITS + 1], session[SECRET_DIGITS + 1]; /* token "": used */
    char address[32], named_address[32]; /* "127.0.0.1:PORT", "localhost:PORT" */
};

/* One request while its body arrives. */
struct incoming {
    char *body;
    size_t size_bytes;
    bool too_large;
};

struct answer {
    unsigned status;
    json_t *object; /* or */
    char *page;     /* owned; NULL with `object` NULL: no body */
    size_t page_bytes;
    const char *allow;             /* of status 405 */
    char nonce[SECRET_DIGITS + 1]; /* of the page's script */
};

/* ---- secrets ---- */

/* False: the system gives no random bytes (errno). */
static bool make_secret(char *text)
{
    unsigned char bytes[SECRET_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

/* In a time that does not depend on where they differ. */
static bool secret_is(const char *secret, const char *given)
{
    if (given == NULL || strlen(given) != SECRET_DIGITS || strlen(secret) != SECRET_DIGITS)
        return false;
    unsigned different = 0;
    for (size_t i = 0; i < SECRET_DIGITS; i++)
        different |= (unsigned char)secret[i] ^ (unsigned char)given[i];
    return different == 0;
}

/* ---- answers ---- */

static struct answer answer_error(unsigned status, const char *text)
{
    return (struct answer){.status = status, .object = json_pack("{s:s}", "error", text)};
}

static struct answer answer_failed(unsigned status, const char *what, const char *path)
{
    const char *reason = strerror(errno);
    return (struct answer){
        .status = status,
        .object = json_pack("{s:s+++++}", "error", "cannot ", what, " '", path, "': ", reason)};
}

static struct editor_request request_about(const struct edit_server *server,
                                           const struct edit_text *text,
                                           struct editor_document *document, struct arena *arena)
{
    struct editor_request request = *server->request;
    *document = *request.document;
    document->text = text->bytes;
    document->size_bytes = text->size_bytes;
    request.arena = arena;
    request.documents = request.document = document;
    request.document_count = request.open_count = 1;
    return request;
}

/* {"hash", "undo", "state"} of the text; NULL: the child has failed. */
static json_t *state_of_text(const struct edit_server *server, const struct edit_text *text)
{
    size_t size;
    struct editor_document document;
    struct arena *arena = arena_create();
    struct editor_request request = request_about(server, text, &document, arena);
    char *bytes = answer_of_child(edit_state, &request, EDIT_ANSWER_SECONDS, &size);
    json_t *state = bytes != NULL ? json_loadb(bytes, size, 0, NULL) : NULL;
    free(bytes);
    arena_destroy(arena);
    if (state == NULL) return NULL;
    return json_pack("{s:s,s:b,s:o}", "hash", text->hash, "undo",
                     edit_file_earlier(&server->file, text->hash) != NULL, "state", state);
}

static const char child_failed[] = "pipec has failed on this file, or took too long";

static struct answer answer_state(const struct edit_server *server, const char *known)
{
    struct edit_text text;
    if (!edit_file_read(&server->file, &text)) return answer_failed(409, "read", server->file.path);
    bool same = known != NULL && strcmp(known, text.hash) == 0;
    json_t *object = same ? NULL : state_of_text(server, &text);
    edit_text_free(&text);
    if (same) return (struct answer){.status = 304};
    if (object == NULL) return answer_error(500, child_failed);
    return (struct answer){.status = 200, .object = object};
}

static struct answer answer_conflict(const struct edit_server *server, const struct edit_text *text)
{
    json_t *object = state_of_text(server, text);
    if (object == NULL) return answer_error(500, child_failed);
    json_object_set_new(object, "error", json_string("the file has changed on disk"));
    return (struct answer){.status = 409, .object = object};
}

/* ---- edits ---- */

/* The errors among the diagnostics of the file and of those that it imports. */
static size_t diagnosed_errors(json_t *state)
{
    enum { SEVERITY_ERROR = 1 };
    size_t i, k, errors = 0;
    json_t *file, *diagnostic;
    json_array_foreach(json_object_get(state, "diagnostics"), i, file)
    {
        json_array_foreach(json_object_get(file, "diagnostics"), k, diagnostic)
        {
            errors += json_integer_value(json_object_get(diagnostic, "severity")) == SEVERITY_ERROR;
        }
    }
    return errors;
}

/* Writes the new text, and says so in the answer. */
static struct answer write_text(struct edit_server *server, struct edit_text *before,
                                const char *bytes, size_t size, json_t *state, bool is_undo)
{
    char hash[EDIT_HASH_DIGITS + 1];
    if (!edit_file_write(&server->file, before, bytes, size, hash)) {
        struct edit_text now;
        bool changed = errno == 0;
        json_decref(state);
        if (!changed) return answer_failed(500, "write", server->file.path);
        if (!edit_file_read(&server->file, &now))
            return answer_failed(409, "read", server->file.path);
        struct answer answer = answer_conflict(server, &now);
        edit_text_free(&now);
        return answer;
    }
    if (is_undo) {
        edit_file_forget(&server->file);
    } else {
        edit_file_remember(&server->file, *before, hash);
        *before = (struct edit_text){0};
    }
    json_t *object = json_pack("{s:b,s:i,s:s,s:b,s:o}", "written", 1, "errors",
                               (int)diagnosed_errors(state), "hash", hash, "undo",
                               edit_file_earlier(&server->file, hash) != NULL, "state", state);
    return (struct answer){.status = 200, .object = object};
}

/* Writes the earlier text again. Nothing is asked: the file had this text. */
static struct answer undo_edit(struct edit_server *server, struct edit_text *text)
{
    const struct edit_text *earlier = edit_file_earlier(&server->file, text->hash);
    if (earlier == NULL) return answer_error(422, "there is nothing to undo");
    json_t *object = state_of_text(server, earlier);
    if (object == NULL) return answer_error(500, child_failed);
    json_t *state = json_incref(json_object_get(object, "state"));
    json_decref(object);
    return write_text(server, text, earlier->bytes, earlier->size_bytes, state, true);
}

/* The answer of edit_apply: the size, the new text, the state. NULL: malformed. */
static json_t *split_applied(char *bytes, size_t size, const char **text, size_t *text_bytes)
{
    char *end;
    unsigned long long length = strtoull(bytes, &end, 10);
    if (end == bytes || *end != '\n') return NULL;
    size_t head = (size_t)(end + 1 - bytes);
    if (length > size - head) return NULL;
    *text = bytes + head;
    *text_bytes = (size_t)length;
    return json_loadb(bytes + head + length, size - head - (size_t)length, 0, NULL);
}

static struct answer answer_refused(json_t *state)
{
    json_t *object = json_object();
    json_object_set(object, "error", json_object_get(state, "refused"));
    if (json_object_get(state, "line") != NULL) {
        json_object_set(object, "line", json_object_get(state, "line"));
        json_object_set(object, "column", json_object_get(state, "column"));
    }
    json_decref(state);
    return (struct answer){.status = 422, .object = object};
}

static struct answer apply_edit(struct edit_server *server, json_t *asked, struct edit_text *text)
{
    size_t size, new_bytes = 0;
    const char *new_text = NULL;
    struct editor_document document;
    struct arena *arena = arena_create();
    struct editor_request request = request_about(server, text, &document, arena);
    char *operation = json_dumps(asked, JSON_COMPACT);
    request.text = operation;
    char *bytes = operation != NULL
                      ? answer_of_child(edit_apply, &request, EDIT_ANSWER_SECONDS, &size)
                      : NULL;
    json_t *state = bytes != NULL ? split_applied(bytes, size, &new_text, &new_bytes) : NULL;
    struct answer answer;
    if (state == NULL) {
        answer = answer_error(500, child_failed);
    } else if (json_object_get(state, "refused") != NULL) {
        answer = answer_refused(state);
    } else if (diagnosed_errors(state) > 0 && !json_is_true(json_object_get(asked, "confirm"))) {
        answer = (struct answer){.status = 200,
                                 .object = json_pack("{s:b,s:i,s:s,s:o}", "written", 0, "errors",
                                                     (int)diagnosed_errors(state), "hash",
                                                     text->hash, "state", state)};
    } else {
        answer = write_text(server, text, new_text, new_bytes, state, false);
    }
    free(bytes);
    free(operation);
    arena_destroy(arena);
    return answer;
}

static struct answer answer_edit(struct edit_server *server, json_t *asked)
{
    struct edit_text text;
    struct answer answer;
    const char *hash = json_string_value(json_object_get(asked, "hash"));
    const char *operation = json_string_value(json_object_get(asked, "op"));
    if (hash == NULL || operation == NULL)
        return answer_error(400, "an edit has 'hash', of the file that it is for, and 'op'");
    if (!edit_file_read(&server->file, &text)) return answer_failed(409, "read", server->file.path);
    if (strcmp(hash, text.hash) != 0)
        answer = answer_conflict(server, &text);
    else if (strcmp(operation, "undo") == 0)
        answer = undo_edit(server, &text);
    else
        answer = apply_edit(server, asked, &text);
    edit_text_free(&text);
    return answer;
}

/* ---- requests ---- */

static struct answer answer_session(struct edit_server *server, json_t *asked)
{
    const char *token = json_string_value(json_object_get(asked, "token"));
    if (!secret_is(server->token, token))
        return answer_error(403, "the token is not the one that 'pipec edit' has printed, or was "
                                 "used before: start it again");
    server->token[0] = '\0';
    return (struct answer){.status = 200, .object = json_pack("{s:s}", "session", server->session)};
}

static struct answer answer_page(void)
{
    struct answer answer = {.status = 200};
    if (!make_secret(answer.nonce)) return answer_error(500, "no random bytes");
    answer.page = edit_page(answer.nonce, &answer.page_bytes);
    return answer.page != NULL ? answer : answer_error(500, "no memory");
}

static const char *header_of(const struct edit_server *server, struct http_connection *connection,
                             const char *name)
{
    return server->http.lookup_connection_value(connection, HTTP_KIND_HEADER, name);
}

/* The addresses that a browser has when it shows this server's page. */
static bool is_own_address(const struct edit_server *server, const char *given)
{
    return strcmp(given, server->address) == 0 || strcmp(given, server->named_address) == 0;
}

/* NULL, or why the request is none of this server's page. */
static const char *foreign_reason(const struct edit_server *server,
                                  struct http_connection *connection, bool is_post)
{
    static const char scheme[] = "http://";
    const char *host = header_of(server, connection, "Host");
    const char *origin = header_of(server, connection, "Origin");
    if (host == NULL || !is_own_address(server, host)) return "the host is not this server's";
    if (origin == NULL) return is_post ? "a POST names its origin" : NULL;
    if (strncmp(origin, scheme, sizeof scheme - 1) == 0 &&
        strcmp(origin + sizeof scheme - 1, host) == 0)
        return NULL;
    return "the origin is not this server's";
}

static struct answer answer_post(struct edit_server *server, struct http_connection *connection,
                                 bool is_edit, const struct incoming *incoming)
{
    static const char json_type[] = "application/json";
    const char *type = header_of(server, connection, "Content-Type");
    if (incoming->too_large) return answer_error(413, "the request is too large");
    if (type == NULL || strncasecmp(type, json_type, sizeof json_type - 1) != 0 ||
        (type[sizeof json_type - 1] != '\0' && type[sizeof json_type - 1] != ';'))
        return answer_error(415, "a request is application/json");
    if (is_edit && !secret_is(server->session, header_of(server, connection, "X-Pipec-Session")))
        return answer_error(401, "the session is not known");
    json_t *asked = incoming->size_bytes > 0 ? json_loadb(incoming->body, incoming->size_bytes,
                                                          JSON_REJECT_DUPLICATES, NULL)
                                             : NULL;
    if (!json_is_object(asked)) {
        json_decref(asked);
        return answer_error(400, "the request is no JSON object");
    }
    struct answer answer = is_edit ? answer_edit(server, asked) : answer_session(server, asked);
    json_decref(asked);
    return answer;
}

static struct answer answer_request(struct edit_server *server, struct http_connection *connection,
                                    const char *path, const char *method,
                                    const struct incoming *incoming)
{
    bool is_post = strcmp(method, "POST") == 0;
    bool is_edit = strcmp(path, "/edit") == 0,
         takes_post = is_edit || strcmp(path, "/session") == 0;
    bool is_page = strcmp(path, "/") == 0, takes_get = is_page || strcmp(path, "/state") == 0;
    const char *foreign = foreign_reason(server, connection, is_post);
    if (foreign != NULL) return answer_error(403, foreign);
    if (!takes_post && !takes_get) return answer_error(404, "there is no such page");
    if (takes_post ? !is_post : strcmp(method, "GET") != 0) {
        struct answer answer = answer_error(405, "the page has no such method");
        answer.allow = takes_post ? "POST" : "GET";
        return answer;
    }
    if (takes_post) return answer_post(server, connection, is_edit, incoming);
    if (incoming->too_large) return answer_error(413, "the request is too large");
    if (is_page) return answer_page();
    if (!secret_is(server->session, header_of(server, connection, "X-Pipec-Session")))
        return answer_error(401, "the session is not known");
    return answer_state(server, header_of(server, connection, "If-None-Match"));
}

/* ---- HTTP ---- */

static int send_answer(struct edit_server *server, struct http_connection *connection,
                       struct answer *answer)
{
    const struct http_library *http = &server->http;
    char policy[256];
    char *body = answer->object != NULL ? json_dumps(answer->object, JSON_COMPACT) : answer->page;
    size_t size = answer->object == NULL ? answer->page_bytes : body != NULL ? strlen(body) : 0;
    bool is_page = answer->object == NULL && answer->page != NULL;
    json_decref(answer->object);
    if (body == NULL) body = calloc(1, 1);
    void *response = http->create_response_from_buffer(size, body, HTTP_MEMORY_MUST_FREE);
    if (response == NULL) {
        free(body);
        return HTTP_NO;
    }
    snprintf(policy, sizeof policy,
             "default-src 'none'; script-src 'nonce-%s'; style-src 'unsafe-inline'; connect-src "
             "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
             is_page ? answer->nonce : "none");
    const char *const headers[][2] = {
        {"Content-Type", is_page ? "text/html; charset=utf-8" : "application/json"},
        {"Content-Security-Policy", policy},
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Allow", answer->allow},
    };
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (headers[i][1] != NULL)
            http->add_response_header(response, headers[i][0], headers[i][1]);
    int queued = http->queue_response(connection, answer->status, response);
    http->destroy_response(response);
    return queued;
}

/* False: close the connection. */
static bool take_body(struct incoming *incoming, const char *body, size_t size)
{
    incoming->too_large |= incoming->size_bytes + size > EDIT_BODY_MAX_BYTES;
    incoming->size_bytes += size;
    if (incoming->size_bytes > EDIT_BODY_REFUSED_BYTES) return false;
    if (incoming->too_large) return true;
    char *grown = realloc(incoming->body, incoming->size_bytes);
    if (grown == NULL) return false;
    memcpy(grown + incoming->size_bytes - size, body, size);
    incoming->body = grown;
    return true;
}

static int take_request(void *data, struct http_connection *connection, const char *path,
                        const char *method, const char *version, const char *body,
                        size_t *body_bytes, void **request)
{
    (void)version;
    struct incoming *incoming = *request;
    if (incoming == NULL) {
        *request = calloc(1, sizeof(struct incoming));
        return *request != NULL ? HTTP_YES : HTTP_NO;
    }
    if (*body_bytes > 0) {
        bool taken = take_body(incoming, body, *body_bytes);
        *body_bytes = 0;
        return taken ? HTTP_YES : HTTP_NO;
    }
    struct answer answer = answer_request(data, connection, path, method, incoming);
    return send_answer(data, connection, &answer);
}

static void end_request(void *data, struct http_connection *connection, void **request, int reason)
{
    (void)data, (void)connection, (void)reason;
    struct incoming *incoming = *request;
    if (incoming != NULL) free(incoming->body);
    free(incoming);
    *request = NULL;
}

/* ---- the server ---- */

/* A socket that listens on 127.0.0.1; -1: errno. Child processes do not get it. */
static int listen_on_loopback(unsigned *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)*port)};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return -1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, EDIT_CONNECTIONS_MAX) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
        int error = errno;
        close(listener);
        errno = error;
        return -1;
    }
    *port = ntohs(address.sin_port);
    return listener;
}

static int serve_requests(struct edit_server *server, int listener, unsigned port)
{
    const struct http_library *http = &server->http;
    snprintf(server->address, sizeof server->address, "127.0.0.1:%u", port);
    snprintf(server->named_address, sizeof server->named_address, "localhost:%u", port);
    void *daemon = http->start_daemon(
        0, 0, NULL, NULL, take_request, server, HTTP_OPTION_LISTEN_SOCKET, listener,
        HTTP_OPTION_CONNECTIONS, (unsigned)EDIT_CONNECTIONS_MAX, HTTP_OPTION_CONNECTION_TIMEOUT,
        (unsigned)EDIT_CONNECTION_SECONDS, HTTP_OPTION_NOTIFY_COMPLETED, end_request, NULL,
        HTTP_OPTION_STRICT_FOR_CLIENT, 1, HTTP_OPTION_END);
    if (daemon == NULL) {
        close(listener);
        fputs("pipec: error: " HTTP_LIBRARY " does not start a server\n", stderr);
        return EXIT_FILES;
    }
    printf("http://%s/#%s\n", server->address, server->token);
    int status = standard_output_status();
    while (status == EXIT_DONE && http->run_wait(daemon, WAIT_MILLISECONDS) == HTTP_YES)
        continue;
    http->stop_daemon(daemon);
    return status == EXIT_DONE ? EXIT_INTERNAL : status;
}

int edit_server_run(const struct editor_request *request, unsigned port)
{
    struct edit_server server = {.request = request, .file = {.path = request->document->path}};
    const char *problem = http_library_load(&server.http);
    if (problem != NULL) {
        fprintf(stderr,
                "pipec: error: cannot load " HTTP_LIBRARY
                ", which serves the page: %s (the package "
                "libmicrohttpd12 has it)\n",
                problem);
        return EXIT_FILES;
    }
    if (!make_secret(server.token) || !make_secret(server.session))
        return file_failure("read", "random bytes");
    int listener = listen_on_loopback(&port);
    if (listener < 0) {
        fprintf(stderr, "pipec: error: cannot listen on 127.0.0.1:%u: %s\n", port, strerror(errno));
        return EXIT_FILES;
    }
    return serve_requests(&server, listener, port);
}
