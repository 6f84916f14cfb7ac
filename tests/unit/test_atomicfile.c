/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file appears whole or not at all, whoever else writes it, and nothing else in its folder
 * changes. Each test runs with and without O_TMPFILE, which not every file system has.
 */

#define OWN_MAIN
#include "base/alloc.h"
#include "base/atomicfile.h"
#include "support/must.h"
#include "support/refuse.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[80];
static bool no_tmpfile;

/* In place of the C library's. */
int open(const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const int mode = va_arg(ap, int);
    va_end(ap);
    if (no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

static int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/dlsim-atomic-XXXXXX");
    const bool made = mkdtemp(folder) != NULL;
    snprintf(path, sizeof path, "%s/file", folder);
    return made ? 0 : -1;
}

static int without_tmpfile(void **state)
{
    no_tmpfile = true;
    return make_folder(state);
}

static int drop_folder(void **state)
{
    unlink(path);
    return rmdir(folder);
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void assert_content(const char *name, const char *text)
{
    char line[64] = "";
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_string_equal(line, text);
}

static int entries(void)
{
    int n = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir)) {
        n++;
    }
    closedir(dir);
    return n - 2;
}

TEST(commit_replaces)
{
    dls_atomicfile f;
    put(path, "old");
    assert_int_equal(dls_atomicfile_begin(&f, path, NULL), DLS_OK);
    put(f.part, "new");
    assert_content(path, "old");
    assert_int_equal(dls_atomicfile_commit(&f, NULL), DLS_OK);
    assert_content(path, "new");
    assert_int_equal(entries(), 1);
    dls_atomicfile_abort(&f); /* nothing left to do */
    assert_content(path, "new");
}

/* As any new file: what the umask leaves of rw-rw-rw-. */
TEST(permissions)
{
    struct stat st;
    dls_atomicfile f;
    const mode_t was = umask(027);
    assert_int_equal(dls_atomicfile_begin(&f, path, NULL), DLS_OK);
    assert_int_equal(dls_atomicfile_commit(&f, NULL), DLS_OK);
    umask(was);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

TEST(two_writers)
{
    dls_atomicfile a, b;
    char users[96];
    snprintf(users, sizeof users, "%s.part", path);
    put(users, "the user's");
    assert_int_equal(dls_atomicfile_begin(&a, path, NULL), DLS_OK);
    put(a.part, "a");
    assert_int_equal(dls_atomicfile_begin(&b, path, NULL), DLS_OK);
    put(b.part, "b");
    assert_int_equal(dls_atomicfile_commit(&a, NULL), DLS_OK);
    assert_content(path, "a");
    assert_int_equal(dls_atomicfile_commit(&b, NULL), DLS_OK);
    assert_content(path, "b");
    assert_content(users, "the user's");
    unlink(users);
    assert_int_equal(entries(), 1);
}

/* A name as long as the file system allows. */
TEST(long_name)
{
    dls_atomicfile f;
    char name[400];
    snprintf(name, sizeof name, "%s/%0255d", folder, 0);
    assert_int_equal(dls_atomicfile_begin(&f, name, NULL), DLS_OK);
    put(f.part, "long");
    assert_int_equal(dls_atomicfile_commit(&f, NULL), DLS_OK);
    assert_content(name, "long");
    unlink(name);
}

/* With O_TMPFILE not even SIGKILL leaves anything. */
TEST(killed)
{
    if (no_tmpfile) {
        skip();
    }
    const int before = entries();
    const pid_t child = fork();
    if (child == 0) {
        dls_atomicfile f;
        if (dls_atomicfile_begin(&f, path, NULL) == DLS_OK) {
            kill(getpid(), SIGKILL);
        }
        _exit(1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how));
    assert_int_equal(entries(), before);
}

TEST(abort_leaves_nothing)
{
    dls_atomicfile f;
    put(path, "old");
    assert_int_equal(dls_atomicfile_begin(&f, path, NULL), DLS_OK);
    put(f.part, "half");
    dls_atomicfile_abort(&f);
    assert_int_equal(entries(), 1);
    assert_content(path, "old");
}

TEST(refused)
{
    dls_atomicfile f;
    dls_error err;
    assert_int_equal(dls_atomicfile_begin(&f, folder, &err), DLS_EOUTPUT);
    MUST_FAIL(DLS_EOUTPUT, "not a regular file", dls_atomicfile_begin(&f, "/dev/null", &e));
    assert_int_equal(dls_atomicfile_begin(&f, "/no/such/folder/x", &err), DLS_EOUTPUT);
    assert_string_equal(err.where, "/no/such/folder/x");
    assert_null(f.part);
    /* The name is taken by a folder before it is committed. */
    unlink(path);
    assert_int_equal(dls_atomicfile_begin(&f, path, &err), DLS_OK);
    mkdir(path, 0777);
    assert_int_equal(dls_atomicfile_commit(&f, &err), DLS_EOUTPUT);
    assert_null(f.part);
    assert_int_equal(entries(), 1);
    rmdir(path);
}

static dls_status put_words(FILE *to, void *what, dls_error *err)
{
    fputs(what, to);
    return strcmp(what, "no") == 0 ? dls_fail(err, DLS_EINPUT, "words", "refused") : DLS_OK;
}

/* Far beyond what the limit lets a file hold: the stream fails, put need not look. */
static dls_status put_much(FILE *to, void *what, dls_error *err)
{
    for (int i = 0; i < 100000; i++) {
        fputs("0123456789", to);
    }
    return DLS_OK;
}

TEST(written_through_a_stream)
{
    dls_error err;
    char yes[] = "yes", no[] = "no";
    put(path, "old");
    assert_int_equal(dls_atomicfile_write(path, put_words, no, &err), DLS_EINPUT);
    assert_string_equal(err.where, "words");
    assert_content(path, "old");
    assert_int_equal(entries(), 1);
    assert_int_equal(dls_atomicfile_write(path, put_words, yes, &err), DLS_OK);
    assert_content(path, "yes");
    struct rlimit was;
    getrlimit(RLIMIT_FSIZE, &was);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, was.rlim_max});
    const dls_status status = dls_atomicfile_write(path, put_much, NULL, &err);
    setrlimit(RLIMIT_FSIZE, &was);
    assert_int_equal(status, DLS_EOUTPUT);
    assert_string_equal(err.where, path);
    assert_non_null(strstr(err.msg, "File too large"));
    assert_content(path, "yes");
    assert_int_equal(entries(), 1);
}

TEST(failed_allocations)
{
    for (int n = 0; n < 2; n++) {
        dls_atomicfile f;
        dls_status status;
        REFUSED(status, n, dls_atomicfile_begin(&f, path, NULL));
        assert_int_equal(status, DLS_ENOMEM);
        assert_int_equal(entries(), 1);
    }
}

int main(void)
{
    before_tests = make_folder;
    after_tests = drop_folder;
    const int failed = run_listed();
    before_tests = without_tmpfile;
    return failed + run_listed();
}
