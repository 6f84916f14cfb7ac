/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads the texts that describe members of a family, and what their designs share.
 */
#include "workload/graph/zoo_impl.h"

#include <stdlib.h>
#include <string.h>

/* Where a word that begins so begins, and how long it is; NULL: there is none. */
static const char *word_of(const char *spec, const char *start, size_t *length)
{
    const size_t n = strlen(start);
    for (const char *at = spec; *(at += strspn(at, " ")) != '\0'; at += *length) {
        *length = strcspn(at, " ");
        if (*length >= n && strncmp(at, start, n) == 0) {
            return at;
        }
    }
    return NULL;
}

bool dls_spec_has(const char *spec, const char *word)
{
    size_t length;
    const size_t n = strlen(word);
    for (const char *at = spec; (at = word_of(at, word, &length)); at += length) {
        if (length == n) {
            return true;
        }
    }
    return false;
}

int dls_spec_list(const char *at, double *out, int max)
{
    int n = 0;
    while (n < max && (*at == '=' || *at == ',')) {
        char *end;
        out[n++] = strtod(at + 1, &end);
        at = end;
    }
    return n;
}

int dls_spec_numbers(const char *spec, const char *key, double *out, int max)
{
    size_t length;
    const char *at = word_of(spec, key, &length);
    return at && at[strlen(key)] == '=' ? dls_spec_list(at + strlen(key), out, max) : 0;
}

double dls_spec_number(const char *spec, const char *key, double otherwise)
{
    double number;
    return dls_spec_numbers(spec, key, &number, 1) ? number : otherwise;
}

dls_block_norm dls_spec_norm(const char *spec)
{
    return dls_spec_has(spec, "evos")   ? DLS_BLOCK_EVO_S0
           : dls_spec_has(spec, "evob") ? DLS_BLOCK_EVO_B0
           : dls_spec_has(spec, "frn")  ? DLS_BLOCK_FRN
                                        : DLS_BLOCK_BATCH_NORM;
}

int32_t dls_zoo_round_within(double channels, int32_t of, double share)
{
    const int32_t near = (int32_t)(channels + of / 2.) / of * of;
    const int32_t least = near < of ? of : near;
    return least < share * channels ? least + of : least;
}

int32_t dls_zoo_round(double channels, int32_t of)
{
    return dls_zoo_round_within(channels, of, 0.9);
}

void dls_zoo_classify(dls_net *net, dls_tensor x)
{
    dls_net_loss(net, dls_net_dense(net, dls_net_global_mean(net, x), 1000, true));
}
