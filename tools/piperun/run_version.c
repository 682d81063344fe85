/* SPDX-License-Identifier: MIT */
#include "tools/piperun/run_version.h"

#include <hwloc.h>
#include <jansson.h>
#include <png.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>

#undef json_boolean /* of jansson: base/json_write.h has a function of that name */
#include "base/json_write.h"
#include "lang/embedded.h"
#include "runtime/host/pipert.h"
#include "tools/piperun/line_input.h"
#include "tools/piperun/message.h"

#ifndef PIPEC_VERSION
#define PIPEC_VERSION "0"
#endif
#ifndef PIPEC_COMMIT
#define PIPEC_COMMIT ""
#endif

static void print_libraries(struct json *json)
{
    unsigned hwloc = hwloc_get_api_version(), xxhash = XXH_versionNumber();
    char text[32];
    json_begin(json, "libraries", '{');
    snprintf(text, sizeof text, "%u.%u.%u", hwloc >> 16, hwloc >> 8 & 255, hwloc & 255);
    json_text(json, "hwloc", text);
    json_text(json, "jansson", jansson_version_str());
    json_text(json, "libpng", png_get_libpng_ver(NULL));
    snprintf(text, sizeof text, "%u.%u.%u", xxhash / 10000, xxhash / 100 % 100, xxhash % 100);
    json_text(json, "xxhash", text);
    json_text(json, "zlib", zlibVersion());
    json_end(json, '}');
}

static void print_json(void)
{
    struct json json = {.to = stdout};
    json_begin_line(&json, NULL, '{');
    json_number(&json, "version", 1);
    json_text(&json, "tool", "piperun " PIPEC_VERSION);
    json_text(&json, "commit", *PIPEC_COMMIT != '\0' ? PIPEC_COMMIT : NULL);
    json_boolean(&json, "edits_lines", *prt_lines_editor() != '\0');
    print_libraries(&json);
    json_begin(&json, "devices", '[');
    for (const struct embedded_file *file = embedded_device_files; file->name != NULL; file++)
        json_text(&json, NULL, file->name);
    json_end(&json, ']');
    json_text(&json, "license", "MIT");
    json_end(&json, '}');
}

int prt_version_print(const char *form)
{
    if (form != NULL && strcmp(form, "json") != 0)
        return PRT_COMPLAIN(EXIT_USAGE, "--version=%s: the only form is json", form);
    if (form != NULL)
        print_json();
    else
        printf("piperun " PIPEC_VERSION "%s\nLicence: MIT\n", prt_lines_editor());
    return EXIT_DONE;
}
