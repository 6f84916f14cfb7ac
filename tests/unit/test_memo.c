/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A memo gives back the bytes that were kept, in threads and in children of fork, whoever kept them, and
 * none that were not; one that is full or whose writer died keeps what it has.
 */
#include "base/memo.h"
#include "support/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEYS = 200, LONGEST = 3000 };

/* What a key stands for: as many bytes as it says, in two parts. */
static void keep(dls_memo *m, int32_t key)
{
    static const unsigned char zero[LONGEST];
    const size_t n = (size_t)(key * 37 % LONGEST);
    const struct iovec part[] = {{&key, sizeof key}, {(void *)(uintptr_t)zero, n}};
    dls_memo_keep(m, &key, sizeof key, part, 2);
}

static bool is_kept(const dls_memo *m, int32_t key)
{
    const unsigned char *found = dls_memo_find(m, &key, sizeof key);
    if (!found) {
        return false;
    }
    assert_int_equal((uintptr_t)found % sizeof(double), 0);
    assert_memory_equal(found, &key, sizeof key);
    for (size_t i = 0; i < (size_t)(key * 37 % LONGEST); i++) {
        assert_int_equal(found[sizeof key + i], 0);
    }
    return true;
}

static void *use(void *arg)
{
    int32_t made = 0;
    for (int32_t key = 0; key < KEYS; key++) {
        if (!is_kept(arg, key)) {
            keep(arg, key);
            made++;
        }
    }
    return (void *)(intptr_t)made;
}

TEST(threads_and_children)
{
    DLS_HOLD(dls_memo_destroy) dls_memo *m = dls_memo_create();
    pthread_t thread[4];
    assert_non_null(m);
    assert_false(is_kept(m, 0));
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, use, m), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
    }
    (void)use(m); /* what two wanted to add at one time may not be there */
    for (int32_t key = 0; key < KEYS; key++) {
        assert_true(is_kept(m, key));
    }
    const int32_t first = 7;
    const void *before = dls_memo_find(m, &first, sizeof first);
    keep(m, first); /* once only */
    assert_ptr_equal(dls_memo_find(m, &first, sizeof first), before);
    const pid_t child = fork();
    if (child == 0) {
        keep(m, KEYS);
        _exit(is_kept(m, 3) ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_true(is_kept(m, KEYS));
    assert_false(is_kept(m, KEYS + 1));
}

TEST(full)
{
    static const unsigned char block[1 << 20];
    const struct iovec part = {(void *)(uintptr_t)block, sizeof block};
    DLS_HOLD(dls_memo_destroy) dls_memo *m = dls_memo_create();
    int32_t n = 0;
    for (int32_t key = 0; key < 300; key++) {
        dls_memo_keep(m, &key, sizeof key, &part, 1);
        n += dls_memo_find(m, &key, sizeof key) != NULL;
    }
    assert_int_equal(n, 255); /* of 256 MiB, with their keys */
    keep(m, 1000);           /* what is small still fits */
    assert_true(is_kept(m, 1000));
}

/* A wild store ends who does it, and reaches nobody. */
TEST(cannot_be_written)
{
    DLS_HOLD(dls_memo_destroy) dls_memo *m = dls_memo_create();
    keep(m, 5);
    const int32_t key = 5;
    const pid_t child = fork();
    if (child == 0) {
        volatile unsigned char *at = (void *)(uintptr_t)dls_memo_find(m, &key, sizeof key);
        signal(SIGSEGV, SIG_DFL);
        at[1] = 1;
        _exit(0);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGSEGV);
    assert_true(is_kept(m, 5));
}

TEST(none)
{
    keep(NULL, 1);
    assert_false(is_kept(NULL, 1));
    dls_memo_destroy(NULL);
}
