/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Opens the learner of the CUDA module at run time and checks the version of its interface.
 */
#include "predictor/training/learner.h"

#include "predictor/driple/backend.h"

#include <dlfcn.h>
#include <string.h>

dls_status dls_learner_cuda(const char *path, const dls_learner_ops **ops, void **handle,
                            dls_error *err)
{
    const dls_driple_ops *predictions = NULL;
    *ops = NULL;
    DLS_TRY(dls_driple_module_open(path, &predictions, handle, err));
    dls_learner_module_fn entry = NULL;
    void *symbol = dlsym(*handle, "dls_learner_module");
    memcpy(&entry, &symbol, sizeof entry);
    *ops = entry ? entry(DLS_LEARNER_ABI) : NULL;
    if (!*ops || (*ops)->abi != DLS_LEARNER_ABI) {
        *ops = NULL;
        dls_driple_module_close(*handle);
        *handle = NULL;
        return dls_fail(err, DLS_EPREDICTOR, path,
                        "the CUDA module does not train (interface %u is wanted)", DLS_LEARNER_ABI);
    }
    return DLS_OK;
}
