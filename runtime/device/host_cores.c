#include "runtime/device/host_cores.h"

#include <hwloc.h>
#include <pthread.h>
#include <stdlib.h>

struct prt_host_cores {
    hwloc_topology_t topology;
    hwloc_obj_type_t type; /* that stands for a core */
    uint32_t count;
    uint32_t *domains[PRT_LEVEL_COUNT]; /* by core; NULL: no such level */
    uint64_t bytes[PRT_LEVEL_COUNT];
};

/* As hwloc does by itself, without I/O; and without binding to each processor in turn, which is how
 * its x86 component asks it.  NULL: it cannot. */
static hwloc_topology_t ask_system(void)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0) return NULL;
    (void)hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (hwloc_topology_load(topology) == 0) return topology;
    hwloc_topology_destroy(topology);
    return NULL;
}

/* What the system has told; NULL: nothing yet. */
static pthread_mutex_t told_lock = PTHREAD_MUTEX_INITIALIZER;
static hwloc_topology_t told;

/* A copy of it. */
static bool copy_told(hwloc_topology_t *topology)
{
    pthread_mutex_lock(&told_lock);
    if (told == NULL) told = ask_system();
    bool copied = told != NULL && hwloc_topology_dup(topology, told) == 0;
    pthread_mutex_unlock(&told_lock);
    return copied;
}

/* To what the calling thread may use. */
static void restrict_to_own(hwloc_topology_t topology)
{
    if (!hwloc_topology_is_thissystem(topology)) return;
    hwloc_bitmap_t own = hwloc_bitmap_alloc();
    if (own == NULL) return;
    if (hwloc_get_cpubind(topology, own, HWLOC_CPUBIND_THREAD) == 0)
        (void)hwloc_topology_restrict(topology, own, 0);
    hwloc_bitmap_free(own);
}

static hwloc_obj_t core_at(const struct prt_host_cores *cores, uint32_t core)
{
    return hwloc_get_obj_by_type(cores->topology, cores->type, core);
}

/* What the core shares with others at that level; NULL: nothing is known. */
static hwloc_obj_t domain_of(const struct prt_host_cores *cores, uint32_t core,
                             enum prt_affinity_level level)
{
    static const hwloc_obj_type_t caches[PRT_LEVEL_COUNT] = {
        [PRT_LEVEL_L4] = HWLOC_OBJ_L4CACHE,
        [PRT_LEVEL_L3] = HWLOC_OBJ_L3CACHE,
        [PRT_LEVEL_L2] = HWLOC_OBJ_L2CACHE,
        [PRT_LEVEL_L1] = HWLOC_OBJ_L1CACHE,
    };
    hwloc_obj_t object = core_at(cores, core), node = NULL;
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

/* A level that some core is not in, or whose domains are no runs of cores, is none. */
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

static bool find_cores(struct prt_host_cores *cores)
{
    cores->type = HWLOC_OBJ_CORE;
    int count = hwloc_get_nbobjs_by_type(cores->topology, cores->type);
    if (count <= 0) {
        cores->type = HWLOC_OBJ_PU;
        count = hwloc_get_nbobjs_by_type(cores->topology, cores->type);
    }
    if (count <= 0) return false;
    cores->count = (uint32_t)count < PRT_DEVICE_CUS_MAX ? (uint32_t)count : PRT_DEVICE_CUS_MAX;
    for (int level = 0; level < PRT_LEVEL_COUNT; level++)
        if (!find_level(cores, (enum prt_affinity_level)level)) return false;
    return true;
}

struct prt_host_cores *prt_host_cores_find(void)
{
    struct prt_host_cores *cores = calloc(1, sizeof *cores);
    if (cores == NULL) return NULL;
    if (!copy_told(&cores->topology)) {
        free(cores);
        return NULL;
    }
    restrict_to_own(cores->topology);
    if (find_cores(cores)) return cores;
    prt_host_cores_free(cores);
    return NULL;
}

void prt_host_cores_free(struct prt_host_cores *cores)
{
    if (cores == NULL) return;
    hwloc_topology_destroy(cores->topology);
    for (int level = 0; level < PRT_LEVEL_COUNT; level++)
        free(cores->domains[level]);
    free(cores);
}

uint32_t prt_host_cores_count(const struct prt_host_cores *cores)
{
    return cores->count;
}

void prt_host_cores_bind(const struct prt_host_cores *cores, uint32_t core, int taken)
{
    if (core >= cores->count || !hwloc_topology_is_thissystem(cores->topology)) return;
    if (taken >= 0 && hwloc_bitmap_isset(core_at(cores, core)->cpuset, (unsigned)taken)) core = 0;
    (void)hwloc_set_cpubind(cores->topology, core_at(cores, core)->cpuset, HWLOC_CPUBIND_THREAD);
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
