/* SPDX-License-Identifier: MIT */
#include "compiler/describe/edit_page.h"

#include "base/memory_text.h"
#include "compiler/describe/page_file.h"

static const char body[] =
    "<header><h1 id=\"title\">pipec edit</h1><p class=\"soft\" id=\"about\"></p>\n"
    "<p id=\"said\" role=\"status\"></p>\n"
    "<p id=\"ask\" hidden><button id=\"confirm\">write it with the errors</button> "
    "<button id=\"discard\">discard it</button></p>\n"
    "<p><button id=\"undo\" disabled>undo</button> <label><input type=\"checkbox\" "
    "id=\"connecting\"> a drag from box to box connects them (else it moves a "
    "statement)</label></p>\n"
    "<noscript><p>The page needs JavaScript.</p></noscript></header>\n"
    "<main><section><h2>Topology</h2><div class=\"scroll\" id=\"picture\"></div>"
    "<h2>Findings</h2><ul id=\"findings\"></ul>"
    "<h2>Buffers</h2><div class=\"scroll\" id=\"buffers\"></div></section>\n"
    "<aside><h2>Part</h2><select id=\"parts\" aria-label=\"part\"></select>"
    "<div id=\"part\"></div><h2>Source</h2><pre id=\"source\"></pre></aside></main>\n"
    "<datalist id=\"kernels\"></datalist>\n";

char *edit_page(const char *nonce, size_t *size_bytes)
{
    struct memory_text text;
    if (!memory_text_begin(&text)) return NULL;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" "
          "content=\"light dark\">\n<title>pipec edit</title>\n<style>\n",
          text.file);
    page_file_put(text.file, "report.css");
    page_file_put(text.file, "edit.css");
    fprintf(text.file, "</style></head>\n<body>\n%s<script nonce=\"%s\">\n", body, nonce);
    page_file_put(text.file, "edit.js");
    fputs("</script></body></html>\n", text.file);
    return memory_text_end(&text, size_bytes);
}
