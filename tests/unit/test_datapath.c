/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files that come with the program are found from any folder.
 */
#include "base/datapath.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST(found_in_the_source_tree)
{
    char buf[4096];
    assert_int_equal(chdir("/"), 0);
    const char *path = dls_data_path("configs/hardware", "configs/hardware", buf, sizeof buf);
    assert_ptr_equal(path, buf);
    assert_true(path[0] == '/');
    assert_int_equal(access(path, R_OK), 0);
}

TEST(the_current_folder_is_first)
{
    char buf[4096];
    char folder[] = "/tmp/dlsim-datapath-XXXXXX";
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_string_equal(dls_data_path(".", "nowhere", buf, sizeof buf), ".");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(folder), 0);
}

TEST(nowhere_names_the_installation)
{
    char buf[4096];
    const char *path = dls_data_path("no/such/file", "also/not.h5", buf, sizeof buf);
    assert_non_null(strstr(path, "/../share/dlsim/also/not.h5"));
}
