/* SPDX-License-Identifier: MIT */
#include "runtime/host/pipert_choice.h"

#include "lang/sched_code.h"
#include "model/tree_device.h"
#include "runtime/backend/cpu/cpu.h"
#include "runtime/backend/cuda/cuda.h"
#include "runtime/backend/null/null.h"
#include "runtime/backend/sim/sim.h"
#include "runtime/device/description.h"
#include "runtime/device/host_thread.h"
#include "runtime/device/subdevice_path.h"
#include "runtime/device/subdevice_words.h"
#include "runtime/verify/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the device that the program was compiled for ---- */

/* The container's device, if its description is not known. */
static void describe_roughly(const struct prt_container *c, struct devdesc *description)
{
    *description = (struct devdesc){
        .cu_count = c->device->cu_count,
        .lanes = c->device->lanes,
        .schemes = DEVDESC_EQUALLY | DEVDESC_BY_COUNTS | DEVDESC_BY_AFFINITY,
        .max_sub_devices = c->device->cu_count,
        .reference_entries = DISPATCH_ENTRIES_MAX,
    };
    /* The domains are those into which the program cuts its device. */
    struct sched_instruction instruction;
    for (uint32_t at = 0; sched_decode(c->code, c->code_bytes, at, &instruction);
         at += instruction.size_bytes)
        if (instruction.opcode == SCHED_PARTITION_AFFINITY)
            description->cus_per_domain[instruction.operands[0]] = instruction.operands[1];
    snprintf(description->name, sizeof description->name, "%s",
             prt_container_text(c, c->device->name));
}

/* Opens the description that `name` stands for.  It must be the one for which the container was compiled. */
static enum prt_status choose_description(const struct prt_container *c, const char *name,
                                          const struct prt_reporter *reporter,
                                          struct devdesc *description, struct prt_error *error)
{
    const char *compiled_for = prt_container_text(c, c->device->name);
    if (name == NULL) name = compiled_for;
    enum prt_status status = prt_description_open(name, "null, ", reporter, description, error);
    if (status == PRT_E_USAGE && strcmp(name, compiled_for) == 0)
        return prt_error_set(error, PRT_E_DEVICE,
                             "the container was compiled for device '%s', whose description has to "
                             "be given: --device FILE.dev",
                             name);
    if (status != PRT_OK) return status;
    if (strcmp(description->name, compiled_for) != 0)
        return prt_error_set(error, PRT_E_DEVICE,
                             "the container was compiled for device '%s', not '%s': pipec --device "
                             "compiles for another",
                             compiled_for, description->name);
    if (devdesc_hash(description) != c->device->description_hash ||
        description->cu_count != c->device->cu_count || description->lanes != c->device->lanes)
        return prt_error_set(error, PRT_E_DEVICE,
                             "the container was compiled for another description of device '%s': "
                             "compile it anew, with --device for the present one",
                             compiled_for);
    return PRT_OK;
}

/* For devices that execute every program, whatever its device: the description of its device, or a rough one. */
static void describe_own(const struct prt_container *c, struct devdesc *description)
{
    const struct prt_reporter nobody = {NULL, NULL};
    if (choose_description(c, NULL, &nobody, description, NULL) != PRT_OK)
        describe_roughly(c, description);
}

/* The host has the compute units that the program asks for; time is real, in nanoseconds. */
static void describe_host(const struct prt_container *c, struct devdesc *description)
{
    describe_own(c, description);
    description->clock_hz = 1000000000;
    description->launch_enqueue_cycles = description->launch_process_cycles = 0;
    description->launch_cleanup_cycles = description->switch_cycles = 0;
}

_Static_assert((int)DEVDESC_HOST_CORES_MAX == (int)PRT_HOST_THREADS_MAX, "cpu:N has N threads");

static enum prt_status choose_own(const struct prt_container *c, const char *name,
                                  const struct prt_reporter *reporter,
                                  struct prt_device_choice *choice, struct prt_error *error)
{
    uint32_t cores;
    enum prt_status status = PRT_OK;
    enum prt_cuda_kind gpu = prt_cuda_find_name(name, &choice->number);
    if (gpu != PRT_CUDA_NONE) {
        choice->ops = gpu == PRT_CUDA_REAL ? &prt_cuda_device : &prt_cuda_emulated_device;
        describe_host(c, &choice->description);
    } else if (strcmp(name, "null") == 0) {
        choice->ops = &prt_null_device;
        describe_own(c, &choice->description);
    } else if (devdesc_host_cores(name, &cores)) {
        choice->ops = &prt_cpu_device;
        describe_host(c, &choice->description);
        if (choice->host_threads == 0) choice->host_threads = cores;
    } else {
        choice->ops = &prt_sim_device;
        status = choose_description(c, name, reporter, &choice->description, error);
        if ((status == PRT_OK || status == PRT_E_DEVICE) && choice->description.cuda != 0) {
            choice->ops = &prt_cuda_device;
            describe_host(c, &choice->description);
            status = PRT_OK;
        }
    }
    if (choice->ops->resident_begin != NULL) status = prt_cuda_check_container(c, error);
    return status == PRT_OK ? prt_verify_device(c, &choice->description, error) : status;
}

