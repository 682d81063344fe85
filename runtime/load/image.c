/* SPDX-License-Identifier: MIT */
#include "runtime/load/image.h"

#include "lang/cpu_features.h"
#include "runtime/load/image_elf.h"
#include "runtime/load/image_ptx.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- which image ---- */

static uint64_t image_offset(const struct prt_container *c, const struct container_image *image)
{
    return c->section_offset_bytes[CONTAINER_IMAGE] + image->offset_bytes;
}

static bool is_for_processors(const struct container_image *image)
{
    return image->kind == CONTAINER_IMAGE_X86;
}

/* The names of the images of that kind, cut off at `size`; returns the last of them, or NULL. */
static const struct container_image *
list_images(const struct prt_container *c, enum container_image_kind kind, char *isas, size_t size)
{
    const struct container_image *last = NULL;
    size_t at = 0;
    isas[0] = '\0';
    for (uint32_t i = 0; i < c->image_count; i++) {
        if (c->images[i].kind != kind) continue;
        const char *isa = prt_container_text(c, c->images[i].isa);
        if (at < size) /* equivalent: into room for nothing nothing is written */
            at += (size_t)snprintf(isas + at, size - at, "%s%s", last != NULL ? ", " : "", isa);
        last = &c->images[i];
    }
    return last;
}

static enum prt_status refuse_processor(const struct prt_container *c, uint64_t host,
                                        struct prt_error *error)
{
    char missing[256], isas[128]; /* equivalent: a longer text is cut a byte later */
    const struct container_image *least = list_images(c, CONTAINER_IMAGE_X86, isas, sizeof isas);
    if (least == NULL) {
        const struct container_image *other =
            list_images(c, CONTAINER_IMAGE_PTX, isas, sizeof isas);
        prt_error_set_at(error, PRT_E_DEVICE, image_offset(c, other),
                         "container: no image for processors: there are only images for GPUs "
                         "(%s); add an instruction set: --march=x86-64-v3,%s",
                         isas, prt_container_text(c, other->isa));
        return PRT_E_DEVICE;
    }
    cpu_features_text(least->features & ~host, missing, sizeof missing);
    prt_error_set_at(error, PRT_E_DEVICE, image_offset(c, least),
                     "container: no image for this processor: there are %s, and the last one "
                     "needs %s; compile with --march=x86-64, or for the processors to run on",
                     isas, missing);
    return PRT_E_DEVICE;
}

static enum prt_status choose_image(const struct prt_container *c, struct prt_image *image,
                                    struct prt_error *error)
{
    if (c->image_count == 0) {
        prt_error_set_at(error, PRT_E_FORMAT, c->section_offset_bytes[CONTAINER_IMAGES],
                         "container: there is no image");
        return PRT_E_FORMAT;
    }
#if defined(__x86_64__)
    uint64_t host = cpu_features_of_host();
    for (uint32_t i = 0; i < c->image_count && image->chosen == NULL; i++)
        if (is_for_processors(&c->images[i]) && (c->images[i].features & ~host) == 0)
            image->chosen = &c->images[i];
    if (image->chosen != NULL) return PRT_OK;
    return refuse_processor(c, host, error);
#else
    return prt_error_set(error, PRT_E_DEVICE, "container: its images are for x86-64 processors");
#endif
}

/* ---- loading ---- */

/* False: errno says why. */
static bool write_all(int fd, const uint8_t *bytes, uint64_t size)
{
    while (size > 0) { /* equivalent: no write leaves a single byte unwritten */
        ssize_t written = write(fd, bytes, (size_t)size);
        /* equivalent: of some bytes none are written to a file without an error */
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        bytes += written;
        size -= (uint64_t)written;
    }
    return true;
}

/* The linker's message without the name of the memory file, which means nothing to users. */
static const char *reason_of_linker(const char *path)
{
    const char *why = dlerror();
    size_t length = strlen(path);
    /* uncovered: the C library has a reason for each failure */
    if (why == NULL) return "unknown reason";
    /* a library that the image needs has a name of its own */
    if (strncmp(why, path, length) != 0) return why;
    return why + length + strspn(why + length, ": ");
}

/* A memory file, unless PIPERT_IMAGE_FOLDER is set: then *kept, a file where a profiler finds it, which
 * names functions by the file that they were loaded from; it stays if the image is loaded. */
