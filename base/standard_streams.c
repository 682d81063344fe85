/* SPDX-License-Identifier: MIT */
#include "base/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

void standard_streams_occupy(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int stream_flush(FILE *stream)
{
    if (fflush(stream) != 0) return errno;
    if (!ferror(stream)) return 0;
    struct pollfd descriptor = {.fd = fileno(stream), .events = POLLOUT};
    bool has_reader = poll(&descriptor, 1, 0) <= 0 || (descriptor.revents & POLLERR) == 0;
    return has_reader ? EIO : EPIPE;
}
