/* SPDX-License-Identifier: MIT */
#include "runtime/host/pipert_arguments.h"

#include "lang/scalar_text.h"

#include <stdlib.h>
#include <string.h>

enum prt_status prt_arguments_create(const struct prt_container *c, struct prt_arguments *arguments,
                                     struct prt_error *error)
{
    arguments->block = calloc(1, (size_t)c->pipeline->arguments_bytes + 8);
    arguments->set = calloc((size_t)c->argument_count + 1, sizeof *arguments->set);
    if (arguments->block == NULL || arguments->set == NULL)
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < c->argument_count; i++) {
        const struct container_argument *a = &c->arguments[i];
        if (!a->has_default) continue;
        memcpy(arguments->block + a->offset_bytes, &a->default_bits,
               scalar_width_bytes((enum scalar_type)a->scalar));
        arguments->set[i] = true;
    }
    return PRT_OK;
}

void prt_arguments_free(struct prt_arguments *arguments)
{
    free(arguments->block);
    free(arguments->set);
    *arguments = (struct prt_arguments){.block = NULL};
}

static enum prt_status refuse_value(const char *name, const char *text, enum scalar_type type,
                                    struct prt_error *error)
{
    char why[SCALAR_WHY_BYTES];
    scalar_explain(text, type, why, sizeof why);
    return prt_error_set(error, PRT_E_USAGE, "argument '%s': %s", name, why);
}

enum prt_status prt_arguments_set(const struct prt_container *c, struct prt_arguments *arguments,
                                  const char *name, const char *text, struct prt_error *error)
{
    for (uint32_t i = 0; i < c->argument_count; i++) {
        const struct container_argument *a = &c->arguments[i];
        if (strcmp(prt_container_text(c, a->name), name) != 0) continue;
        enum scalar_type type = (enum scalar_type)a->scalar;
        uint64_t bits = 0;
        if (!scalar_parse(text, type, &bits)) return refuse_value(name, text, type, error);
        memcpy(arguments->block + a->offset_bytes, &bits, scalar_width_bytes(type));
        arguments->set[i] = true;
        return PRT_OK;
    }
    return prt_error_set(error, PRT_E_USAGE, "pipeline '%s' has no argument '%s'",
                         prt_container_text(c, c->pipeline->name), name);
}

enum prt_status prt_arguments_check(const struct prt_container *c,
                                    const struct prt_arguments *arguments, struct prt_error *error)
{
    for (uint32_t i = 0; i < c->argument_count; i++) {
        if (!arguments->set[i])
            return prt_error_set(error, PRT_E_USAGE, "argument '%s' has no value",
                                 prt_container_text(c, c->arguments[i].name));
    }
    return PRT_OK;
}
