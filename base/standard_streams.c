/* SPDX-License-Identifier: MIT */
#include "base/standard_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

void standard_streams_occupy(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int standard_output_flush(void)
{
    if (fflush(stdout) != 0) return errno == EPIPE ? 0 : errno;
    if (!ferror(stdout)) return 0;
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    bool reader_has_closed = poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
    return reader_has_closed ? 0 : EIO;
}
