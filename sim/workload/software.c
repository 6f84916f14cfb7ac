/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads what is said of programs, and adds to a step what they add.
 */
#include "workload/software.h"

#include "base/units.h"
#include "workload/graph/zoo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define KEY "predictor.software"
#define WORD 64

static dls_status refuse(const char *word, dls_error *err)
{
    return dls_fail(err, DLS_ECONFIG, KEY,
                    "\"%s\" is none of pytorch, zoo=MODEL, image=N, sequence=N, a precision, and "
                    "backward=, after=, alone=LAUNCHES,BYTES",
                    word);
}

static bool read_size(const char *text, int32_t *out)
{
    int64_t n;
    const bool is = dls_units_i64(text, &n) && n > 0 && n < 1 << 20;
    *out = is ? (int32_t)n : 0;
    return is;
}

static bool read_work(const char *text, dls_loop_work *out)
{
    char first[WORD];
    const char *comma = strchr(text, ',');
    if (!comma) {
        return false;
    }
    snprintf(first, sizeof first, "%.*s", (int)(comma - text), text);
    return dls_units_f64(first, &out->launches) && dls_units_f64(comma + 1, &out->bytes) &&
           out->launches >= 0 && out->bytes >= 0;
}

typedef struct said {
    dls_software *s;
    int32_t image, sequence;
    bool pytorch, alone;
} said;

static bool takes(const char *word, const char *key, const char **value)
{
    const size_t n = strlen(key);
    *value = word + n;
    return strncmp(word, key, n) == 0;
}

static bool take_word(said *p, const char *word)
{
    const char *value;
    dls_software *s = p->s;
    if (strcmp(word, "pytorch") == 0) {
        return p->pytorch = true;
    }
    if (takes(word, "zoo=", &value)) {
        s->names.layers = NULL;
        return (s->names.zoo = dls_zoo_find(value)) != NULL;
    }
    if (takes(word, "image=", &value)) {
        return read_size(value, &p->image);
    }
    if (takes(word, "sequence=", &value)) {
        return read_size(value, &p->sequence);
    }
    if (takes(word, "backward=", &value)) {
        return read_work(value, &s->backward);
    }
    if (takes(word, "after=", &value)) {
        return read_work(value, &s->after);
    }
    if (takes(word, "alone=", &value)) {
        return p->alone = read_work(value, &s->alone);
    }
    return dls_numeric_find(word, &s->numeric);
}

/* The words of [text, end). */
static dls_status take_words(const char *text, const char *end, dls_software *s, dls_error *err)
{
    said p = {.s = s};
    for (text += strspn(text, " "); text < end; text += strspn(text, " ")) {
        char word[WORD];
        const size_t n = strcspn(text, " ;");
        snprintf(word, sizeof word, "%.*s", (int)n, text);
        if (n >= sizeof word || !take_word(&p, word)) {
            return refuse(word, err);
        }
        text += n;
    }
    s->alone = p.alone ? s->alone : s->after;
    if ((p.image && !dls_zoo_image(s->names.zoo)) || (p.sequence && !s->names.zoo->sequence)) {
        return dls_fail(err, DLS_ECONFIG, KEY, "%s has no such size", s->names.zoo->name);
    }
    if (p.image || p.sequence) {
        dls_model_resize(&s->names, p.image, p.sequence ? p.sequence : s->names.zoo->sequence);
    }
    s->names.layers = p.pytorch ? NULL : s->names.layers;
    return DLS_OK;
}

dls_status dls_software_of(const char *text, const char *model, const dls_model_names *names,
                           dls_numeric numeric, dls_software *out, dls_error *err)
{
    const dls_software plain = {.names = *names, .numeric = numeric};
    char wanted[DLS_MODEL_KEY], key[DLS_MODEL_KEY];
    dls_model_key(model ? model : "", wanted);
    *out = plain;
    for (const char *p = text ? text : ""; p[strspn(p, "; ")] != '\0';) {
        const char *end = p + strcspn(p, ";"), *colon = memchr(p, ':', (size_t)(end - p));
        char name[WORD] = "";
        snprintf(name, sizeof name, "%.*s", colon ? (int)(colon - p) : 0, p);
        dls_model_key(name, key);
        if (!*key) {
            return dls_fail(err, DLS_ECONFIG, KEY, "\"%.*s\" is not MODEL: WORDS",
                            (int)(end - p < 80 ? end - p : 80), p);
        }
        const bool asked = strcmp(key, wanted) == 0;
        dls_software one = plain;
        one.names = asked ? *names : dls_model_lookup(name);
        DLS_TRY(take_words(colon + 1, end, &one, err));
        *out = asked ? one : *out;
        p = end + (*end == ';');
    }
    return DLS_OK;
}

static double on_gpu_s(const dls_loop_work *x, const dls_workload *w, const dls_rates *rates)
{
    return rates->derate * (x->bytes * w->params / rates->mem_bps +
                            x->launches * (double)w->n_tensors * rates->launch_s);
}

void dls_software_add(const dls_software *s, const dls_workload *w, const dls_rates *rates,
                      dls_step *step)
{
    const double gpu_s = on_gpu_s(&s->backward, w, rates);
    step->backward_s += gpu_s;
    step->gpu_s += gpu_s;
    step->runs += s->backward.launches * (double)w->n_tensors;
}

double dls_software_after_s(const dls_software *s, const dls_workload *w, const dls_rates *rates,
                            const dls_host *host, bool alone)
{
    const dls_loop_work *x = alone ? &s->alone : &s->after;
    const double gpu_s = on_gpu_s(x, w, rates);
    const double host_s = host ? x->launches * (double)w->n_tensors * host->launch_s : 0;
    return sqrt(hypot(gpu_s * gpu_s, host_s * host_s));
}
