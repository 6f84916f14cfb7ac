/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * slurm.conf(5): a key and its value a line, SchedulerParameters a list of them.
 */
#include "site/slurm_conf.h"

#include "base/alloc.h"
#include "base/file.h"
#include "traces/date.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* How a value becomes one of ours. */
typedef enum form {
    SECONDS, /* a number of seconds */
    MINUTES,
    DURATION, /* dls_date_span, or UNLIMITED */
    NUMBER
} form;

/* `in`: NULL, or the key whose list of key=value this one stands in. */
static const struct known {
    const char *in, *key, *option;
    form form;
} known[] = {
    {"SchedulerParameters", "batch_sched_delay", "sched_delay", SECONDS},
    {"SchedulerParameters", "sched_interval", "sched_interval", SECONDS},
    {"SchedulerParameters", "default_queue_depth", "queue_depth", NUMBER},
    {"SchedulerParameters", "bf_interval", "bf_interval", SECONDS},
    {"SchedulerParameters", "bf_window", "bf_window", MINUTES},
    {"SchedulerParameters", "bf_resolution", "bf_resolution", SECONDS},
    {"SchedulerParameters", "bf_max_job_test", "bf_max_job_test", NUMBER},
    {NULL, "PriorityWeightAge", "weight_age", NUMBER},
    {NULL, "PriorityWeightFairshare", "weight_fairshare", NUMBER},
    {NULL, "PriorityWeightFairShare", "weight_fairshare", NUMBER},
    {NULL, "PriorityWeightJobSize", "weight_size", NUMBER},
    {NULL, "PriorityMaxAge", "max_age", DURATION},
    {NULL, "PriorityDecayHalfLife", "half_life", DURATION},
    {NULL, "PriorityCalcPeriod", "calc_period", DURATION},
};

static void put_option(FILE *cfg, const struct known *k, const char *value, FILE *to)
{
    char *end;
    const double number = strtod(value, &end);
    if (k->form == DURATION) {
        double seconds = 1e9;
        if (strcasecmp(value, "UNLIMITED") != 0 && !dls_date_span(value, &seconds)) {
            fprintf(to, "  %s=%s is not understood\n", k->key, value);
            return;
        }
        fprintf(cfg, "    %s = \"%.15g s\";\n", k->option, seconds);
    } else if (end == value || *end) {
        fprintf(to, "  %s=%s is not understood\n", k->key, value);
    } else if (k->form == NUMBER) {
        fprintf(cfg, "    %s = %s;\n", k->option, value);
    } else {
        fprintf(cfg, "    %s = \"%.15g s\";\n", k->option,
                k->form == MINUTES ? 60 * number : number);
    }
}

static void put_known(FILE *cfg, const char *in, const char *key, const char *value, FILE *to)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct known *k = &known[i];
        if (strcasecmp(k->key, key) == 0 && (k->in == NULL) == (in == NULL)) {
            put_option(cfg, k, value, to);
            return;
        }
    }
    if (in) {
        fprintf(to, "  %s: %s is not modelled\n", in, key);
    }
}

/* Comma separated key=value or words. */
static void put_list(FILE *cfg, const char *in, char *text, FILE *to)
{
    char *rest = NULL;
    for (char *word = strtok_r(text, ", \t", &rest); word; word = strtok_r(NULL, ", \t", &rest)) {
        char *equal = strchr(word, '=');
        if (equal) {
            *equal = '\0';
        }
        put_known(cfg, in, word, equal ? equal + 1 : "", to);
    }
}

static char *trim(char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n > 0 && strchr(" \t\r", s[n - 1])) {
        s[--n] = '\0';
    }
    return s;
}

/* Of use only if the controller ran when the first job came. */
static void put_boot(FILE *cfg, const char *date, const char *epoch)
{
    int64_t boot_us, zero_us;
    if (dls_date_parse(date, strlen(date), &boot_us) &&
        dls_date_parse(epoch, strlen(epoch), &zero_us) && boot_us <= zero_us) {
        /* It becomes primary a second after it has started. */
        fprintf(cfg, "    boot = %.15g;\n", 1e-6 * (double)(boot_us - zero_us) + 1);
    }
}

static void put_line(FILE *cfg, char *line, const char *epoch, FILE *to, bool *weights)
{
    line[strcspn(line, "#")] = '\0';
    char *equal = strchr(line, '=');
    if (!equal || strncasecmp(line, "NodeName", 8) == 0 ||
        strncasecmp(line, "PartitionName", 13) == 0) {
        if (strncasecmp(line, "PartitionName", 13) == 0 && strstr(line, "TRESBillingWeights=")) {
            *weights = true;
        }
        return;
    }
    *equal = '\0';
    char *key = trim(line), *value = trim(equal + 1);
    if (strcmp(value, "(null)") == 0) {
        return;
    }
    if (strcasecmp(key, "SchedulerParameters") == 0) {
        put_list(cfg, key, value, to);
    } else if (strcasecmp(key, "SchedulerType") == 0) {
        fprintf(cfg, "    backfill = %s;\n", strstr(value, "backfill") ? "true" : "false");
    } else if (strcasecmp(key, "PriorityType") == 0) {
        fprintf(cfg, "    priority = \"%s\";\n",
                strstr(value, "multifactor") ? "multifactor" : "basic");
    } else if (strcmp(key, "BOOT_TIME") == 0) {
        put_boot(cfg, value, epoch);
    } else if (strcasecmp(key, "PreemptType") == 0 && !strstr(value, "none")) {
        fprintf(to, "  PreemptType=%s is not modelled\n", value);
    } else {
        put_known(cfg, NULL, key, value, to);
    }
}

dls_status dls_site_put_scheduler(FILE *cfg, const char *conf, double cluster_cpus, bool shares,
                                  const char *epoch, FILE *to, dls_error *err)
{
    char *text = NULL, *rest = NULL;
    size_t len;
    bool weights = false;
    if (conf) {
        DLS_TRY(dls_file_read_text(conf, DLS_FILE_CONFIG, &text, &len, err));
    }
    fputs("scheduler:\n{\n    name = \"slurm\";\n", cfg);
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest)) {
        put_line(cfg, line, epoch, to, &weights);
    }
    int64_t zero_us;
    if (dls_date_parse(epoch, strlen(epoch), &zero_us)) {
        fprintf(cfg, "    clock = %d;\n", (int)(zero_us / 1000000 % 86400));
    }
    fprintf(cfg, "    billing = \"%s\";\n    cluster_cpus = %.15g;\n", weights ? "gpu" : "cpu",
            cluster_cpus);
    if (shares) {
        fputs("    shares = \"shares.csv\";\n", cfg);
    }
    fputs("};\n", cfg);
    dls_free(text);
    return DLS_OK;
}
