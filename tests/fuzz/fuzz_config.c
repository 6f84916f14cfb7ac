/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Any bytes as a configuration; what lies behind NUL bytes are overrides ("key=value"). A list of
 * problems, or a configuration whose resolved text loads to the same.
 */
#include "config/config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define OVERRIDES_MAX 8

static dls_config *load(const dls_registry *registry, const char *text, const dls_override *set,
                        size_t n)
{
    dls_problems problems = {0};
    dls_config *config = NULL;
    dls_error err = {0};
    const dls_config_request request = {.path = "fuzz.cfg",
                                        .content = text,
                                        .overrides = set,
                                        .n_overrides = n,
                                        .registry = registry};
    const dls_status status = dls_config_load(&request, &problems, &config, &err);
    if (status == DLS_OK ? problems.n > 0 || !config : problems.n == 0 || config || !err.msg[0]) {
        abort();
    }
    dls_problems_fini(&problems);
    return config;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static dls_registry *registry;
    dls_override set[OVERRIDES_MAX];
    size_t n = 0;
    if (!registry && dls_registry_create(&registry, NULL) != DLS_OK) {
        abort();
    }
    char *text = malloc(size + 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *s = text + strlen(text); s < text + size && n < OVERRIDES_MAX; s += strlen(s)) {
        s++;
        set[n++] = (dls_override){NULL, s, "--set"};
    }
    dls_config *config = load(registry, text, set, n);
    if (config) {
        dls_config *again = load(registry, config->text, NULL, 0);
        if (!again || strcmp(again->text, config->text) != 0 ||
            dls_cluster_spec_check(&config->cluster, NULL) != DLS_OK) {
            abort();
        }
        dls_config_destroy(again);
    }
    dls_config_destroy(config);
    free(text);
    return 0;
}
