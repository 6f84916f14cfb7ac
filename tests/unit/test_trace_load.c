/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files: plain, compressed, cut short, corrupt, missing; and loading when memory runs out.
 */
#include "trace_util.h"

#include "base/alloc.h"
#include "base/sha256.h"
#include "support/must.h"
#include "support/refuse.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static const char table[] = "job_id,num_gpu,submit_time,duration,model_name,user,nodes\n"
                            "a,1,5,10,\"m\"\"1\",u,1\nb,0.5,3,0,m2,,2\nc,8,4,7,,v,\n";

/* text as gzip; returns the number of bytes. */
static size_t compress_text(const void *text, size_t len, unsigned char *out, size_t cap)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    unsigned char *copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    z.next_in = copy;
    z.avail_in = (uInt)len;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t n = cap - z.avail_out;
    deflateEnd(&z);
    free(copy);
    return n;
}

static void write_file(const char *path, const void *bytes, size_t len)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

static void temp_path(char path[64])
{
    snprintf(path, 64, "/tmp/dlsim-load-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
}

static void assert_is_table(dls_trace *t, const char *sha256)
{
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_int_equal(c->n, 3);
    assert_string_equal(dls_trace_id(t, 0), "b");
    assert_string_equal(dls_trace_model(t, c->model[2]), "m\"1");
    assert_string_equal(dls_trace_about(t)->sha256, sha256);
    dls_trace_destroy(t);
}

TEST(plain_and_compressed_files)
{
    char path[64], sha256[DLS_SHA256_HEX];
    temp_path(path);
    dls_trace *t = NULL;
    dls_error err = {0};

    write_file(path, table, sizeof table - 1);
    dls_sha256_hex(table, sizeof table - 1, sha256);
    assert_int_equal(dls_trace_load(path, NULL, NULL, &t, &err), DLS_OK);
    assert_string_equal(dls_trace_about(t)->path, path);
    assert_is_table(t, sha256);
    assert_int_equal(dls_trace_load(path, "native", NULL, &t, &err), DLS_OK);
    assert_is_table(t, sha256);

    unsigned char zip[1024];
    const size_t half = 70, n1 = compress_text(table, half, zip, sizeof zip);
    /* Two members one behind the other are one file, as `cat a.gz b.gz` makes them. */
    const size_t n =
        n1 + compress_text(table + half, sizeof table - 1 - half, zip + n1, sizeof zip - n1);
    write_file(path, zip, n);
    dls_sha256_hex(zip, n, sha256);
    assert_int_equal(dls_trace_load(path, "auto", NULL, &t, &err), DLS_OK);
    assert_is_table(t, sha256);

    char with_mark[sizeof table + 3] = "\xef\xbb\xbf";
    memcpy(with_mark + 3, table, sizeof table - 1);
    write_file(path, with_mark, sizeof table + 2);
    dls_sha256_hex(with_mark, sizeof table + 2, sha256);
    assert_int_equal(dls_trace_load(path, NULL, NULL, &t, &err), DLS_OK);
    assert_is_table(t, sha256);
    unlink(path);
}

TEST(standard_input)
{
    char path[64], sha256[DLS_SHA256_HEX];
    temp_path(path);
    write_file(path, table, sizeof table - 1);
    dls_sha256_hex(table, sizeof table - 1, sha256);
    const int saved = dup(STDIN_FILENO), fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
    dls_trace *t = NULL;
    dls_error err = {0};
    const dls_status status = dls_trace_load("-", NULL, NULL, &t, &err);
    if (saved >= 0) {
        dup2(saved, STDIN_FILENO);
        close(saved);
    }
    unlink(path);
    assert_int_equal(status, DLS_OK);
    assert_string_equal(dls_trace_about(t)->path, "<stdin>");
    assert_is_table(t, sha256);
}

/* Every proper prefix of a compressed file and every flipped byte in its data is noticed. */
TEST(damaged_compressed_files)
{
    unsigned char zip[1024];
    const size_t n = compress_text(table, sizeof table - 1, zip, sizeof zip);
    for (size_t len = 3; len < n; len++) {
        must_refuse((const char *)zip, len, NULL, "t", "the gzip data end too early");
    }
    for (size_t i = 10; i < n; i++) { /* behind the header */
        dls_trace *t = NULL;
        dls_error err = {0};
        zip[i] ^= 1; /* the highest bits of the last data byte mean nothing */
        assert_int_equal(dls_trace_parse("t", zip, n, NULL, NULL, &t, &err), DLS_EINPUT);
        assert_string_equal(err.where, "t");
        zip[i] ^= 1;
    }
    memcpy(zip + n, "junk", 4);
    must_refuse((const char *)zip, n + 4, NULL, "t", "corrupt");
    const size_t empty = compress_text("", 0, zip, sizeof zip);
    must_refuse((const char *)zip, empty, NULL, "t", "the file is empty");
}

TEST(a_large_compressed_file)
{
    const size_t cap = 4u << 20;
    char *text = malloc(cap);
    unsigned char *zip = malloc(cap);
    assert_true(text && zip);
    size_t len = (size_t)sprintf(text, "num_gpu,submit_time\n");
    int rows = 0;
    while (len < 3u << 20) {
        len += (size_t)sprintf(text + len, "%d,%d\n", rows % 8 + 1, rows);
        rows++;
    }
    const size_t n = compress_text(text, len, zip, cap);
    dls_trace *t = NULL;
    dls_error err = {0};
    assert_int_equal(dls_trace_parse("t", zip, n, NULL, NULL, &t, &err), DLS_OK);
    assert_int_equal(dls_trace_cols(t)->n, rows);
    assert_true(dls_trace_cols(t)->submit_us[rows - 1] == S(rows - 1));
    dls_trace_destroy(t);
    free(text);
    free(zip);
}

TEST(files_that_cannot_be_read)
{
    dls_trace *t = NULL;
    dls_error err = {0};
    assert_int_equal(dls_trace_load("/nonexistent/trace.csv", NULL, NULL, &t, &err), DLS_EINPUT);
    assert_string_equal(err.where, "/nonexistent/trace.csv");
    assert_non_null(strstr(err.msg, "cannot be opened: No such file"));
    MUST_FAIL(DLS_EINPUT, "is a directory", dls_trace_load("/tmp", NULL, NULL, &t, &e));
    MUST_FAIL(DLS_EINPUT, "empty", dls_trace_load("/dev/null", NULL, NULL, &t, &e));
    assert_int_equal(dls_trace_load("/nonexistent/trace.csv", NULL, NULL, &t, NULL), DLS_EINPUT);
    assert_null(t);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Fail the n-th allocation for n = 1, 2, ... until loading works: always DLS_ENOMEM, nothing leaks
 * (the sanitizer build sees that). Returns how many allocations a load takes. */
static long fail_each_allocation(const void *bytes, size_t len, const dls_trace_options *opts)
{
    for (int n = 0; n < 100000; n++) {
        dls_trace *t = NULL;
        dls_error err = {0};
        dls_status status;
        REFUSED(status, n, dls_trace_parse("t", bytes, len, NULL, opts, &t, &err));
        if (status == DLS_OK) {
            dls_trace_destroy(t);
            return n;
        }
        if (status != DLS_ENOMEM) {
            fail_msg("allocation %d: %s: %s", n + 1, dls_status_name(status), err.msg);
        }
        assert_null(t);
    }
    return -1;
}

TEST(loading_without_memory)
{
    static char text[60000];
    size_t len = (size_t)sprintf(
        text,
        "num_gpu,submit_time,model_name,user,vc,class,gpu_type,iterations,batch_size,status\n");
    for (int i = 0; i < 600; i++) {
        len += (size_t)sprintf(text + len, "%d.5,%d,m%d,u%d,v%d,c%d,g%d,%d,%d,killed\n", i % 8 + 1,
                               600 - i, i, i, i, i, i, i, i);
    }
    unsigned char zip[sizeof text];
    const size_t n = compress_text(text, len, zip, sizeof zip);
    const long plain = fail_each_allocation(text, len, NULL);
    assert_true(plain > 40); /* dictionaries and columns grow several times */
    assert_true(fail_each_allocation(zip, n, NULL) > plain);

    static const char log[] = "[{\"jobid\":\"a\",\"submitted_time\":\"2017-10-11 "
                              "09:00:00\",\"attempts\":[{\"start_time\":"
                              "\"2017-10-11 09:00:00\",\"end_time\":\"2017-10-11 "
                              "09:00:09\",\"detail\":[{\"gpus\":[1]}]}]}]";
    assert_true(fail_each_allocation(log, sizeof log - 1, NULL) > 5);
    static const char batsim[] = "{\"jobs\":[{\"subtime\":0,\"res\":1,\"profile\":\"d\"}],"
                                 "\"profiles\":{\"d\":{\"type\":\"delay\",\"delay\":1}}}";
    assert_true(fail_each_allocation(batsim, sizeof batsim - 1, NULL) > 5);
    static const char swf[] = "1 0 5 600 8 590.2 -1 8 3600 -1 1 3 1 2 1 1 -1 -1\n";
    assert_true(fail_each_allocation(swf, sizeof swf - 1,
                                     &(dls_trace_options){.swf_processor_is_gpu = true}) > 5);
}
