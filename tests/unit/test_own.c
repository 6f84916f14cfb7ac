/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a block holds is released when it is left, by an early return too, the last first; what was taken
 * outlives it.
 */
#include "base/alloc.h"
#include "base/own.h"
#include "support/test.h"

#include <stdbool.h>

typedef struct thing {
    char name;
} thing;

static char released[8];

static void release(thing *t)
{
    const size_t n = strlen(released);
    released[n] = t ? t->name : '-';
    released[n + 1] = '\0';
}
DLS_OWNER(thing, release)

static dls_status enter(bool fails, thing **out)
{
    static thing kept = {'k'};
    DLS_OWN(release) thing first = {'1'};
    DLS_HOLD(release) thing *second = &kept;
    DLS_FREED char *text = dls_strdup("text"); /* lost or freed twice: a sanitizer sees it */
    assert_non_null(text);
    DLS_TRY(fails ? DLS_EINPUT : DLS_OK);
    DLS_OWN(release) thing third = {'3'};
    assert_true(first.name < third.name);
    *out = dls_take(&second);
    return DLS_OK;
}

TEST(at_the_end)
{
    thing *out = NULL;
    *released = '\0';
    assert_int_equal(enter(true, &out), DLS_EINPUT);
    assert_string_equal(released, "k1");
    assert_null(out);
    *released = '\0';
    assert_int_equal(enter(false, &out), DLS_OK);
    assert_string_equal(released, "3-1");
    assert_int_equal(out->name, 'k');
}