/* ---- a device of which the program uses a part ---- */

static enum prt_status refuse_parts(const char *name, struct prt_error *error)
{
    return prt_error_set(
        error, PRT_E_USAGE,
        "device '%s' has no sub-devices to run on: simulated devices and GPUs have", name);
}

static enum prt_status open_named(const char *name, const struct prt_reporter *reporter,
                                  struct prt_device_choice *choice, struct prt_error *error)
{
    uint32_t cores;
    if (strcmp(name, "null") == 0 || devdesc_host_cores(name, &cores))
        return refuse_parts(name, error);
    return prt_description_open(name, "", reporter, &choice->description, error);
}

/* The device that the tree divides; if the options name one, it must be the same. */
static enum prt_status open_divided(const struct prt_run_options *options,
                                    const struct prt_reporter *reporter,
                                    struct prt_device_choice *choice, struct prt_error *error)
{
    const struct devdesc *divided = prt_device_tree_description(options->tree);
    if (divided == NULL)
        return prt_error_set(error, PRT_E_USAGE,
                             "the tree is of no device: prt_device_open makes one that is");
    if (divided->host) return refuse_parts("cpu", error);
    if (options->device != NULL) {
        enum prt_status status = open_named(options->device, reporter, choice, error);
        if (status != PRT_OK) return status;
        if (devdesc_hash(&choice->description) != devdesc_hash(divided))
            return prt_error_set(error, PRT_E_INVALID_DEVICE,
                                 "the handle is one of device '%s', not of '%s'", divided->name,
                                 options->device);
    }
    choice->description = *divided;
    choice->tree = options->tree;
    return PRT_OK;
}

/* Does the name, or the description of that name, stand for a GPU? */
static enum prt_cuda_kind find_gpu_name(const char *name, uint32_t *number)
{
    struct devdesc description;
    enum prt_cuda_kind kind = prt_cuda_find_name(name, number);
    if (kind != PRT_CUDA_NONE || !devdesc_builtin(name, &description)) return kind;
    return description.cuda != 0 ? PRT_CUDA_REAL : PRT_CUDA_NONE;
}

/* A program runs on any part of a GPU: the part's multiprocessors are divided among the program's compute units. */
static enum prt_status choose_gpu_part(const struct prt_container *c,
                                       const struct prt_run_options *options,
                                       enum prt_cuda_kind kind, struct prt_device_choice *choice,
                                       struct prt_error *error)
{
    choice->ops = kind == PRT_CUDA_REAL ? &prt_cuda_device : &prt_cuda_emulated_device;
    choice->tree = options->tree;
    describe_host(c, &choice->description);
    enum prt_status status = prt_cuda_check_container(c, error);
    return status == PRT_OK ? prt_verify_device(c, &choice->description, error) : status;
}

/* The lanes of the device must be those for which the kernels were compiled.  The part has everything but its number of
 * compute units in common with the whole. */
static enum prt_status choose_whole(const struct prt_container *c,
                                    const struct prt_run_options *options, const char *name,
                                    const struct prt_reporter *reporter,
                                    struct prt_device_choice *choice, struct prt_error *error)
{
    struct devdesc *whole = &choice->description, part;
    const struct devdesc *divided =
        options->tree != NULL ? prt_device_tree_description(options->tree) : NULL;
    enum prt_cuda_kind gpu = find_gpu_name(
        divided != NULL && options->device == NULL ? divided->name : name, &choice->number);
    if (gpu != PRT_CUDA_NONE) return choose_gpu_part(c, options, gpu, choice, error);
    enum prt_status status = options->tree != NULL ? open_divided(options, reporter, choice, error)
                                                   : open_named(name, reporter, choice, error);
    if (status != PRT_OK) return status;
    choice->ops = &prt_sim_device;
    if (whole->cuda != 0) return choose_gpu_part(c, options, PRT_CUDA_REAL, choice, error);
    if (whole->lanes != c->device->lanes)
        return prt_error_set(error, PRT_E_DEVICE,
                             "the container was compiled for device '%s', whose compute units have "
                             "%" PRIu32 " lanes; those of '%s' have %" PRIu32,
                             prt_container_text(c, c->device->name), c->device->lanes, whole->name,
                             whole->lanes);
    part = *whole;
    part.cu_count = c->device->cu_count;
    return prt_verify_device(c, &part, error);
}

/* Retains a (sub-)device, and attaches to it, so that it can be used however often its owner releases it.  Returns what
 * these return. */
