/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Bad input: every complaint is DLS_EINPUT, names file:line(:column) and says what was expected.
 */
#include "trace_util.h"

#include <stdlib.h>

static void refuse(const char *text, const char *format, const char *where, const char *part)
{
    must_refuse(text, strlen(text), format, where, part);
}

#define H "job_id,num_gpu,submit_time,duration\n"

TEST(cells)
{
    static const struct {
        const char *row, *where, *part;
    } cases[] = {
        {"a,x,0,1", "t:2:3", "column 'num_gpu': 'x' is not a number, expected a number of GPUs"},
        {"a,,0,1", "t:2:3", "column 'num_gpu': empty"},
        {"a,0,0,1", "t:2", "at least one GPU"},
        {"a,-1,0,1", "t:2:3", "'-1' is negative"},
        {"a,nan,0,1", "t:2:3", "'nan' is not a number"},
        {"a,1.0005,0,1", "t:2:3", "more than 3 decimals"},
        {"a,1000001,0,1", "t:2:3", "too large"},
        {"a,2147483648,0,1", "t:2:3", "too large"},
        {"a,9223372036854775808,0,1", "t:2:3", "too large"},
        {"a,1,abc,1", "t:2:5", "column 'submit_time': 'abc' is not a number, expected a time"},
        {"a,1,-0.5,1", "t:2:5", "negative"},
        {"a,1,,1", "t:2:5", "empty"},
        {"a,1,NaN,1", "t:2:5", "not a number"},
        {"a,1,inf,1", "t:2:5", "not a number"},
        {"a,1,1e300,1", "t:2:5", "too large"},
        {"a,1,31557600001,1", "t:2:5", "too large"},
        {"a,1,9223372036855,1", "t:2:5", "too large"},
        {"a,1,0x10,1", "t:2:5", "not a number"},
        {"a,1,0,1h", "t:2:7", "column 'duration': '1h' is not a number, expected a duration"},
        {"a,1,0,5\nb,1,0,nan", "t:3:7", "column 'duration': 'nan' is not a number"},
        {"a,1,0,5\nb,1,0,None", "t:3:7", "column 'duration': 'None' is not a number"},
        {"a,1,0,99999999999", "t:2:7", "too large"},
        {"a,1,0", "t:2", "3 cells, but the header has 4 columns"},
        {"a,1,0,1,", "t:2", "5 cells, but the header has 4 columns"},
        {"a,1,0,1\nb,1,0", "t:3", "3 cells"},
        {"a,1,0,1\na,1,0,1", "t:3", "job id 'a' is not unique (data row 1 has it)"},
        {"\"a,1,0,1\n", "t:2:1", "the quote that opens here is never closed"},
        {"\"a\"b,1,0,1\n", "t:2:4", "text behind a closing quote"},
        {"a,1,0,1\r\n\r\n# note\r\n\"b\nb\",y,0,1\r\n", "t:6:4", "'y' is not a number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, H "%s", cases[i].row);
        refuse(text, NULL, cases[i].where, cases[i].part);
    }
}

TEST(optional_cells)
{
    static const struct {
        const char *name, *cell, *part;
    } cases[] = {
        {"iterations", "1.5", "not whole"},
        {"iterations", "-3", "negative"},
        {"iterations", "lots", "not a number"},
        {"batch_size", "9223372036854775808", "too large"},
        {"nodes", "-1", "negative"},
        {"priority", "-1", "negative"},
        {"deadline", "-1", "negative"},
        {"limit", "soon", "not a number"},
        {"estimate", "1e99", "too large"},
        {"queue", "-5", "negative"},
        {"attempts", "2.5", "not whole"},
        {"num_cpu", "0.0001", "more than 3 decimals"},
        {"mem_mib", "1 GiB", "not a number"},
        {"flags", "CLAMPED|ODD", "'ODD' is not a flag"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "num_gpu,submit_time,%s\n1,0,%s\n", cases[i].name,
                 cases[i].cell);
        refuse(text, NULL, "t:2:5", cases[i].part);
    }
}

TEST(files)
{
    refuse("", NULL, "t", "empty");
    refuse("\n\n", "native", "t", "no header line");
    refuse("# only a comment", "native", "t", "no header line");
    refuse(H, NULL, "t", "no job in the trace");
    refuse(H "\r\n \n# nothing\n", NULL, "t", "no job in the trace");
    refuse("hello\n", NULL, "t", "not recognised; the file starts 'hello'");
    refuse("job_id,duration\n1,2\n", "native", "t:1", "lacks the column 'num_gpu', 'submit_time'");
    refuse("num_gpu,submit_time,num_gpu\n", "native", "t:1:21", "two columns are named 'num_gpu'");
    refuse("time,active,total\n2017-10-03 00:00:00,1,2\n", NULL, "t",
           "not a job trace but an occupancy series");
    refuse("time,total_job_num,running_job_num\n", NULL, "t", "occupancy series");
    refuse("sn,cpu_milli,memory_mib,gpu,model\n", NULL, "t", "a list of nodes");
    refuse("duration\n5\n", NULL, "t", "a list of durations");
    refuse("a\x1b[31mred\n", NULL, "t", "the file starts 'a?[31mred'");
    refuse("id,duration\n1,5\n", NULL, "t", "not recognised");
    must_refuse("\xef\xbb\xbf", 3, NULL, "t", "empty");
    must_refuse(H "a,1\0,0,1\n", sizeof H "a,1\0,0,1\n" - 1, NULL, "t:2:4", "a NUL byte");
}

TEST(huge_cells_and_rows)
{
    const size_t size = 200000;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, H, sizeof H - 1);
    must_refuse(text, size, NULL, "t:2:1", "a cell of 199964 bytes (at most 65536)");
    text[sizeof H - 1] = '"';
    text[size - 1] = '"';
    must_refuse(text, size, NULL, "t:2:1", "a cell of 199962 bytes");
    memset(text, ',', size);
    memcpy(text, H, sizeof H - 1);
    must_refuse(text, size, NULL, "t:2:129", "more than 128 columns");
    must_refuse(text + sizeof H - 1, size - sizeof H + 1, "native", "t:1:129", "more than 128");
    free(text);
}

