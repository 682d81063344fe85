/* SPDX-License-Identifier: MIT */
#include "compiler/driver/version.h"

#include <expat.h>
#include <jansson.h>
#include <llvm/Config/llvm-config.h>
#include <string.h>
#include <xxhash.h>
#include <zlib.h>

#undef json_boolean /* of jansson: base/json_write.h has a function of that name */
#include "base/json_write.h"
#include "lang/embedded.h"

static const char *commit_of_sources; /* NULL: not known */

void version_set_commit(const char *commit)
{
    commit_of_sources = *commit != '\0' ? commit : NULL;
}

static void print_version_json(FILE *to)
{
    struct json json = {.to = to};
    unsigned hash = XXH_versionNumber();
    char hash_version[32];
    snprintf(hash_version, sizeof hash_version, "%u.%u.%u", hash / 10000, hash / 100 % 100,
             hash % 100);
    json_begin_line(&json, NULL, '{');
    json_number(&json, "version", 1);
    json_text(&json, "tool", "pipec " PIPEC_VERSION);
    json_text(&json, "commit", commit_of_sources);
    json_number(&json, "llvm", PIPEC_LLVM_MAJOR);
    json_text(&json, "llvm_version", LLVM_VERSION_STRING);
    json_begin(&json, "libraries", '{');
    json_text(&json, "expat", XML_ExpatVersion() + strlen("expat_"));
    json_text(&json, "jansson", jansson_version_str());
    json_text(&json, "xxhash", hash_version);
    json_text(&json, "zlib", zlibVersion());
    json_end(&json, '}');
    json_begin(&json, "devices", '[');
    for (const struct embedded_file *file = embedded_device_files; file->name != NULL; file++)
        json_text(&json, NULL, file->name);
    json_end(&json, ']');
    json_text(&json, "license", "MIT");
    json_end(&json, '}');
}

bool version_print(FILE *to, const char *form)
{
    bool as_json = form != NULL && strcmp(form, "json") == 0;
    if (form == NULL)
        fprintf(to, "pipec %s (LLVM %d)\nLicence: MIT\n", PIPEC_VERSION, PIPEC_LLVM_MAJOR);
    if (as_json) print_version_json(to);
    return form == NULL || as_json;
}
