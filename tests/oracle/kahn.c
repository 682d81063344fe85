/* SPDX-License-Identifier: MIT */
/*
 * kahn [-p PIPELINE] [-D NAME=VALUE].. [--library FOLDER] [--firings N] [--bounded] FILE.pipe [PORT=FILE]..
 *
 * Runs the program on raw packets: an in-port that is not named is an empty stream, an out-port that is not named is
 * not written.  Standard output says, for each buffer that has a name, how many packets were written and how many of
 * them are left over, and the fault that ends the run (kahn_verdict.c).  Exit status: 0 the run ended, 1 a file, 2
 * usage, 3 refused or not covered, 4 a fault, 5 a node starves.
 */
#include "tests/oracle/kahn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void kahn_refuse(int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "kahn: line %d: ", line);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(KAHN_REFUSED);
}

static jmp_buf fault_caught;
static struct node *fault_node; /* to which a fault belongs; NULL: to none, an argument's */

void kahn_fault(int line, const char *id)
{
    if (!fault_node) {
        printf("fault %s line %d\n", id, line);
        exit(KAHN_FAULT);
    }
    fault_node->fault_line = line;
    fault_node->fault_id = id;
    longjmp(fault_caught, 1);
}

bool kahn_faults(struct node *node, void (*what)(struct node *node), const char *section)
{
    fault_node = node;
    bool faulted = setjmp(fault_caught) != 0;
    if (!faulted) what(node);
    if (faulted) node->fault_section = section;
    fault_node = NULL;
    return faulted;
}

void *kahn_alloc(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (!memory) {
        fputs("kahn: out of memory\n", stderr);
        exit(KAHN_REFUSED);
    }
    return memory;
}

static const char *bound_file(char **ports, size_t count, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < count; i++)
        if (strncmp(ports[i], name, length) == 0 && ports[i][length] == '=')
            return ports[i] + length + 1;
    return NULL;
}

static void fail(const char *path)
{
    perror(path);
    exit(1);
}

static void read_port(struct channel *channel, const char *path)
{
    channel->closed = true;
    if (!path) return;
    FILE *file = fopen(path, "rb");
    if (!file) fail(path);
    unsigned char *packet = kahn_alloc(channel->type->size);
    size_t got;
    while ((got = fread(packet, 1, channel->type->size, file)) == channel->type->size)
        bytes_append(&channel->packets, channel->type->size, packet);
    if (got > 0) kahn_refuse(0, "'%s' ends inside a packet", path);
    free(packet);
    fclose(file);
}

static void write_port(struct channel *channel, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file) fail(path);
    for (size_t i = 0; i < channel->packets.count; i++)
        value_canonical(channel->type, channel->packets.at + i * channel->type->size);
    fwrite(channel->packets.at, channel->type->size, channel->packets.count, file);
    if (fclose(file) != 0) fail(path);
}

/* Packets that a reader never consumed, beyond what its window keeps; one that has never fired keeps initial packets
 * only.  The rest of an only input belongs to finish. */
static size_t left_over(const struct channel *channel)
{
    size_t most = 0;
    for (const struct end *end = channel->readers; end; end = end->next) {
        const struct node *node = end->node;
        uint64_t kept = node->firings == 0 ? channel->initial : 0,
                 phase = (node->firings + node->phases - 1) % node->phases;
        for (uint32_t i = 0; i < node->in_count; i++) {
            const struct port *port = &node->ports[i];
            bool own =
                end >= &node->ends[port->first] && end < &node->ends[port->first + port->arity];
            if (own && !port->window_width && node->firings > 0)
                kept = port->peek[phase] - port->pop[phase];
        }
        size_t rest = channel->packets.count - end->at;
        if (node->stopped || node->faulted || node->held ||
            (node->in_elements == 1 && node_has_finish(node)))
            rest = 0;
        if (rest > kept && rest - kept > most) most = rest - kept;
    }
    return most;
}

static void report(const struct graph *graph)
{
    size_t unnamed = 0;
    for (size_t i = 0; i < graph->channel_count; i++) {
        const struct channel *c = graph->channels[i];
        if (c->name[0] == '\0')
            unnamed += left_over(c);
        else
            printf("buffer %s packets %zu left %zu\n", c->name, c->packets.count - c->initial,
                   left_over(c));
    }
    printf("unnamed left %zu\n", unnamed);
}

int main(int argc, char **argv)
{
    const char *pipeline = NULL, *library = "lang/", *path = NULL;
    char **values = kahn_alloc((size_t)argc * sizeof *values),
         **ports = kahn_alloc((size_t)argc * sizeof *ports);
    size_t value_count = 0, port_count = 0;
    uint64_t firings = UINT64_MAX;
    bool bounded = false;
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "-p") == 0 && more)
            pipeline = argv[++i];
        else if (strcmp(argv[i], "-D") == 0 && more)
            values[value_count++] = argv[++i];
        else if (strcmp(argv[i], "--library") == 0 && more)
            library = argv[++i];
        else if (strcmp(argv[i], "--firings") == 0 && more)
            firings = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--bounded") == 0)
            bounded = true;
        else if (!path && argv[i][0] != '-')
            path = argv[i];
        else if (strchr(argv[i], '='))
            ports[port_count++] = argv[i];
        else
            path = NULL, i = argc;
    }
    if (!path) {
        fputs("usage: kahn [-p PIPELINE] [-D NAME=VALUE].. [--library FOLDER] [--firings N] "
              "[--bounded] FILE [PORT=FILE]..\n",
              stderr);
        return 2;
    }
    kahn_items(kahn_program(path, library));
    struct graph *graph = kahn_graph(pipeline, values, value_count);
    for (size_t i = 0; i < graph->channel_count; i++)
        if (graph->channels[i]->outer_in)
            read_port(graph->channels[i], bound_file(ports, port_count, graph->channels[i]->name));
    int status = kahn_run(graph, bounded, firings);
    report(graph);
    for (size_t i = 0; i < graph->channel_count; i++) {
        const char *file = bound_file(ports, port_count, graph->channels[i]->name);
        if (graph->channels[i]->outer_out && file) write_port(graph->channels[i], file);
    }
    return status;
}
