/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a test takes out of a JSON file, which is as it should be.
 */
#ifndef DLS_TESTS_JSON_H
#define DLS_TESTS_JSON_H

#include "base/json.h"
#include "support/test.h"

static inline json_object *member(json_object *of, const char *name)
{
    json_object *to;
    if (!json_object_object_get_ex(of, name, &to)) {
        fail_msg("no member %s", name);
    }
    return to;
}

static inline double number(json_object *array, size_t i)
{
    return json_object_get_double(json_object_array_get_idx(array, i));
}

#endif
