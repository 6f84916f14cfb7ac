/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * dlsim version: version, build and libraries.
 */
#include "base/json.h"
#include "build_info.h"
#include "cli/command.h"
#include "dlsim/policy.h"

#include <gsl/gsl_version.h>
#include <hdf5.h>
#include <json-c/json_c_version.h>
#include <libconfig.h>
#include <libdeflate.h>
#include <zlib.h>

typedef struct request {
    bool json;
} request;

static dls_status run(dls_call *call, dls_error *err)
{
    const request *r = call->request;
    char hdf5[32], libconfig[32], abi[16];
    /* HDF5 refuses to run with another version than the headers', and to ask it would set it up. */
    snprintf(hdf5, sizeof hdf5, "%d.%d.%d", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
    snprintf(libconfig, sizeof libconfig, "%d.%d.%d", LIBCONFIG_VER_MAJOR, LIBCONFIG_VER_MINOR,
             LIBCONFIG_VER_REVISION);
    snprintf(abi, sizeof abi, "%u", DLS_POLICY_ABI);
    const struct {
        const char *name, *value;
    } items[] = {{"version", DLS_VERSION}, {"commit", DLS_GIT_SHA}, {"build", DLS_BUILD},
                 {"policy_abi", abi},      {"hdf5", hdf5},          {"gsl", gsl_version},
                 {"libconfig", libconfig}, {"zlib", zlibVersion()}, {"libdeflate", LIBDEFLATE_VERSION_STRING},
                 {"json_c", json_c_version()}, {"cuda", DLS_CUDA}};
    json_object *obj = r->json ? json_object_new_object() : NULL;
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        if (r->json) {
            dls_json_text(obj, items[i].name, items[i].value);
        } else {
            printf(i == 0 ? "%.0sdlsim %s\n" : "  %-10s %s\n", items[i].name,
                   *items[i].value ? items[i].value : "unknown");
        }
    }
    return r->json ? dls_json_print(stdout, obj, err) : DLS_OK;
}

static const dls_arg args[] = {DLS_SWITCH(request, json, "json", 0, "print JSON"), DLS_ARGS_END};

const dls_command dls_command_version = {
    .name = "version",
    .summary = "version, build and libraries",
    .usage = "[--json]",
    .args = args,
    .size = sizeof(request),
    .run = run,
};
