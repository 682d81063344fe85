/* SPDX-License-Identifier: MIT */
#include "tests/unit/built_container.h"

#include <stdio.h>
#include <stdlib.h>

#include "compiler/driver/passes.h"
#include "runtime/verify/verify.h"
#include "tests/test.h"
#include "tests/unit/compile_text.h"

static uint8_t *container_bytes(const char *text, const char *pipeline, const char *device,
                                bool debug_mode, enum buffers_mode buffers, size_t *size)
{
    struct text_compile *c = text_compile_pipeline(text, pipeline);
    struct compile *cx = &c->cx;
    cx->options.debug_mode = debug_mode;
    cx->options.buffers = buffers;
    struct devdesc description;
    char *bytes = NULL;
    FILE *to = open_memstream(&bytes, size);
    assert_non_null(to);
    assert_true(devdesc_builtin(device, &description));
    cx->options.fuse = FUSE_NEVER;
    cx->device = &description;
    struct passes passes = passes_of_graph(cx, c->graph);
    if (c->graph == NULL || !passes_run(&passes, PASS_CONTAINER))
        fail_msg("%s", text_compile_messages(c));
    fwrite(passes.container.bytes, 1, passes.container.size_bytes, to);
    fclose(to);
    text_compile_free(c);
    return (uint8_t *)bytes;
}

uint8_t *built_container_bytes(const char *text, const char *pipeline, const char *device,
                               size_t *size)
{
    return container_bytes(text, pipeline, device, false, BUFFERS_DEFAULT, size);
}

uint8_t *built_debug_container_bytes(const char *text, const char *pipeline, const char *device,
                                     size_t *size)
{
    return container_bytes(text, pipeline, device, true, BUFFERS_DEFAULT, size);
}

uint8_t *built_small_container_bytes(const char *text, const char *pipeline, const char *device,
                                     size_t *size)
{
    return container_bytes(text, pipeline, device, false, BUFFERS_MIN, size);
}

struct prt_container built_container(const char *text, const char *pipeline, const char *device)
{
    struct prt_container container;
    struct prt_error error;
    size_t size;
    uint8_t *bytes = built_container_bytes(text, pipeline, device, &size);
    if (prt_container_read_memory(bytes, size, &container, &error) != PRT_OK ||
        prt_verify(&container, &error) != PRT_OK)
        fail_msg("%s", error.message);
    free(bytes);
    return container;
}
