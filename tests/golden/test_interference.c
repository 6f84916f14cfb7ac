/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The law of interference against pairs that were measured (golden/lucid): slope fitted without a
 * model, judged on the pairs with it, for each model in turn; what a constant does; and what no law
 * knows, by pairs of models.
 */
#include "support/shared.h"
#include "support/test.h"
#include "world/world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ALONE 80
#define SEEN 4000
#define MODELS 32

typedef struct alone {
    char key[96];
    double use, memory;
} alone;

typedef struct observation { /* one of a pair, beside the other */
    int me, it;
    double speed, over;
} observation;

static alone one[ALONE];
static observation seen[SEEN];
static char model[MODELS][32];
static int n_alone, n_seen, n_models, model_of[ALONE];

static int number_of_model(const char *name)
{
    int m = 0;
    while (m < n_models && strcmp(model[m], name) != 0) {
        m++;
    }
    if (m == n_models) {
        snprintf(model[n_models++], sizeof model[0], "%s", name);
    }
    return m;
}

static int find(const char *key)
{
    for (int i = 0; i < n_alone; i++) {
        if (strcmp(one[i].key, key) == 0) {
            return i;
        }
    }
    return -1;
}

static FILE *open_shared(const char *name)
{
    char path[4096], line[1024];
    SHARED_OR_SKIP(name, path);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    return f;
}

static void load(void)
{
    char m[2][32], d[2][32];
    int row, batch[2], amp[2], gpus[2];
    double s[2], use, memory;
    FILE *f = open_shared("golden/lucid/single_data.csv");
    n_alone = n_seen = n_models = 0;
    while (fscanf(f, " %31[^,],%31[^,],%d,%d,%lf,%lf,%lf,%*[^\n]", m[0], d[0], &batch[0], &amp[0],
                  &s[0], &use, &memory) == 7) {
        alone *a = &one[n_alone];
        snprintf(a->key, sizeof a->key, "%s %s %d %d", m[0], d[0], batch[0], amp[0]);
        a->use = use / 100;
        a->memory = memory / 100;
        model_of[n_alone++] = number_of_model(m[0]);
    }
    fclose(f);
    f = open_shared("golden/lucid/colocate_info.csv");
    while (fscanf(f, " %d,%31[^,],%31[^,],%d,%d,%d,%lf,%31[^,],%31[^,],%d,%d,%d,%lf,%*[^\n]", &row,
                  m[0], d[0], &gpus[0], &batch[0], &amp[0], &s[0], m[1], d[1], &gpus[1], &batch[1],
                  &amp[1], &s[1]) == 13) {
        int at[2];
        for (int k = 0; k < 2; k++) {
            char key[96];
            snprintf(key, sizeof key, "%s %s %d %d", m[k], d[k], batch[k], amp[k]);
            at[k] = find(key);
        }
        assert_true(at[0] >= 0 && at[1] >= 0 && n_seen + 2 <= SEEN);
        const double over = fmax(0, one[at[0]].use + one[at[1]].use - 0.8);
        for (int k = 0; k < 2; k++) {
            seen[n_seen++] = (observation){at[k], at[1 - k], s[k], over};
        }
    }
    fclose(f);
}

static bool has(const observation *o, int m)
{
    return model_of[o->me] == m || model_of[o->it] == m;
}

static double slope_without(int m)
{
    double above = 0, below = 0;
    for (int i = 0; i < n_seen; i++) {
        if (!has(&seen[i], m)) {
            above += seen[i].over * (1 - seen[i].speed);
            below += seen[i].over * seen[i].over;
        }
    }
    return above / below;
}

TEST(test_left_out)
{
    double sum = 0, bounded = 0, constant = 0, mean = 0, low = 1, high = 0;
    load();
    assert_int_equal(n_seen, 2776);
    for (int i = 0; i < n_seen; i++) {
        mean += seen[i].speed / n_seen;
    }
    for (int m = 0; m < n_models; m++) {
        const double slope = slope_without(m);
        low = fmin(low, slope);
        high = fmax(high, slope);
        for (int i = 0; i < n_seen; i++) {
            if (model_of[seen[i].me] == m) {
                const double law = 1 - slope * seen[i].over;
                const double both = one[seen[i].me].memory + one[seen[i].it].memory;
                const double tight =
                    fmin(law, 1 / fmax(1, both)); /* memory bandwidth is shared, too */
                sum += (law - seen[i].speed) * (law - seen[i].speed);
                bounded += (tight - seen[i].speed) * (tight - seen[i].speed);
                constant += (mean - seen[i].speed) * (mean - seen[i].speed);
            }
        }
    }
    /* By ordered pair of models, about the law as it is shipped. */
    dls_world_params p;
    dls_world_params_init(&p);
    double squares = 0;
    int pairs = 0;
    for (int a = 0; a < n_models; a++) {
        for (int b = 0; b < n_models; b++) {
            double off = 0;
            int n = 0;
            for (int i = 0; i < n_seen; i++) {
                if (model_of[seen[i].me] == a && model_of[seen[i].it] == b) {
                    off += seen[i].speed - (1 - p.interference_slope * seen[i].over);
                    n++;
                }
            }
            squares += n > 0 ? off / n * (off / n) : 0;
            pairs += n > 0;
        }
    }
    const double left_out = sqrt(sum / n_seen), none = sqrt(constant / n_seen);
    print_message("slope %.3f to %.3f; left out %.4f, with memory bandwidth %.4f, a constant %.4f; "
                  "%d pairs of models %.3f\n",
                  low, high, left_out, sqrt(bounded / n_seen), none, pairs, sqrt(squares / pairs));
    assert_true(left_out < 0.1 && none > 0.12);
    assert_true(fabs(sqrt(bounded / n_seen) - left_out) < 0.001); /* so the world does without */
    assert_true(sqrt(squares / pairs) > 0.06 && sqrt(squares / pairs) < 0.08);
}
