/* SPDX-License-Identifier: MIT */
#include "runtime/backend/cuda/cuda_driver.h"

#include "base/library_functions.h"

#include <dlfcn.h>

static enum prt_status find_functions(struct prt_cuda_driver *driver, struct prt_error *error)
{
    const struct library_function rows[] = {
#define ROW(member, name, parameters, arguments) {name, &driver->member},
        PRT_CUDA_CALLS(ROW)
#undef ROW
    };
    const char *missing =
        library_find_functions(driver->library, rows, sizeof rows / sizeof rows[0]);
    if (missing == NULL) return PRT_OK;
    return prt_error_set(error, PRT_E_DEVICE,
                         "device 'cuda': NVIDIA's driver is too old: it has no '%s'; install a "
                         "driver of CUDA 11.8 or newer, or run on the host's cores (--device cpu)",
                         missing);
}

enum prt_status prt_cuda_driver_open(struct prt_cuda_driver *driver, struct prt_error *error)
{
    *driver = (struct prt_cuda_driver){.library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)};
    if (driver->library == NULL)
        return prt_error_set(error, PRT_E_DEVICE,
                             "device 'cuda': NVIDIA's driver is not installed (libcuda.so.1); run "
                             "on the host's cores (--device cpu), or compile for a simulated GPU "
                             "(pipec --device=sim-h100)");
    enum prt_status status = find_functions(driver, error);
    if (status != PRT_OK) prt_cuda_driver_close(driver);
    return status;
}

void prt_cuda_driver_close(struct prt_cuda_driver *driver)
{
    if (driver->library != NULL) dlclose(driver->library);
    driver->library = NULL;
}

const char *prt_cuda_error_name(const struct prt_cuda_driver *driver, int result)
{
    const char *name = NULL;
    return driver->error_name(result, &name) == PRT_CUDA_SUCCESS && name != NULL
               ? name
               : "an unknown error";
}