static enum prt_status create_file(struct prt_image *image, char *path, size_t size, bool *kept,
                                   struct prt_error *error)
{
    const char *folder = secure_getenv("PIPERT_IMAGE_FOLDER");
    *kept = folder != NULL && folder[0] != '\0';
    if (!*kept) {
        image->fd = memfd_create("pipec-image", MFD_CLOEXEC);
        if (image->fd < 0)
            return prt_error_set(error, PRT_E_NOMEM, "no memory file for the image: %s",
                                 strerror(errno));
        snprintf(path, size, "/proc/self/fd/%d", image->fd);
        return PRT_OK;
    }
    int length = snprintf(path, size, "%s/pipec-%ld-XXXXXX.so", folder, (long)getpid());
    /* uncovered: nothing in this format can fail.  equivalent: nor is the text empty */
    if (length < 0 || (size_t)length >= size)
        return prt_error_set(error, PRT_E_OPEN, "PIPERT_IMAGE_FOLDER: the name is too long");
    image->fd = mkostemps(path, 3, O_CLOEXEC);
    if (image->fd < 0)
        return prt_error_set(error, PRT_E_OPEN, "PIPERT_IMAGE_FOLDER: cannot create '%s': %s", path,
                             strerror(errno));
    return PRT_OK;
}

static enum prt_status refuse_image_write(const char *path, bool kept, struct prt_error *error)
{
    if (kept)
        return prt_error_set(error, PRT_E_WRITE, "PIPERT_IMAGE_FOLDER: cannot write '%s': %s", path,
                             strerror(errno));
    return prt_error_set(error, PRT_E_NOMEM, "no memory for the image: %s", strerror(errno));
}

static enum prt_status open_library(const struct prt_container *c, struct prt_image *image,
                                    struct prt_error *error)
{
    char path[PATH_MAX];
    bool kept;
    enum prt_status status = create_file(image, path, sizeof path, &kept, error);
    if (status != PRT_OK) return status;
    const uint8_t *bytes = c->image + image->chosen->offset_bytes;
    if (!write_all(image->fd, bytes, image->chosen->size_bytes))
        status = refuse_image_write(path, kept, error);
    else if ((image->library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) == NULL)
        status = prt_error_set(error, PRT_E_OPEN, "container: cannot load the image: %s",
                               reason_of_linker(path));
    if (status != PRT_OK && kept) (void)unlink(path);
    return status;
}

/* The address of a symbol through memcpy: ISO C has no cast from void * to a function. */
static bool find_entry(const struct prt_image *image, uint32_t kernel, const char *entry, void *out)
{
    char symbol[64]; /* equivalent: the longest one, of kernel 4294967295, has 24 */
    snprintf(symbol, sizeof symbol, "pipe_k%u_%s", kernel, entry);
    void *address = dlsym(image->library, symbol);
    memcpy(out, &address, sizeof address);
    return address != NULL;
}

static bool find_entries(const struct prt_image *image, const struct container_node *node,
                         struct prt_image_kernel *out)
{
    bool found = find_entry(image, node->kernel, "run", &out->run);
    if (node->flags & CONTAINER_NODE_INIT)
        found &= find_entry(image, node->kernel, "init", &out->init);
    if (node->flags & CONTAINER_NODE_FINISH)
        found &= find_entry(image, node->kernel, "finish", &out->finish);
    return found;
}

/* Foreign code says for which declaration it was written. */
static enum prt_status check_signatures(const struct prt_container *c,
                                        const struct prt_image *image, struct prt_error *error)
{
    for (uint32_t i = 0; i < c->foreign_count; i++) {
        const char *name = prt_container_text(c, c->foreign[i].name);
        const char *wanted = prt_container_text(c, c->foreign[i].signature), *found = NULL;
        char *symbol;
        if (asprintf(&symbol, "%s_signature", name) < 0)
            return prt_error_set(error, PRT_E_NOMEM, "out of memory");
        found = dlsym(image->library, symbol);
        free(symbol);
        if (found == NULL)
            return prt_error_set(error, PRT_E_FORMAT,
                                 "container: the code of the extern kernel '%s' does not say for "
                                 "which declaration it was written",
                                 name);
        if (strcmp(found, wanted) != 0)
            return prt_error_set(error, PRT_E_FORMAT,
                                 "container: the code of the extern kernel '%s' was written for "
                                 "another declaration: '%.80s', not '%.80s'; compile it again",
                                 name, found, wanted);
    }
    return PRT_OK;
}

static enum prt_status bind_entries(const struct prt_container *c, struct prt_image *image,
                                    struct prt_error *error)
{
    void *arguments = dlsym(image->library, "pipe_arguments");
    memcpy(&image->arguments, &arguments, sizeof arguments);
    if (arguments == NULL)
        return prt_error_set(error, PRT_E_FORMAT, "container: the image has no 'pipe_arguments'");
    for (uint32_t i = 0; i < c->node_count; i++) {
        if (!find_entries(image, &c->nodes[i], &image->nodes[i]))
            return prt_error_set(error, PRT_E_FORMAT,
                                 "container: the image lacks an entry of kernel %u (node '%s')",
                                 c->nodes[i].kernel, prt_container_text(c, c->nodes[i].name));
    }
    for (uint32_t i = 0; i < c->interface_count; i++) {
        const struct container_interface *interface = &c->interfaces[i];
        if (!find_entry(image, interface->kernel, "run", &image->nodes[c->node_count + i].run))
            return prt_error_set(error, PRT_E_FORMAT,
                                 "container: the image lacks the entry of kernel %u ('%s')",
                                 interface->kernel, prt_container_text(c, interface->title));
    }
    return PRT_OK;
}