TEST(of_other_formats)
{
    refuse("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
           "0,4,0.5,500,resnet50,900,45\n",
           NULL, "t:2:5", "'0.5' is not whole");
    refuse("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
           "0,4,0,500,resnet50,,45\n",
           NULL, "t:2:20", "empty, expected a duration");
    refuse("num_gpu,submit_time,duration,resource_time_0,priority\n1,0,1,1,2\n", NULL, "t:2:9",
           "expected 0 (guaranteed) or 1 (opportunistic)");
    refuse("timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-20,480.0,4,1920.0,a\n", NULL,
           "t:2:1", "expected YYYY-MM-DD HH:MM:SS");
    refuse("timestamp,duration,num_gpus,gpu_time,cluster\nNone,480.0,4,1920.0,a\n", NULL, "t:2:1",
           "'None' is not a date");
    refuse("#job id,arrival time (sec),topology,shape,size,duration (sec)\n0,0,C,1,zero,1\n", NULL,
           "t:2:9", "column 'size'");
    refuse("job_id,arrival_s,service_sec,gpu_count\n1,x,1,1\n", NULL, "t:2:3", "'arrival_s'");
    refuse("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,1001\n", NULL, "t:2:9",
           "too large, expected 0 to 1000");
    refuse("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,0\n", NULL, "t:2",
           "at least one GPU");
    refuse("name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time\np,1,1,1,1,1\n", NULL, "t:1",
           "lacks the column 'deletion_time', 'scheduled_time'");
    refuse("job_id,num_inst,submit_time,num_gpu,duration\n1,1000000,0,1000,1\n", NULL, "t:2",
           "1000000000 GPUs for one job");
    refuse("a\tb\tc\t2\t1\t0\t1\n", NULL, "t:1:7", "field 4: '2' is too large, expected 0 or 1");
    refuse("a\tb\tc\t0\t1\t0\n", "gavel", "t:1", "6 fields, expected 7, 10 or 12");
    refuse("LM (batch size x)\tb\tc\t0\t1\t0\t1\n", NULL, "t:1:1",
           "expected 'Model (batch size N)'");
    refuse("LM (batch size 8) \tb\tc\t0\t1\t0\t-1\n", NULL, "t:1:30", "negative");
}

