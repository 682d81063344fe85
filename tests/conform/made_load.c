/* SPDX-License-Identifier: MIT */
#include "tests/test.h"

#include "tests/conform/made_load.h"

struct prt_program *made_load(struct made *made, const struct prt_image_kernel *kernels)
{
    struct prt_program *program = NULL;
    struct prt_error error = {0};
    size_t size;
    uint8_t *bytes = made_finish(made, &size);
    made_free(made);
    if (prt_program_load_with_entries(bytes, size, kernels, NULL, &program, &error) != PRT_OK)
        fail_msg("%s", error.message);
    free(bytes);
    return program;
}
