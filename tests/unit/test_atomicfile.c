/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file appears whole or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/atomicfile.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], path[80], part[96];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/dlsim-atomic-XXXXXX");
    const bool made = mkdtemp(folder) != NULL;
    snprintf(path, sizeof path, "%s/file", folder);
    snprintf(part, sizeof part, "%s.part", path);
    return made ? 0 : -1;
}

static int drop_folder(void **state)
{
    (void)state;
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

static bool exists(const char *name)
{
    return access(name, F_OK) == 0;
}

static void commit_replaces(void **state)
{
    (void)state;
    dls_atomicfile f;
    put(path, "old");
    assert_int_equal(dls_atomicfile_begin(&f, path, NULL), DLS_OK);
    assert_string_equal(f.part, part);
    put(f.part, "new");
    assert_content(path, "old");
    assert_int_equal(dls_atomicfile_commit(&f, NULL), DLS_OK);
    assert_content(path, "new");
    assert_false(exists(part));
    dls_atomicfile_abort(&f); /* nothing left to do */
    assert_content(path, "new");
}

static void abort_leaves_nothing(void **state)
{
    (void)state;
    dls_atomicfile f;
    put(path, "old");
    assert_int_equal(dls_atomicfile_begin(&f, path, NULL), DLS_OK);
    put(f.part, "half");
    dls_atomicfile_abort(&f);
    assert_false(exists(part));
    assert_content(path, "old");
}

static void refused(void **state)
{
    (void)state;
    dls_atomicfile f;
    dls_error err;
    assert_int_equal(dls_atomicfile_begin(&f, folder, &err), DLS_EOUTPUT);
    assert_int_equal(dls_atomicfile_begin(&f, "/dev/null", &err), DLS_EOUTPUT);
    assert_non_null(strstr(err.msg, "not a regular file"));
    assert_int_equal(dls_atomicfile_begin(&f, "/no/such/folder/x", &err), DLS_EOUTPUT);
    assert_string_equal(err.where, "/no/such/folder/x");
    assert_null(f.part);
    /* The part vanishes before it is committed. */
    assert_int_equal(dls_atomicfile_begin(&f, path, &err), DLS_OK);
    unlink(part);
    assert_int_equal(dls_atomicfile_commit(&f, &err), DLS_EOUTPUT);
    assert_null(f.part);
}

static dls_status put_words(FILE *to, void *what, dls_error *err)
{
    fputs(what, to);
    return strcmp(what, "no") == 0 ? dls_fail(err, DLS_EINPUT, "words", "refused") : DLS_OK;
}

/* Far beyond what the limit lets a file hold: the stream fails, put need not look. */
static dls_status put_much(FILE *to, void *what, dls_error *err)
{
    (void)what;
    (void)err;
    for (int i = 0; i < 100000; i++) {
        fputs("0123456789", to);
    }
    return DLS_OK;
}

static void written_through_a_stream(void **state)
{
    (void)state;
    dls_error err;
    char yes[] = "yes", no[] = "no";
    put(path, "old");
    assert_int_equal(dls_atomicfile_write(path, put_words, no, &err), DLS_EINPUT);
    assert_string_equal(err.where, "words");
    assert_content(path, "old");
    assert_false(exists(part));
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
    assert_false(exists(part));
}

static int fail_at;

static int refuse(void *user, size_t bytes)
{
    (void)user;
    (void)bytes;
    return fail_at-- != 0;
}

static void failed_allocations(void **state)
{
    (void)state;
    for (int n = 0; n < 2; n++) {
        dls_atomicfile f;
        fail_at = n;
        dls_alloc_set_hook(refuse, NULL);
        const dls_status status = dls_atomicfile_begin(&f, path, NULL);
        dls_alloc_set_hook(NULL, NULL);
        assert_int_equal(status, DLS_ENOMEM);
        assert_false(exists(part));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commit_replaces),
        cmocka_unit_test(abort_leaves_nothing),
        cmocka_unit_test(refused),
        cmocka_unit_test(written_through_a_stream),
        cmocka_unit_test(failed_allocations),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
