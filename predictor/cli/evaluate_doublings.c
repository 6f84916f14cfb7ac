/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Doublings of the batch: twice the samples should take neither less time nor much more than twice
 * as long. No measurement is needed to see where a source contradicts itself.
 */
#include "predictor/cli/evaluate_doublings.h"

#include "base/json.h"
#include "workload/graph/zoo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LARGEST_BATCH 512
#define MUCH 2.1 /* times as long */

typedef struct tally {
    int64_t n, longer, shorter;
    double most; /* times as long */
} tally;

static dls_status count_one(dls_whatif *w, const char *model, const dls_hw_gpu *gpu, tally *t,
                            dls_error *err)
{
    double last_s = (double)NAN;
    for (int32_t batch = 1; batch <= LARGEST_BATCH; batch *= 2) {
        dls_whatif_question q = {
            .model = model, .setting = {.workers = 1, .nodes = 1}, .batch = batch};
        dls_whatif_answer a;
        snprintf(q.setting.gpu, sizeof q.setting.gpu, "%s", gpu->name);
        snprintf(q.setting.link, sizeof q.setting.link, "%s", gpu->link);
        snprintf(q.setting.exchange, sizeof q.setting.exchange, "one");
        DLS_TRY(dls_whatif_ask(w, &q, 1, &a, err));
        if (a.refused[0] || !a.fits) {
            return DLS_OK;
        }
        const double ratio = a.prediction.iteration_s / last_s;
        if (!isnan(ratio)) {
            t->n++;
            t->longer += ratio > MUCH;
            t->shorter += ratio < 1;
            t->most = fmax(t->most, ratio);
        }
        last_s = a.prediction.iteration_s;
    }
    return DLS_OK;
}

static bool first_of_family(size_t m)
{
    size_t i = 0;
    while (strcmp(dls_zoo_at(i)->family, dls_zoo_at(m)->family) != 0) {
        i++;
    }
    return i == m;
}

static dls_status count(dls_whatif *w, tally *t, dls_error *err)
{
    const dls_hardware *hw = dls_whatif_hardware(w);
    for (size_t m = 0; m < dls_zoo_size(); m++) {
        for (size_t g = 0; g < hw->n_gpus && first_of_family(m); g++) {
            DLS_TRY(count_one(w, dls_zoo_at(m)->name, &hw->gpu[g], t, err));
        }
    }
    return DLS_OK;
}

void dls_doublings_head(void)
{
    printf("| source | doublings | more than %g times as long | less time | longest, times |\n"
           "|---|---|---|---|---|\n",
           MUCH);
}

dls_status dls_doublings_report(const dls_whatif_params *p, json_object *list, dls_error *err)
{
    dls_whatif *w = NULL;
    tally t = {0};
    DLS_TRY(dls_whatif_create(p, &w, err));
    const dls_status status = count(w, &t, err);
    dls_whatif_destroy(w);
    DLS_TRY(status);
    if (!list) {
        printf("| %s | %lld | %lld | %lld | %.2f |\n", p->source, (long long)t.n,
               (long long)t.longer, (long long)t.shorter, t.most);
        return DLS_OK;
    }
    json_object *obj = dls_json_next(list);
    dls_json_text(obj, "source", p->source);
    dls_json_int(obj, "doublings", t.n);
    dls_json_int(obj, "much_longer", t.longer);
    dls_json_int(obj, "less_time", t.shorter);
    dls_json_real(obj, "longest", t.most);
    return DLS_OK;
}
