/* SPDX-License-Identifier: MIT */
/* cuda_code: compiles and loads the code of a run; finds how many threads a block can have. */
#ifndef RUNTIME_BACKEND_CUDA_CUDA_CODE_H
#define RUNTIME_BACKEND_CUDA_CUDA_CODE_H

#include "runtime/backend/cuda/cuda_run.h"

/* PRT_E_DEVICE: the driver refuses the code, or the scheduler was not built. */
enum prt_status prt_cuda_code_load(struct prt_cuda_run *run, struct prt_error *error);
void prt_cuda_code_unload(struct prt_cuda_run *run);

#endif
