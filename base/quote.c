/* SPDX-License-Identifier: MIT */
#include "base/quote.h"

void quote_print(FILE *to, const char *bytes, size_t size_bytes)
{
    fputc('"', to);
    for (size_t i = 0; i < size_bytes; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte == '"' || byte == '\\')
            fprintf(to, "\\%c", byte);
        else if (byte >= 0x20 && byte < 0x7F)
            fputc(byte, to);
        else
            fprintf(to, "\\%03o", byte);
    }
    fputc('"', to);
}
