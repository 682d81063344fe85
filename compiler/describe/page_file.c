/* SPDX-License-Identifier: MIT */
#include "compiler/describe/page_file.h"

#include <string.h>

#include "lang/embedded.h"

void page_file_put(FILE *to, const char *name)
{
    for (const struct embedded_file *file = embedded_page_files; file->name != NULL; file++)
        if (strcmp(file->name, name) == 0) fwrite(file->bytes, 1, file->size, to);
}
