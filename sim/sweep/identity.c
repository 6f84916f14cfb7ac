/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/alloc.h"
#include "config/load.h"
#include "sweep/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* s as the configuration's text has it, owned by the C library. */
static char *quoted(const char *s, size_t *len)
{
    char *buf = NULL;
    FILE *out = open_memstream(&buf, len);
    if (!out) {
        return NULL;
    }
    dls_config_put_string(out, s);
    if (fclose(out) != 0) {
        free(buf);
        return NULL;
    }
    return buf;
}

static void add(dls_sha256 *sha, const char *text)
{
    dls_sha256_update(sha, text, strlen(text) + 1);
}

/* The file that this line of the text names ("    path = \"jobs.csv\";"), or -1. */
static int file_of_line(const char *line, size_t len, char *const *names, const size_t *name_len,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const size_t tail = name_len[i] + 1; /* and the semicolon */
        if (len > tail + 3 && memcmp(line + len - tail - 3, " = ", 3) == 0 &&
            memcmp(line + len - tail, names[i], name_len[i]) == 0) {
            return (int)i;
        }
    }
    return -1;
}

dls_status dls_sweep_identify(const dls_config *config, const char *program,
                              const char *trace_sha256, dls_sweep_file_hash file_sha256, void *user,
                              char id[DLS_SWEEP_ID], dls_error *err)
{
    enum { FILES_MAX = 64 };
    char *name[FILES_MAX];
    size_t len[FILES_MAX], n = 0;
    char hex[DLS_SHA256_HEX];
    const char *cache = config->predictions.cache_path; /* saves time and changes nothing */
    if (config->n_files > FILES_MAX) {
        return dls_fail(err, DLS_ECONFIG, NULL, "the configuration names too many files");
    }
    for (; n < config->n_files; n++) {
        name[n] = quoted(config->files[n], &len[n]);
        if (!name[n]) {
            break;
        }
    }
    const bool good = n == config->n_files;
    dls_sha256 sha;
    dls_sha256_init(&sha);
    add(&sha, program);
    add(&sha, trace_sha256);
    for (const char *line = config->text; good && *line;) {
        const char *end = strchr(line, '\n');
        const size_t line_len = end ? (size_t)(end - line) : strlen(line);
        const int file = file_of_line(line, line_len, name, len, n);
        if (file >= 0) {
            const char *path = config->files[file];
            dls_sha256_update(&sha, line, strcspn(line, "="));
            if (strcmp(path, config->trace_path) == 0) {
                add(&sha, trace_sha256);
            } else if (!cache || strcmp(path, cache) != 0) {
                add(&sha, file_sha256(user, path));
            }
        } else {
            dls_sha256_update(&sha, line, line_len);
        }
        line += line_len + (end != NULL);
    }
    while (n > 0) {
        free(name[--n]);
    }
    dls_sha256_final(&sha, hex);
    snprintf(id, DLS_SWEEP_ID, "%.*s", DLS_SWEEP_ID - 1, hex);
    return good ? DLS_OK : dls_nomem(err, "sweep", 0);
}