TEST(json)
{
#define JOB "{\"jobid\":\"a\",\"submitted_time\":\"2017-10-11 09:00:00\",\"attempts\":"
    static const struct {
        const char *text, *where, *part;
    } cases[] = {
        {"[", "t:1:2", "the file ends here, expected an object"},
        {"[" JOB "[]}", "t:1:68", "expected ',' or ']'"},
        {"[" JOB "[]}] x", "t:1:70", "'x', expected the end of the file"},
        {"[\n 7]", "t:2:2", "'7]', expected an object"},
        {"[{\"a\" 7}]", "t:1:7", "'7}]': object property name separator ':' expected"},
        {"[{\"a\":nope}]", "t:1:8", "'ope}]': null expected"},
        {"[{\"a\":1.2.3}]", "t:1:10", "'.3}]': number expected"},
        {"[{\"jobid\":7}]", "t:1:2", "member 'jobid': expected a string"},
        {"[{\"jobid\":\"x", "t:1:13", "the file ends here, in a value that starts at t:1:2"},
        {"[{\"jobid\":\"\\q\"}]", "t:1:13", "invalid string sequence"},
        {"[{\"a\":1,}]", "t:1:9", "unexpected character"},
        {"[{\"a\":1} ,]", "t:1:11", "expected an object"},
        {"[{\"num_gpus\":NaN}]", "t:1:2", "member 'num_gpus': 'NaN' is not a number"},
        {"[{\"num_gpus\":99999999999999999999}]", "t:1:2", "too large"},
        {"[{\"jobid\":\"\\u0000\"}]", "t:1:2", "a NUL character in a string"},
        {"[{\"num_gpus\":-1}]", "t:1:2", "'-1' is negative, expected a number of GPUs"},
        {"[{\"num_gpus\":1e30}]", "t:1:2", "too large"},
        {"[{\"num_gpus\":\"4\"}]", "t:1:2", "expected a number of GPUs"},
        {"[{\"submitted_time\":\"yesterday\"}]", "t:1:2", "member 'submitted_time': 'yesterday' is not a date"},
        {"[" JOB "[{\"start_time\":\"2017\"}]}]", "t:1:2", "member 'start_time': '2017' is not a date"},
        {"[" JOB "[{\"detail\":[7]}]}]", "t:1:2", "member 'detail', item 1: expected an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        refuse(cases[i].text, "philly-log", cases[i].where, cases[i].part);
    }
#define TWICE                                                                                      \
    JOB "[{\"start_time\":\"2017-10-11 09:00:00\",\"end_time\":\"2017-10-11 09:00:09\","           \
        "\"detail\":[{\"gpus\":[1]}]}]}"
    refuse("[" TWICE ",\n" TWICE "]", "philly-log", "t:2:1", "job id 'a' is not unique");

    char deep[400] = "[{\"a\":";
    memset(deep + 6, '[', 300);
    refuse(deep, "philly-log", "t:1:70", "nesting too deep");
    char id[400] = "[{\"jobid\":\"";
    memset(id + 11, 'i', 300);
    strcpy(id + 311, "\"}]");
    refuse(id, "philly-log", "t:1:2", "a string of 300 bytes (at most 255)");
}

TEST(batsim)
{
#define P "\"profiles\":{\"d\":{\"type\":\"delay\",\"delay\":1},\"p\":{\"type\":\"parallel\"}}"
    static const struct {
        const char *job, *where, *part;
    } cases[] = {
        {"{\"subtime\":0,\"res\":1}", "t:1:10", "this job lacks 'profile'"},
        {"{\"subtime\":0,\"profile\":\"d\"}", "t:1:10", "this job lacks 'res'"},
        {"{\"res\":1,\"profile\":\"d\"}", "t:1:10", "this job lacks 'subtime'"},
        {"{\"subtime\":0,\"res\":1,\"profile\":\"e\"}", "t:1:10", "no profile is named 'e'"},
        {"{\"subtime\":0,\"res\":1,\"profile\":\"p\"}", "t:1:10", "is of type 'parallel'"},
        {"{\"subtime\":-1,\"res\":1,\"profile\":\"d\"}", "t:1:10", "member 'subtime': '-1' is negative"},
        {"{\"subtime\":0,\"res\":1.5,\"profile\":\"d\"}", "t:1:10", "member 'res': '1.5' has too many decimals"},
        {"{\"subtime\":0,\"res\":1,\"profile\":\"d\",\"id\":true}", "t:1:10",
         "expected a string or a whole number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"jobs\":[%s]," P "}", cases[i].job);
        refuse(text, NULL, cases[i].where, cases[i].part);
    }
    refuse("{\"jobs\":[],\"profiles\":{\"d\":{\"type\":\"delay\"}}}", NULL, "t:1:28",
           "has no 'delay'");
    refuse("{\"jobs\":[],\"profiles\":{\"d\":{},\"d\":{}}}", NULL, "t:1:31", "two profiles");
    refuse("{\"jobs\":[]," P "}", NULL, "t", "no job in the trace");
}