static enum prt_status allocate_nodes(const struct prt_container *c, struct prt_image *image,
                                      struct prt_error *error)
{
    *image = (struct prt_image){.fd = -1};
    /* equivalent: where the C library gives memory for nothing, one more is none less */
    image->nodes = calloc((size_t)c->node_count + c->interface_count + 1, sizeof *image->nodes);
    image->allowed = calloc((size_t)c->library_count + 1, sizeof *image->allowed);
    if (image->nodes == NULL || image->allowed == NULL ||
        pthread_mutex_init(&image->lock, NULL) != 0) {
        free(image->nodes);
        free(image->allowed);
        *image = (struct prt_image){.fd = -1};
        return prt_error_set(error, PRT_E_NOMEM, "out of memory");
    }
    image->interfaces = image->nodes + c->node_count;
    return PRT_OK;
}

static enum prt_status verify_image(const struct prt_container *c,
                                    const struct container_image *image, struct prt_error *error)
{
    if (image->kind == CONTAINER_IMAGE_PTX) return prt_image_ptx_verify(c, image, error);
    return prt_image_elf_verify(c->image + image->offset_bytes, image->size_bytes,
                                image_offset(c, image), c->foreign_count > 0 ? c : NULL, error);
}

enum prt_status prt_image_verify_all(const struct prt_container *container, struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    for (uint32_t i = 0; i < container->image_count && status == PRT_OK; i++)
        status = verify_image(container, &container->images[i], error);
    return status;
}

enum prt_status prt_image_choose(const struct prt_container *container, struct prt_image *image,
                                 struct prt_error *error)
{
    enum prt_status status = allocate_nodes(container, image, error);
    if (status == PRT_OK) status = choose_image(container, image, error);
    if (status == PRT_OK) status = verify_image(container, image->chosen, error);
    if (status != PRT_OK) prt_image_free(image);
    return status;
}

/* An image that could not be loaded is as it was before. */
static void image_unload(struct prt_image *image)
{
    if (image->library != NULL) dlclose(image->library);
    if (image->fd >= 0) close(image->fd);
    image->library = NULL;
    image->fd = -1;
}

void prt_image_allow(const struct prt_container *container, struct prt_image *image,
                     const char *library)
{
    pthread_mutex_lock(&image->lock);
    for (uint32_t i = 0; i < container->library_count; i++)
        if (strcmp(prt_container_text(container, container->libraries[i].name), library) == 0)
            image->allowed[i] = true;
    pthread_mutex_unlock(&image->lock);
}

/* A library executes code of its own when it is loaded, and it is not in the container.  So the user has to allow it. */
static enum prt_status check_libraries(const struct prt_container *c, const struct prt_image *image,
                                       struct prt_error *error)
{
    for (uint32_t i = 0; i < c->library_count; i++) {
        const char *name = prt_container_text(c, c->libraries[i].name);
        if (!image->allowed[i])
            return prt_error_set(error, PRT_E_USAGE,
                                 "foreign code of the container needs the library '%s', which has "
                                 "not been allowed: piperun --allow-library=%s",
                                 name, name);
    }
    return PRT_OK;
}

enum prt_status prt_image_open(const struct prt_container *container, struct prt_image *image,
                               struct prt_error *error)
{
    enum prt_status status = PRT_OK;
    pthread_mutex_lock(&image->lock);
    if (!image->opened) {
        status = check_libraries(container, image, error);
        if (status == PRT_OK) status = open_library(container, image, error);
        if (status == PRT_OK) status = check_signatures(container, image, error);
        if (status == PRT_OK) status = bind_entries(container, image, error);
        image->opened = status == PRT_OK;
        if (status != PRT_OK) image_unload(image);
    }
    pthread_mutex_unlock(&image->lock);
    return status;
}

enum prt_status prt_image_from_entries(const struct prt_container *container,
                                       const struct prt_image_kernel *nodes,
                                       kernel_arguments_entry arguments, struct prt_image *image,
                                       struct prt_error *error)
{
    enum prt_status status = allocate_nodes(container, image, error);
    if (status != PRT_OK) return status;
    assert(image->nodes != NULL);
    size_t entries = (size_t)container->node_count + container->interface_count;
    for (size_t i = 0; i < entries; i++)
        image->nodes[i] = nodes[i];
    image->arguments = arguments;
    image->opened = true;
    return PRT_OK;
}

void prt_image_free(struct prt_image *image)
{
    if (image->nodes != NULL) { /* not of a zeroed one */
        image_unload(image);
        pthread_mutex_destroy(&image->lock);
    }
    free(image->nodes); /* equivalent, except where allocations are counted */
    free(image->allowed);
    *image = (struct prt_image){.fd = -1};
}
