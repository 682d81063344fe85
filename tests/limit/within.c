/* SPDX-License-Identifier: MIT */
/*
 * within: runs a command and reports its time and memory.
 *
 *   within CPU_SECONDS MIB COMMAND...
 *
 * Prints "STATUS CPU_MILLISECONDS PEAK_MIB" to file descriptor 3; the command's own output goes where
 * it went.  The command is killed after CPU_SECONDS of processor time (STATUS is then 124) and
 * counts as too large (STATUS 125) when its resident memory has been above MIB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 4) return 2;
    rlim_t seconds = (rlim_t)strtoul(argv[1], NULL, 10);
    long limit_kib = strtol(argv[2], NULL, 10) * 1024;
    pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
        struct rlimit cpu = {seconds, seconds + 1};
        setrlimit(RLIMIT_CPU, &cpu);
        execv(argv[3], argv + 3);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (wait4(child, &status, 0, &used) != child) return 2;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status) == 24 ? 124 : 128;
    if (used.ru_maxrss > limit_kib) code = 125;
    long milliseconds = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
                        (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
    dprintf(3, "%d %ld %ld\n", code, milliseconds, used.ru_maxrss / 1024);
    return 0;
}
