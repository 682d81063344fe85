/* SPDX-License-Identifier: MIT */
#include "runtime/device/host_cores.h"

#include <errno.h>
#include <hwloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>

/* More than hwloc needs for a host of some hundred cores. */
#define ROOM_BYTES ((size_t)8 << 20)

struct prt_host_cores {
    hwloc_topology_t topology; /* result of the discovery: shared, read-only */
    hwloc_obj_type_t type;     /* of the objects that count as cores */
    uint32_t count;
    hwloc_obj_t *objects;   /* by core */
    hwloc_bitmap_t *places; /* by core: those of its processors that the thread may use */
    uint32_t *domains[PRT_LEVEL_COUNT]; /* by core; NULL: no such level */
    uint64_t bytes[PRT_LEVEL_COUNT];
};

/* hwloc crashes if it gets no memory.  True: as much as it needs can be mapped. */
static bool is_room(void)
{
    void *room = mmap(NULL, ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return false;
    munmap(room, ROOM_BYTES);
    return true;
}

/* Asks the operating system, without I/O.  The x86 component of hwloc is left out: it would bind the thread to each
 * processor in turn.  NULL: the discovery has failed. */
static hwloc_topology_t ask_system(void)
{
    hwloc_topology_t topology;
    if (!is_room() || hwloc_topology_init(&topology) != 0) return NULL;
    (void)hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (hwloc_topology_load(topology) == 0) return topology;
    hwloc_topology_destroy(topology);
    return NULL;
}

/* The result of the discovery; NULL: not yet discovered. */
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;
static hwloc_topology_t told;

/* The result is never changed: hwloc crashes if there is no memory for a copy. */
static hwloc_topology_t ask_once(void)
{
    pthread_mutex_lock(&told_lock);
    if (told == NULL) told = ask_system();
    hwloc_topology_t topology = told;
    pthread_mutex_unlock(&told_lock);
    return topology;
}

static bool add_processors(hwloc_bitmap_t own, const cpu_set_t *set, size_t bytes)
{
    for (unsigned i = 0; i < 8 * bytes; i++)
        if (CPU_ISSET_S(i, bytes, set) && hwloc_bitmap_set(own, i) != 0) return false;
    return true;
}

/* Adds the processors that the thread may use.  False: not known.  hwloc_get_cpubind is not used: it never returns if
 * there is no memory for the answer. */
static bool ask_affinity(hwloc_bitmap_t own)
{
    enum { PROCESSORS_MAX = 1 << 20 };
    int failure = EINVAL; /* the system's answer if the set is too small */
    for (unsigned count = 1 << 10; failure == EINVAL && count <= PROCESSORS_MAX; count *= 2) {
        size_t bytes = CPU_ALLOC_SIZE(count);
        cpu_set_t *set = CPU_ALLOC(count);
        if (set == NULL) return false;
        CPU_ZERO_S(bytes, set);
        failure = sched_getaffinity(0, bytes, set) == 0 ? 0 : errno;
        if (failure == 0 && !add_processors(own, set, bytes)) failure = ENOMEM;
        CPU_FREE(set);
    }
    return failure == 0;
}

/* The processors that the calling thread may use.  If they are unknown, or the host has none of them, all processors of
 * the host.  NULL: there is no memory. */
static hwloc_bitmap_t own_processors(hwloc_topology_t topology)
{
    hwloc_const_bitmap_t all = hwloc_get_root_obj(topology)->cpuset;
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    if (own == NULL) return NULL;
    if (hwloc_topology_is_thissystem(topology) && ask_affinity(own) &&
        hwloc_bitmap_intersects(own, all))
        return own;
    if (hwloc_bitmap_copy(own, all) == 0) return own;
    hwloc_bitmap_free(own);
    return NULL;
}

/* The domain that the core shares with others at that level; NULL: unknown. */
static hwloc_obj_t domain_of(const struct prt_host_cores *cores, uint32_t core,
                             enum prt_affinity_level level)
{
    static const hwloc_obj_type_t caches[PRT_LEVEL_COUNT] = {
        [PRT_LEVEL_L4] = HWLOC_OBJ_L4CACHE,
        [PRT_LEVEL_L3] = HWLOC_OBJ_L3CACHE,
        [PRT_LEVEL_L2] = HWLOC_OBJ_L2CACHE,
        [PRT_LEVEL_L1] = HWLOC_OBJ_L1CACHE,
    };
    hwloc_obj_t object = cores->objects[core], node = NULL;
    if (level != PRT_LEVEL_NUMA)
        return hwloc_get_ancestor_obj_by_type(cores->topology, caches[level], object);
    while ((node = hwloc_get_next_obj_by_type(cores->topology, HWLOC_OBJ_NUMANODE, node)) != NULL)
        if (hwloc_bitmap_isincluded(object->cpuset, node->cpuset)) return node;
    return NULL;
}

static uint64_t bytes_of(hwloc_obj_t domain, enum prt_affinity_level level)
{
    return level == PRT_LEVEL_NUMA ? domain->attr->numanode.local_memory : domain->attr->cache.size;
}

/* Keeps the domains of a level only if each core is in one and each domain is a run of neighbouring cores.  False: there
 * is no memory. */
static bool find_level(struct prt_host_cores *cores, enum prt_affinity_level level)
{
    uint32_t *domains = calloc(cores->count, sizeof *domains);
    if (domains == NULL) return false;
    hwloc_obj_t before = domain_of(cores, 0, level);
    bool whole = before != NULL;
    if (whole) cores->bytes[level] = bytes_of(before, level);
    for (uint32_t i = 1; i < cores->count && whole; i++) {
        hwloc_obj_t domain = domain_of(cores, i, level);
        whole = domain != NULL && domain->logical_index >= before->logical_index;
        domains[i] = domains[i - 1] + (whole && domain != before);
        before = domain;
    }
    if (whole)
        cores->domains[level] = domains;
    else
        free(domains);
    return true;
}

/* The objects of cores->type that have some of `own`.  False: there is no memory. */
static bool find_objects(struct prt_host_cores *cores, hwloc_const_bitmap_t own)
{
    hwloc_obj_t object = NULL;
    while (cores->count < PRT_DEVICE_CUS_MAX &&
           (object = hwloc_get_next_obj_by_type(cores->topology, cores->type, object)) != NULL) {
        if (!hwloc_bitmap_intersects(object->cpuset, own)) continue;
        hwloc_bitmap_t place = hwloc_bitmap_alloc();
        if (place == NULL) return false;
        cores->objects[cores->count] = object;
        cores->places[cores->count++] = place;
        if (hwloc_bitmap_and(place, object->cpuset, own) != 0) return false;
    }
    return true;
}

static bool find_cores(struct prt_host_cores *cores, hwloc_const_bitmap_t own)
{
    cores->type = HWLOC_OBJ_CORE;
    int count = hwloc_get_nbobjs_by_type(cores->topology, cores->type);
    if (count <= 0) {
        cores->type = HWLOC_OBJ_PU;
        count = hwloc_get_nbobjs_by_type(cores->topology, cores->type);
    }
    if (count <= 0) return false;
    cores->objects = calloc((size_t)count, sizeof(hwloc_obj_t));
    cores->places = calloc((size_t)count, sizeof(hwloc_bitmap_t));
    if (cores->objects == NULL || cores->places == NULL || !find_objects(cores, own)) return false;
    for (int level = 0; level < PRT_LEVEL_COUNT && cores->count > 0; level++)
        if (!find_level(cores, (enum prt_affinity_level)level)) return false;
    return cores->count > 0;
}

struct prt_host_cores *prt_host_cores_find(void)
{
    struct prt_host_cores *cores = calloc(1, sizeof *cores);
    if (cores == NULL) return NULL;
    cores->topology = ask_once();
    hwloc_bitmap_t own = cores->topology != NULL ? own_processors(cores->topology) : NULL;
    bool found = own != NULL && find_cores(cores, own);
    hwloc_bitmap_free(own);
    if (found) return cores;
    prt_host_cores_free(cores);
    return NULL;
}

void prt_host_cores_free(struct prt_host_cores *cores)
{
    if (cores == NULL) return;
    for (uint32_t core = 0; core < cores->count; core++)
        hwloc_bitmap_free(cores->places[core]);
    for (int level = 0; level < PRT_LEVEL_COUNT; level++)
        free(cores->domains[level]);
    free(cores->places);
    free(cores->objects);
    free(cores);
}

uint32_t prt_host_cores_count(const struct prt_host_cores *cores)
{
    return cores->count;
}

void prt_host_cores_bind(const struct prt_host_cores *cores, uint32_t core, int taken)
{
    if (core >= cores->count || !hwloc_topology_is_thissystem(cores->topology)) return;
    if (taken >= 0 && hwloc_bitmap_isset(cores->places[core], (unsigned)taken)) core = 0;
    (void)hwloc_set_cpubind(cores->topology, cores->places[core], HWLOC_CPUBIND_THREAD);
}

const uint32_t *prt_host_cores_domains(const struct prt_host_cores *cores,
                                       enum prt_affinity_level level)
{
    return cores->domains[level];
}

uint64_t prt_host_cores_bytes(const struct prt_host_cores *cores, enum prt_affinity_level level)
{
    return cores->bytes[level];
}

uint64_t prt_host_cores_memory_bytes(const struct prt_host_cores *cores)
{
    return hwloc_get_root_obj(cores->topology)->total_memory;
}