static enum prt_status attach_part(struct prt_device_tree *tree, struct prt_device_handle part)
{
    enum prt_status status = prt_device_attach(tree, part);
    if (status == PRT_OK && (status = prt_device_retain(tree, part)) != PRT_OK)
        (void)prt_device_detach(tree, part);
    return status;
}

void prt_device_leave_part(struct prt_device_tree *tree, struct prt_device_handle part)
{
    (void)prt_device_release(tree, part);
    (void)prt_device_detach(tree, part);
}

static enum prt_status find_path(const struct prt_run_options *options,
                                 struct prt_device_tree *tree, struct prt_device_handle *part,
                                 struct prt_error *error)
{
    uint32_t failed;
    enum prt_status status =
        prt_sub_device_find(tree, options->sub_device, options->sub_device_steps, part, &failed);
    if (status == PRT_E_OUT_OF_HOST_MEMORY || status == PRT_E_NOMEM)
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    if (status != PRT_OK)
        return prt_error_set(error, status, "step %" PRIu32 " of the path to a sub-device: %s",
                             failed + 1, prt_status_text(status));
    (void)attach_part(tree, *part); /* it has just been made */
    (void)prt_device_release(tree, *part);
    return PRT_OK;
}

static enum prt_status find_handle(const struct prt_run_options *options,
                                   struct prt_device_handle *part, struct prt_error *error)
{
    *part = options->part;
    enum prt_status status = attach_part(options->tree, *part);
    if (status == PRT_E_INVALID_DEVICE)
        return prt_error_set(error, status,
                             "the handle is of no device of the tree, or has been released");
    return status == PRT_OK ? PRT_OK : prt_error_set(error, status, "%s", prt_status_text(status));
}

/* Says how the program can be compiled so that it fits. */
static enum prt_status refuse_size(const struct prt_container *c,
                                   const struct prt_run_options *options,
                                   struct prt_device_tree *tree, struct prt_device_handle part,
                                   struct prt_error *error)
{
    char command[320];
    struct prt_device_information information;
    const char *compiled_for = prt_container_text(c, c->device->name);
    const char *name = options->device != NULL ? options->device
                       : options->tree != NULL ? prt_device_tree_description(tree)->name
                                               : compiled_for;
    prt_device_query(tree, part, &information);
    const char *kind = information.depth == 0 ? "device" : "sub-device";
    if (!prt_sub_device_tell(tree, part, name, command, sizeof command))
        snprintf(command, sizeof command, "pipec --device %s",
                 information.depth == 0 ? name : "FILE.dev, of piperun partition --describe");
    return prt_error_set(error, PRT_E_DEVICE,
                         "the container was compiled for device '%s' of %" PRIu32
                         " compute units, the %s has %" PRIu32 ": compile it for that one: %s",
                         compiled_for, c->device->cu_count, kind, information.cu_count, command);
}

enum prt_status prt_device_choose_part(const struct prt_container *c,
                                       const struct prt_run_options *options, bool gpu,
                                       struct prt_device_tree *tree, struct prt_device_handle *part,
                                       struct prt_error *error)
{
    struct prt_device_information information;
    enum prt_status status = options->tree != NULL ? find_handle(options, part, error)
                                                   : find_path(options, tree, part, error);
    if (status != PRT_OK) return status;
    prt_device_query(tree, *part, &information);
    if (gpu ? information.cu_count > 1 : information.cu_count == c->device->cu_count) return PRT_OK;
    status = gpu ? prt_error_set(error, PRT_E_DEVICE,
                                 "a sub-device of one multiprocessor is too small for a run: one "
                                 "executes the scheduler, and one or more the kernels")
                 : refuse_size(c, options, tree, *part, error);
    prt_device_leave_part(tree, *part);
    return status;
}

/* ---- the choice ---- */

enum prt_status prt_device_choose(const struct prt_container *c,
                                  const struct prt_run_options *options,
                                  struct prt_device_choice *choice, struct prt_error *error)
{
    const struct prt_run_options defaults = {.device = NULL};
    if (options == NULL) options = &defaults;
    if (options->tree != NULL ? options->sub_device_steps > 0 : options->part.generation != 0)
        return prt_error_set(error, PRT_E_USAGE,
                             options->tree != NULL
                                 ? "a run is on the device of a handle, or at the end of a path"
                                 : "a device handle needs its tree");
    const struct prt_reporter reporter = {options->report, options->report_context};
    const char *name = options->device;
    if (name == NULL) name = prt_container_text(c, c->device->name);
    *choice = (struct prt_device_choice){.host_threads = options->host_threads};
    return prt_options_have_part(options) ? choose_whole(c, options, name, &reporter, choice, error)
                                          : choose_own(c, name, &reporter, choice, error);
}
