/* SPDX-License-Identifier: MIT */
#include "runtime/load/image_ptx.h"

#include "lang/gpu_abi.h"
#include "runtime/load/verify_rule.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ptx {
    const struct prt_container *container;
    const char *text;
    uint64_t size_bytes, offset;
    struct prt_error *error;
    uint8_t *found;   /* by the number of a kernel: a bit for each kind of entry */
    uint64_t kernels; /* only kernels with lower numbers are looked for */
    bool has_arguments, has_call;
};

static enum prt_status refuse_ptx(const struct ptx *ptx, uint64_t at, const char *format, ...)
    PRT_PRINTF(3, 4);

static enum prt_status refuse_ptx(const struct ptx *ptx, uint64_t at, const char *format, ...)
{
    char reason[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    return prt_error_set_at(ptx->error, PRT_E_FORMAT, ptx->offset + at,
                            "container: the image for GPUs %s", reason);
}

/* ---- text ---- */

static bool is_text(char byte)
{
    return (byte >= ' ' && byte <= '~') || byte == '\n' || byte == '\t';
}

static enum prt_status verify_text(const struct ptx *ptx)
{
    if (!PRT_HOLDS(ptx->size_bytes > 0)) return refuse_ptx(ptx, 0, "is empty");
    uint64_t last = ptx->size_bytes - 1;
    if (!PRT_HOLDS(ptx->text[last] == '\0'))
        return refuse_ptx(ptx, last, "does not end with a NUL");
    for (uint64_t i = 0; i < last; i++)
        if (!PRT_HOLDS(is_text(ptx->text[i])))
            return refuse_ptx(ptx, i, "has a byte that no text has: 0x%02x",
                              (unsigned)(unsigned char)ptx->text[i]);
    return PRT_OK;
}

/* ---- entries ---- */

static const char *const entry_names[GPU_ENTRY_KINDS] = {"_run(", "_init(", "_finish("};

static bool line_begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* Notes the entry that the text after "pipe_k" names. */
static void note_kernel(struct ptx *ptx, const char *text)
{
    uint64_t number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 10) return;
    for (size_t i = 0; i < digits; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    if (number >= ptx->kernels) return;
    for (unsigned kind = 0; kind < GPU_ENTRY_KINDS; kind++)
        if (line_begins_with(text + digits, entry_names[kind]))
            ptx->found[number] |= (uint8_t)(1u << kind);
}

/* Finds the declarations of functions: there "(" follows the name.  In a call "," or the end follows it. */
static void find_ptx_entries(struct ptx *ptx)
{
    static const char prefix[] = "pipe_";
    for (const char *at = strstr(ptx->text, prefix); at != NULL; at = strstr(at, prefix)) {
        at += strlen(prefix);
        if (at[0] == 'k') note_kernel(ptx, at + 1);
        if (line_begins_with(at, "arguments(")) ptx->has_arguments = true;
        if (line_begins_with(at, "call(")) ptx->has_call = true;
    }
}

static bool has_entry(const struct ptx *ptx, uint32_t kernel, enum gpu_entry entry)
{
    return kernel < ptx->kernels && (ptx->found[kernel] >> entry & 1) != 0;
}

static bool has_entries(const struct ptx *ptx, const struct container_node *node)
{
    return has_entry(ptx, node->kernel, GPU_ENTRY_RUN) &&
           ((node->flags & CONTAINER_NODE_INIT) == 0 ||
            has_entry(ptx, node->kernel, GPU_ENTRY_INIT)) &&
           ((node->flags & CONTAINER_NODE_FINISH) == 0 ||
            has_entry(ptx, node->kernel, GPU_ENTRY_FINISH));
}

static enum prt_status verify_ptx_entries(const struct ptx *ptx)
{
    const struct prt_container *c = ptx->container;
    if (!PRT_HOLDS(ptx->has_arguments)) return refuse_ptx(ptx, 0, "has no 'pipe_arguments'");
    if (!PRT_HOLDS(ptx->has_call)) return refuse_ptx(ptx, 0, "has no 'pipe_call'");
    for (uint32_t i = 0; i < c->node_count; i++)
        if (!PRT_HOLDS(has_entries(ptx, &c->nodes[i])))
            return refuse_ptx(ptx, 0, "lacks an entry of kernel %" PRIu32 " (node '%.100s')",
                              c->nodes[i].kernel, prt_container_text(c, c->nodes[i].name));
    for (uint32_t i = 0; i < c->interface_count; i++)
        if (!PRT_HOLDS(has_entry(ptx, c->interfaces[i].kernel, GPU_ENTRY_RUN)))
            return refuse_ptx(ptx, 0, "lacks the entry of kernel %" PRIu32 " ('%.100s')",
                              c->interfaces[i].kernel,
                              prt_container_text(c, c->interfaces[i].title));
    return PRT_OK;
}

/* ---- questions ---- */

bool prt_image_ptx_has_threads(const struct prt_container *c, const struct container_node *node)
{
    const uint32_t alone = CONTAINER_NODE_STATEFUL | CONTAINER_NODE_LAUNCHES;
    uint64_t ends = (uint64_t)node->input_count + node->output_count;
    return (node->flags & alone) == 0 && node->state_bytes == 0 && ends <= GPU_ENDS_MAX &&
           (c->pipeline->flags & CONTAINER_PIPELINE_DEBUG) == 0;
}

const struct container_image *prt_image_ptx_find(const struct prt_container *c, uint64_t capability)
{
    for (uint32_t i = 0; i < c->image_count; i++)
        if (c->images[i].kind == CONTAINER_IMAGE_PTX && c->images[i].features <= capability)
            return &c->images[i];
    return NULL;
}

/* ---- verification ---- */

enum prt_status prt_image_ptx_verify(const struct prt_container *container,
                                     const struct container_image *image, struct prt_error *error)
{
    struct ptx ptx = {.container = container,
                      .text = (const char *)container->image + image->offset_bytes,
                      .size_bytes = image->size_bytes,
                      .offset =
                          container->section_offset_bytes[CONTAINER_IMAGE] + image->offset_bytes,
                      .error = error,
                      .kernels = (uint64_t)container->node_count + container->interface_count};
    enum prt_status status = verify_text(&ptx);
    if (status != PRT_OK) return status;
    ptx.found = calloc(ptx.kernels + 1, 1);
    if (ptx.found == NULL) return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    find_ptx_entries(&ptx);
    status = verify_ptx_entries(&ptx);
    free(ptx.found);
    return status;
}
