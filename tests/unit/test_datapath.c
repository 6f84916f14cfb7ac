/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that come with the program are found from any folder.
 */
#include "base/datapath.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void found_in_the_source_tree(void **state)
{
    (void)state;
    char buf[4096];
    assert_int_equal(chdir("/"), 0);
    const char *path = dls_data_path("configs/hardware", "configs/hardware", buf, sizeof buf);
    assert_ptr_equal(path, buf);
    assert_true(path[0] == '/');
    assert_int_equal(access(path, R_OK), 0);
}

static void the_current_folder_is_first(void **state)
{
    (void)state;
    char buf[4096];
    char folder[] = "/tmp/dlsim-datapath-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_string_equal(dls_data_path(".", "nowhere", buf, sizeof buf), ".");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void nowhere_names_the_installation(void **state)
{
    (void)state;
    char buf[4096];
    const char *path = dls_data_path("no/such/file", "also/not.h5", buf, sizeof buf);
    assert_non_null(strstr(path, "/../share/dlsim/also/not.h5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_in_the_source_tree),
        cmocka_unit_test(the_current_folder_is_first),
        cmocka_unit_test(nowhere_names_the_installation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
