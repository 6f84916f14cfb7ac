/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Edit distances and suggestions for misspelt words.
 */

#include "base/suggest.h"
#include "support/test.h"

#include <string.h>

TEST(distances)
{
    assert_int_equal(dls_edit_distance("", "", SIZE_MAX), 0);
    assert_int_equal(dls_edit_distance("", "abc", SIZE_MAX), 3);
    assert_int_equal(dls_edit_distance("abc", "", SIZE_MAX), 3);
    assert_int_equal(dls_edit_distance("kitten", "sitting", SIZE_MAX), 3);
    assert_int_equal(dls_edit_distance("fifo", "fiof", SIZE_MAX), 1); /* neighbours swapped */
    assert_int_equal(dls_edit_distance("FIFO", "fifo", SIZE_MAX), 0); /* letter case */
    assert_int_equal(dls_edit_distance("ca", "abc", SIZE_MAX), 3);    /* alignment form, not 2 */
    assert_int_equal(dls_edit_distance("gittins", "gitins", SIZE_MAX), 1);
    char a[65], b[65]; /* beyond the table */
    memset(a, 'x', 64);
    a[64] = '\0';
    memcpy(b, a, 65);
    assert_int_equal(dls_edit_distance(a, b, SIZE_MAX), 64);
    a[63] = b[63] = '\0';
    assert_int_equal(dls_edit_distance(a, b, SIZE_MAX), 0);
    assert_true(dls_edit_distance("kitten", "sitting", 1) > 1); /* given up */
    assert_int_equal(dls_edit_distance("kitten", "sitting", 3), 3);
    assert_int_equal(dls_edit_distance("abcd", "badc", 2), 2); /* a row of more, then swapped */
}

TEST(suggestions)
{
    static const char *const names[] = {"fifo", "gittins", "dlas", "dlas-gpu", "srtf", NULL};
    assert_string_equal(dls_suggest("fiof", names), "fifo");
    assert_string_equal(dls_suggest("gitins", names), "gittins");
    assert_string_equal(dls_suggest("dlasgpu", names), "dlas-gpu");
    assert_string_equal(dls_suggest("dlas", names), "dlas");
    assert_string_equal(dls_suggest("SRTF", names), "srtf");
    assert_null(dls_suggest("banana", names));
    assert_null(dls_suggest("x", names));
    assert_null(dls_suggest("", names));
    static const char *const keys[] = {"scheduler.history", "scheduler.restore_cost", "scheduler.name", NULL};
    assert_string_equal(dls_suggest("scheduler.restore", keys), "scheduler.restore_cost");
    assert_string_equal(dls_suggest("Scheduler.name", keys), "scheduler.name");
    static const char *const options[] = {"name", "queue_limits", NULL};
    assert_string_equal(dls_suggest("queue", options), "queue_limits");
    assert_null(dls_suggest("que", options));
    static const char *const both[] = {"queue_limits", "queues", NULL};
    assert_string_equal(dls_suggest("queue", both), "queues");
    static const char *const none[] = {NULL};
    assert_null(dls_suggest("fifo", none));
}
