/* SPDX-License-Identifier: MIT */
/*
 * edit_server: the HTTP server of `pipec edit`, on the loopback address.
 *
 *     GET  /          the page, without data of the file
 *     POST /session   {"token": T} -> {"session": S}; a token is good for one session
 *     GET  /state     {"hash", "undo", "state"}; 304 if the header If-None-Match has the hash of the file
 *     POST /edit      {"hash", "op", ...}, {"confirm": true} -> {"written", "errors", "hash", "undo", "state"}
 *
 * The last two need the header X-Pipec-Session. Every request needs the Host of this server; a POST, and every request with an
 * Origin, needs its Origin. Answers of other statuses are {"error"}: 409 (with "hash" and "state") if the file is not the one of
 * the hash, 422 (with "line" and "column") if the operation is refused.
 */
#ifndef PIPEC_EDIT_SERVER_H
#define PIPEC_EDIT_SERVER_H

#include "compiler/editor/editor_request.h"

enum {
    EDIT_BODY_MAX_BYTES = 64 << 10,    /* of a request; larger ones get status 413 */
    EDIT_BODY_REFUSED_BYTES = 1 << 20, /* beyond this many, the connection is closed */
    EDIT_CONNECTIONS_MAX = 32,
    EDIT_CONNECTION_SECONDS = 20, /* without a byte */
    EDIT_ANSWER_SECONDS = 60,     /* of a compilation */
};

/* Serves until the process gets a signal. `request` has the file, as a document without a text, and the options. `port` 0: any free
 * one. Returns an exit status, with the reason reported. */
int edit_server_run(const struct editor_request *request, unsigned port);

#endif
