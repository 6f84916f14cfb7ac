/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "build_info.h"
#include "cli/cli.h"
#include "cli/ui.h"
#include "dlsim/policy.h"

#include <gsl/gsl_version.h>
#include <hdf5.h>
#include <json-c/json_c_version.h>
#include <libconfig.h>
#include <zlib.h>

static const struct option longs[] = {
    {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};

typedef struct item {
    const char *name, *value;
} item;

int dls_cmd_version(int argc, char **argv)
{
    bool json = false;
    for (int c; (c = dls_ui_getopt(argc, argv, "h", longs, "version")) != -1;) {
        if (c == 'h') {
            fputs("Usage: dlsim version [--json]\n\nVersion, build and libraries.\n", stdout);
            return 0;
        }
        if (c == '?') {
            return dls_status_exit_code(DLS_EUSAGE);
        }
        json = true;
    }
    if (optind < argc) {
        return dls_ui_usage("version", "unexpected word '%s'", argv[optind]);
    }
    unsigned major, minor, release;
    char hdf5[32], libconfig[32], abi[16];
    H5get_libversion(&major, &minor, &release);
    snprintf(hdf5, sizeof hdf5, "%u.%u.%u", major, minor, release);
    snprintf(libconfig, sizeof libconfig, "%d.%d.%d", LIBCONFIG_VER_MAJOR, LIBCONFIG_VER_MINOR,
             LIBCONFIG_VER_REVISION);
    snprintf(abi, sizeof abi, "%u", DLS_POLICY_ABI);
    const item items[] = {
        {"version", DLS_VERSION}, {"commit", DLS_GIT_SHA}, {"build", DLS_BUILD},
        {"policy_abi", abi},      {"hdf5", hdf5},          {"gsl", gsl_version},
        {"libconfig", libconfig}, {"zlib", zlibVersion()}, {"json_c", json_c_version()},
        {"cuda", DLS_CUDA}};
    const size_t n = sizeof items / sizeof items[0];
    if (!json) {
        printf("dlsim %s\n", items[0].value);
    }
    for (size_t i = 0; i < n; i++) {
        if (json) {
            printf("%s\"%s\": ", i == 0 ? "{" : ", ", items[i].name);
            dls_ui_json_string(stdout, items[i].value);
        } else if (i > 0) {
            printf("  %-10s %s\n", items[i].name, *items[i].value ? items[i].value : "unknown");
        }
    }
    fputs(json ? "}\n" : "", stdout);
    return 0;
}
