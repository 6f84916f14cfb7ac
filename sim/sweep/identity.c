/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Ids of points, and the files that they follow from.
 */
#include "sweep/identity.h"

#include "base/alloc.h"
#include "base/file.h"
#include "config/load.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

void dls_sweep_inputs_fini(dls_sweep_inputs *inputs)
{
    dls_strdict_fini(&inputs->paths);
    dls_free(inputs->input);
}

/* With the terminator, so that no two lists of texts are alike. */
static void add(dls_sha256 *sha, const char *text)
{
    dls_sha256_update(sha, text, strlen(text) + 1);
}

static dls_status unreadable(const char *path, int why, dls_error *err)
{
    return dls_fail(err, DLS_ECONFIG, path, "cannot be read: %s", strerror(why));
}

static dls_status add_input(dls_sweep_inputs *inputs, dls_sha256 *sha, const char *path,
                            dls_error *err);

static dls_status add_folder(dls_sweep_inputs *inputs, dls_sha256 *sha, const char *path,
                             dls_error *err)
{
    struct dirent **entry;
    int n;
    DLS_TRY(dls_config_unread(dls_file_names(path, &entry, &n, err), err));
    dls_status status = DLS_OK;
    for (int i = 0; status == DLS_OK && i < n; i++) {
        char below[4400];
        struct stat st;
        const int len = snprintf(below, sizeof below, "%s/%s", path, entry[i]->d_name);
        if (len >= (int)sizeof below) {
            status = unreadable(path, ENAMETOOLONG, err);
        } else if (stat(below, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))) {
            add(sha, entry[i]->d_name);
            status = add_input(inputs, sha, below, err);
        }
    }
    dls_file_free_names(entry, n);
    return status;
}

static dls_status read_input(dls_sweep_inputs *inputs, const char *path, dls_sweep_input *out,
                             dls_error *err)
{
    struct stat st;
    dls_sha256 sha;
    dls_sha256_init(&sha);
    if (stat(path, &st) != 0) {
        return unreadable(path, errno, err);
    }
    if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
        return dls_fail(err, DLS_ECONFIG, path, "is not a file");
    }
    DLS_TRY(S_ISDIR(st.st_mode) ? add_folder(inputs, &sha, path, err)
                                : dls_config_unread(dls_file_hash(path, &sha, err), err));
    *out = (dls_sweep_input){
        .dev = st.st_dev, .ino = st.st_ino, .size = st.st_size, .changed = st.st_mtim};
    dls_sha256_final(&sha, out->sha256);
    return DLS_OK;
}

/* The digest of what `path` holds becomes part of sha. */
static dls_status add_input(dls_sweep_inputs *inputs, dls_sha256 *sha, const char *path,
                            dls_error *err)
{
    int32_t code = dls_strdict_find(&inputs->paths, path, strlen(path));
    if (code < 0) {
        dls_sweep_input input;
        DLS_TRY(read_input(inputs, path, &input, err));
        DLS_TRY(dls_grow(&inputs->input, &inputs->cap, inputs->paths.n + 1, sizeof *inputs->input,
                         err));
        DLS_TRY(dls_strdict_put(&inputs->paths, path, strlen(path), &code, err));
        inputs->input[code] = input;
    }
    add(sha, inputs->input[code].sha256);
    return DLS_OK;
}

/* The bytes of the program, and of the library that this is part of if it is not in the program. */
static dls_status add_program(dls_sweep_inputs *inputs, dls_sha256 *sha, dls_error *err)
{
    static const char program[] = "/proc/self/exe";
    Dl_info about;
    struct stat mine, whole;
    DLS_TRY(add_input(inputs, sha, program, err));
    const bool apart = dladdr(program, &about) && strchr(about.dli_fname, '/') &&
                       stat(about.dli_fname, &mine) == 0 && stat(program, &whole) == 0 &&
                       mine.st_ino != whole.st_ino;
    return apart ? add_input(inputs, sha, about.dli_fname, err) : DLS_OK;
}

/* The bytes of the plug-in that a policy comes from, and of what that imports from beside it. */
static dls_status add_policy(dls_sweep_inputs *inputs, dls_sha256 *sha,
                             const dls_registry *registry, const void *ops, dls_error *err)
{
    const char *plugin = dls_registry_origin(registry, ops);
    const char *import;
    if (!*plugin) {
        add(sha, "built in");
        return DLS_OK;
    }
    DLS_TRY(add_input(inputs, sha, plugin, err));
    for (size_t i = 0; (import = dls_registry_import(registry, ops, i)); i++) {
        DLS_TRY(add_input(inputs, sha, import, err));
    }
    return DLS_OK;
}

dls_status dls_sweep_identify(dls_sweep_inputs *inputs, const dls_config *config,
                              const dls_registry *registry, const char *trace_sha256,
                              char id[DLS_SWEEP_ID], dls_error *err)
{
    char hex[DLS_SHA256_HEX];
    size_t at = 0;
    dls_sha256 sha;
    dls_sha256_init(&sha);
    DLS_TRY(add_program(inputs, &sha, err));
    DLS_TRY(add_policy(inputs, &sha, registry, config->sim.sched, err));
    DLS_TRY(add_policy(inputs, &sha, registry, config->sim.placement, err));
    for (size_t i = 0; i < config->n_files; i++) {
        const dls_config_file *file = &config->file[i];
        dls_sha256_update(&sha, config->text + at, file->at - at);
        add(&sha, "");
        at = file->at + file->len;
        if (strcmp(file->path, config->trace_path) == 0) {
            add(&sha, trace_sha256);
        } else if (file->input) {
            DLS_TRY(add_input(inputs, &sha, file->path, err));
        }
    }
    add(&sha, config->text + at);
    dls_sha256_final(&sha, hex);
    snprintf(id, DLS_SWEEP_ID, "%.*s", DLS_SWEEP_ID - 1, hex);
    return DLS_OK;
}

dls_status dls_sweep_inputs_check(const dls_sweep_inputs *inputs, dls_error *err)
{
    for (size_t i = 0; i < inputs->paths.n; i++) {
        const dls_sweep_input *was = &inputs->input[i];
        const char *path = dls_strdict_get(&inputs->paths, (int32_t)i);
        struct stat st;
        if (stat(path, &st) != 0 || st.st_dev != was->dev || st.st_ino != was->ino ||
            st.st_size != was->size || st.st_mtim.tv_sec != was->changed.tv_sec ||
            st.st_mtim.tv_nsec != was->changed.tv_nsec) {
            return dls_fail(err, DLS_EINPUT, path, "has changed since the sweep began");
        }
    }
    return DLS_OK;
}
