/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reading a whole file: what is not a file, what does not end, what fails on the way.
 */

#include "base/alloc.h"
#include "base/file.h"
#include "support/must.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

static void gives(const char *path, size_t limit, const char *want)
{
    DLS_FREED char *text = NULL;
    size_t len;
    MUST(dls_file_read_text(path, limit, &text, &len, &e));
    assert_int_equal(len, strlen(want));
    assert_string_equal(text, want);
}

static void refuses(const char *path, size_t limit, const char *where, const char *part)
{
    char *text = folder;
    size_t len;
    dls_error err = {0};
    assert_int_equal(dls_file_read_text(path, limit, &text, &len, &err), DLS_EINPUT);
    assert_null(text);
    assert_string_equal(err.where, where);
    if (!strstr(err.msg, part)) {
        fail_msg("%s: %s", err.where, err.msg);
    }
}

TEST(within_its_limit)
{
    gives(put("five", "12345"), 5, "12345");
    refuses(in_folder("five"), 4, in_folder("five"), "is larger than 4 bytes, the limit");
    gives(put("none", ""), 0, "");
    /* Not read, or there would be no memory for it. */
    const char *path = put("sparse", "");
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    refuses(path, DLS_FILE_TRACE, path, "is larger than 4096 MiB, the limit");
}

TEST(what_is_no_file)
{
    char *bytes;
    size_t len;
    dls_error err = {0};
    refuses(folder, 100, folder, "is a directory");
    refuses("/nonexistent/x", 100, "/nonexistent/x", "cannot be opened: No such file");
    refuses("/dev/zero", DLS_FILE_TRACE, "/dev/zero:1:1", "a NUL byte: this is not a text file");
    assert_int_equal(dls_file_read("/dev/zero", 1 << 20, &bytes, &len, &err), DLS_EINPUT);
    assert_string_equal(err.where, "/dev/zero");
    assert_string_equal(err.msg, "is larger than 1 MiB, the limit for such a file");
    assert_int_equal(dls_file_check_regular("/dev/zero", &err), DLS_EINPUT);
    assert_string_equal(err.msg, "is not a regular file");
    assert_int_equal(dls_file_check_regular(put("regular", "x"), &err), DLS_OK);
}

TEST(no_more_descriptors)
{
    const char *path = put("there", "x");
    struct rlimit was, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    none = was;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    char *bytes;
    size_t len;
    dls_error err = {0};
    const dls_status status = dls_file_read(path, 10, &bytes, &len, &err);
    setrlimit(RLIMIT_NOFILE, &was);
    assert_int_equal(status, DLS_EINPUT);
    assert_string_equal(err.msg, "cannot be opened: Too many open files");
}

/* A child writes `line` into a pipe, `times` times or for ever. */
static pid_t feed(const char *path, const char *line, long times)
{
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open(path, O_WRONLY);
        while (times-- != 0 && write(fd, line, strlen(line)) > 0) {
        }
        _exit(0);
    }
    return child;
}

TEST(pipes)
{
    const char *path = in_folder("pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t child = feed(path, "a,b\n", 3);
    gives(path, 100, "a,b\na,b\na,b\n");
    waitpid(child, NULL, 0);
    child = feed(path, "1,2,3\n", -1);
    refuses(path, 3 << 20, path, "is larger than 3 MiB, the limit");
    waitpid(child, NULL, 0);
    dls_error err = {0};
    assert_int_equal(dls_file_check_regular(path, &err), DLS_EINPUT);
}

TEST(a_read_error_is_not_the_end)
{
    refuses("/proc/self/mem", 1 << 20, "/proc/self/mem", "cannot be read: Input/output error");
    /* Some text, and then the other side of the terminal is gone. */
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) != 0 || unlockpt(terminal) != 0) {
        skip();
    }
    const int other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    assert_true(other >= 0);
    assert_int_equal(write(other, "12\n", 3), 3);
    close(other);
    const int saved = dup(STDIN_FILENO);
    assert_int_equal(dup2(terminal, STDIN_FILENO), STDIN_FILENO);
    char *bytes;
    size_t len;
    dls_error err = {0};
    const dls_status status = dls_file_read("-", 100, &bytes, &len, &err);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(terminal);
    assert_int_equal(status, DLS_EINPUT);
    assert_string_equal(err.where, "<stdin>");
    assert_string_equal(err.msg, "cannot be read: Input/output error");
}

TEST(compressed)
{
    const char *path = in_folder("zip");
    gzFile gz = gzopen(path, "wb");
    assert_non_null(gz);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(gzputs(gz, "0123456789\n"), 11);
    }
    gzclose(gz);
    char *bytes, *text;
    size_t len, text_len;
    dls_error err = {0};
    assert_int_equal(dls_file_read_text(path, 10000, &bytes, &len, &err), DLS_OK);
    assert_true(dls_file_is_gzip(bytes, len));
    assert_int_equal(dls_file_gunzip("t", bytes, len, 11000, &text, &text_len, &err), DLS_OK);
    assert_int_equal(text_len, 11000);
    assert_int_equal(strlen(text), 11000);
    dls_free(text);
    assert_int_equal(dls_file_gunzip("t", bytes, len, 10999, &text, &text_len, &err), DLS_EINPUT);
    assert_string_equal(err.msg, "is larger than 10999 bytes, the limit for such a file");
    assert_null(text);
    dls_free(bytes);
}

GROUP(make_folder, drop_folder)
