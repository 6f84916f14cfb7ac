/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Published clusters' own formats on a few invented rows: recognition, units, flags, what is left
 * out and why.
 */
#include "support/test.h"
#include "trace_util.h"

TEST(philly_csv)
{
    dls_trace *t = parse_as("timestamp,duration,num_gpus,gpu_time,cluster\n"
                            "2017-10-20 14:03:22,480.0,4,1920.0,0a1b2c\n"
                            "2017-10-20 14:03:20,66.0,1,66.0,ffffff\n\n",
                            "philly-csv");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_string_equal(dls_trace_about(t)->epoch, "2017-10-20 14:03:20");
    assert_int_equal(c->row[0], 1); /* sorted */
    assert_true(c->submit_us[0] == 0);
    assert_true(c->submit_us[1] == S(2));
    assert_string_equal(dls_trace_id(t, 0), "1");
    assert_string_equal(dls_trace_vc(t, c->vc[1]), "0a1b2c");
    assert_int_equal(c->flags[0], 0);
    dls_trace_destroy(t);
}

TEST(philly_rfold)
{
    dls_trace *t = parse_as("#job id,arrival time (sec),topology,shape,size,duration (sec)\r\n"
                            "0,0.0,CLOS,1,1,3600.0\r\n1,42.0,CLOS,4+4,8,75.0\r\n"
                            "2,43.0,CLOS,4+4,9,0.0\r\n3,44.0,CLOS,1,0.46,1.0",
                            "philly-rfold");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_int_equal(c->n, 4);
    assert_int_equal(c->nodes[0], 1);
    assert_int_equal(c->nodes[1], 2);
    assert_int_equal(c->nodes[2], -1);
    assert_int_equal(c->gpus[3], 1);
    assert_int_equal(c->gpus_milli[3], 460);
    assert_int_equal(c->flags[1], DLS_JOB_SPAN_INCLUDES_GAPS);
    assert_int_equal(c->flags[2], DLS_JOB_SPAN_INCLUDES_GAPS | DLS_JOB_ZERO_DURATION);
    assert_int_equal(c->flags[3], DLS_JOB_SPAN_INCLUDES_GAPS | DLS_JOB_FRACTIONAL_GPUS);
    assert_true(c->duration_us[2] == S(1));
    dls_trace_destroy(t);
}

static const char philly_log_text[] =
    "[{\"status\":\"Pass\",\"vc\":\"0a1b2c\",\"jobid\":\"application_1_0007\","
    "\"attempts\":[{\"start_time\":\"2017-10-11 09:00:05\",\"end_time\":\"2017-10-11 09:02:00\","
    "\"detail\":[{\"ip\":\"m900\",\"gpus\":[\"gpu0\",\"gpu1\"]},{\"ip\":\"m901\",\"gpus\":["
    "\"gpu0\"]}"
    "]},{\"start_time\":\"2017-10-11 09:04:10\",\"end_time\":\"2017-10-11 "
    "09:04:20\",\"detail\":[]}],"
    "\"submitted_time\":\"2017-10-11 08:59:40\",\"user\":\"9f8e7d\"},\n"
    /* running when the log was taken: the last attempt has no end */
    "{\"attempts\":[{\"detail\":[{\"ip\":\"m1\",\"gpus\":[\"gpu0\"]}],\"start_time\":"
    "\"2017-10-11 09:00:00\",\"end_time\":\"2017-10-11 09:01:00\"},{\"start_time\":"
    "\"2017-10-11 09:02:00\",\"end_time\":\"None\",\"detail\":[]}],\"jobid\":\"b\","
    "\"submitted_time\":\"2017-10-11 09:00:00\",\"status\":\"Killed\",\"vc\":null},\n"
    "{\"attempts\":[],\"jobid\":\"c\",\"submitted_time\":\"2017-10-11 09:00:00\"},\n"
    "{\"attempts\":[{\"start_time\":\"\",\"end_time\":null}],\"jobid\":\"d\","
    "\"submitted_time\":\"2017-10-11 09:00:00\"},\n"
    "{\"attempts\":[{\"start_time\":\"2017-10-11 09:02:00\",\"end_time\":null}],\"jobid\":\"e\","
    "\"submitted_time\":\"2017-10-11 09:00:00\"},\n"
    "{\"attempts\":[{\"start_time\":\"2017-10-11 09:02:00\",\"end_time\":\"2017-10-11 09:03:00\","
    "\"detail\":[]}],\"jobid\":\"f\",\"submitted_time\":\"2017-10-11 09:00:00\"},\n"
    "{\"attempts\":[{\"start_time\":\"2017-10-11 09:02:00\",\"end_time\":\"2017-10-11 09:03:00\","
    "\"detail\":[{\"gpus\":[\"x\"]}]}],\"jobid\":\"g\",\"submitted_time\":\"None\"}]\n";

TEST(philly_log)
{
    dls_trace *t = parse_as(philly_log_text, "philly-log");
    const dls_trace_columns *c = dls_trace_cols(t);
    const dls_trace_info *info = dls_trace_about(t);
    assert_int_equal(c->n, 2);
    assert_int_equal(info->rows_read, 7);
    assert_int_equal(info->rows_skipped, 5);
    assert_string_equal(info->notes, "no attempt: 1\nno start time: 1\nno end time: 1\nno GPU: 1\n"
                                     "no submission time: 1\n");
    assert_string_equal(info->epoch, "2017-10-11 08:59:40");
    assert_string_equal(dls_trace_id(t, 0), "application_1_0007");
    assert_int_equal(c->gpus[0], 3);
    assert_int_equal(c->nodes[0], 2);
    assert_true(c->duration_us[0] == S(125)); /* 115 s and 10 s */
    assert_true(c->queue_us[0] == S(25));
    assert_int_equal(c->attempts[0], 2);
    assert_int_equal(c->outcome[0], DLS_OUTCOME_COMPLETED);
    assert_string_equal(dls_trace_user(t, c->user[0]), "9f8e7d");
    assert_int_equal(c->flags[0], 0);
    assert_true(c->duration_us[1] == S(60));
    assert_int_equal(c->outcome[1], DLS_OUTCOME_RUNNING);
    assert_int_equal(c->flags[1], DLS_JOB_CENSORED);
    assert_int_equal(c->vc[1], -1);
    dls_trace_destroy(t);

    const dls_trace_options span = {.philly_span = true};
    t = must_parse(philly_log_text, NULL, &span);
    c = dls_trace_cols(t);
    assert_true(c->duration_us[0] == S(255)); /* from 09:00:05 to 09:04:20 */
    assert_int_equal(c->flags[0], DLS_JOB_SPAN_INCLUDES_GAPS);
    dls_trace_destroy(t);
}

TEST(philly_json)
{
    dls_trace *t = parse_as(
        "[ {\"id\": \"a\\u00e9\\n\", \"num_gpus\": 8, \"runtime\": 3.5, \"attempts\": [ {"
        "\"start_time\": \"2017-10-07 01:12:09\", \"end_time\": \"2017-10-07 01:13:23\"} ],"
        "\"submitted_time\": \"2017-10-07 01:11:39\"} ]",
        "philly-json");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_string_equal(dls_trace_id(t, 0), "a\xc3\xa9\n");
    assert_int_equal(c->gpus[0], 8);
    assert_true(c->duration_us[0] == S(74));
    assert_true(c->queue_us[0] == S(30));
    dls_trace_destroy(t);
}

TEST(helios)
{
    dls_trace *t = parse_as(
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
        "queue\n"
        "1,uA,vcA,16,64,2,COMPLETED,2020-07-01 10:00:00,2020-07-01 10:00:30,2020-07-01 11:00:30,"
        "3600,30\n"
        "2,uA,vcA,1,4,1,CANCELLED,2020-07-01 10:05:00,,,9,7\n"
        "3,uA,vcA,0,4,1,FAILED,2020-07-01 10:05:00,2020-07-01 10:05:00,2020-07-01 10:05:09,9,0\n"
        "4,uA,vcA,1,4,1,SUSPENDED,2020-07-01 10:05:00,2020-07-01 10:05:00,,,0\n"
        "5,uA,vcA,1,4,1,TIMEOUT,2020-07-01 10:06:00,2020-07-01 10:06:00,2020-07-01 10:06:01,1,0\n",
        "helios");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_int_equal(c->n, 3);
    assert_string_equal(dls_trace_about(t)->notes, "no GPU: 1\nno end time: 1\n");
    assert_string_equal(dls_trace_about(t)->epoch, "2020-07-01 10:00:00");
    assert_true(c->duration_us[0] == S(3600));
    assert_true(c->queue_us[0] == S(30));
    assert_int_equal(c->cpu_milli[0], 64000);
    assert_int_equal(c->nodes[0], 2);
    assert_int_equal(c->outcome[0], DLS_OUTCOME_COMPLETED);
    assert_true(c->duration_us[1] == S(9));
    assert_true(c->queue_us[1] == S(7));
    assert_int_equal(c->outcome[1], DLS_OUTCOME_KILLED);
    assert_int_equal(c->flags[1], DLS_JOB_CENSORED);
    assert_int_equal(c->outcome[2], DLS_OUTCOME_TIMEOUT);
    assert_string_equal(dls_trace_vc(t, c->vc[2]), "vcA");
    dls_trace_destroy(t);
}

TEST(helios_conversions)
{
    dls_trace *t = parse_as("job_id,arrival_s,service_sec,gpu_count\r\n"
                            "9#1,86400.0,172800.0,8\r\n9#2,86401.5,172799.0,8\r\n",
                            "helios-conv");
    assert_int_equal(dls_trace_cols(t)->flags[0], DLS_JOB_CLAMPED);
    assert_int_equal(dls_trace_cols(t)->flags[1], 0);
    assert_string_equal(dls_trace_id(t, 0), "9#1");
    dls_trace_destroy(t);

    t = parse_as("# a comment\n# another, with \"quotes\n"
                 "job_id,user,tenant,class,submit_time,num_chips,chip_type,num_nodes,duration_s,"
                 "walltime_limit_s,final_status\n"
                 "7,u1,vcA,finetune,5835000000,128,,16,24.0,24.0,CANCELED\n",
                 "helios-2vc");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_true(c->submit_us[0] == S(5835));
    assert_true(c->duration_us[0] == S(24));
    assert_int_equal(c->outcome[0], DLS_OUTCOME_KILLED);
    assert_null(c->limit_us);
    assert_int_equal(c->gpu_types[0], -1);
    dls_trace_destroy(t);
}

TEST(acme)
{
    dls_trace *t = parse_as(
        "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
        "queue,gpu_time\n"
        "1,u1,2,16,256,Pretrain,COMPLETED,2023-04-02 09:00:00+08:00,2023-04-02 09:00:20+08:00,"
        "2023-04-02 10:00:20+08:00,3600,20,57600.0\n"
        "2,u1,1,8,8,Eval,PREEMPTED,2023-04-02 09:00:00+08:00,,2023-04-02 10:00:20+08:00,30,20,1\n"
        "3,u1,1,0,8,Other,FAILED,2023-04-02 09:00:00+08:00,,,,,\n",
        "acme");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_string_equal(dls_trace_about(t)->epoch, "2023-04-02 01:00:00Z");
    assert_true(c->duration_us[0] == S(3600));
    assert_string_equal(dls_trace_class(t, c->job_class[0]), "Pretrain");
    assert_int_equal(c->outcome[1], DLS_OUTCOME_PREEMPTED);
    assert_true(c->duration_us[1] == S(30));
    assert_int_equal(c->flags[1], 0); /* Seren's duration has no wait in it */
    dls_trace_destroy(t);

    t = parse_as(
        "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,"
        "submit_time,start_time,end_time,fail_time,stop_time,duration,queue,gpu_time\n"
        "dlc1,uf1,2,8,120,1000,100.0,Eval,FAILED,2023-05-20 03:00:00+00:00,"
        "2023-05-20 03:00:15+00:00,2023-05-20 03:05:00+00:00,2023-05-20 "
        "03:05:00+00:00,,300,15.0,1\n"
        "dlc2,uf1,1,8,120,1000,100.0,Eval,FAILED,2023-05-20 03:00:00+00:00,,"
        "2023-05-20 03:05:00+00:00,2023-05-20 03:05:00+00:00,,300,15.0,2400.0\n",
        "acme");
    c = dls_trace_cols(t);
    assert_true(c->duration_us[0] == S(285)); /* not the column's 300, which has the wait in it */
    assert_int_equal(c->mem_mib[0], 2 * 1000 * 1024);
    assert_int_equal(c->flags[0], 0);
    assert_true(c->duration_us[1] == S(300));
    assert_int_equal(c->flags[1], DLS_JOB_DURATION_INCLUDES_QUEUE);
    dls_trace_destroy(t);
}

TEST(openb)
{
    dls_trace *t =
        parse_as("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
                 "deletion_time,scheduled_time\n"
                 "p1,8000,30517,1,500,,BE,Succeeded,100,1200,104\n"
                 "p2,64000,262144,8,1000,V100M16|V100M32|V100M32,LS,Pending,110,500,\n"
                 "p3,64000,262144,2,1000,V100M16|V100M32|V100M32,LS,Running,110,500,110\n"
                 "p4,1000,1,0,0,,LS,Running,110,500,110\n",
                 "openb");
    const dls_trace_columns *c = dls_trace_cols(t);
    assert_int_equal(c->n, 2);
    assert_string_equal(dls_trace_about(t)->notes, "never scheduled: 1\nno GPU: 1\n");
    assert_true(c->submit_us[0] == S(100));
    assert_true(c->duration_us[0] == S(1096));
    assert_true(c->queue_us[0] == S(4));
    assert_int_equal(c->gpus_milli[0], 500);
    assert_int_equal(c->flags[0], DLS_JOB_FRACTIONAL_GPUS);
    assert_string_equal(dls_trace_class(t, c->job_class[0]), "BE");
    assert_string_equal(dls_trace_gpu_types(t, c->gpu_types[0]), "");
    assert_string_equal(dls_trace_gpu_types(t, c->gpu_types[1]), "V100M16|V100M32");
    assert_int_equal(c->flags[1], DLS_JOB_CENSORED);
    dls_trace_destroy(t);

    t = parse_as("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np1,8000,30517,2,1000\n", "openb");
    assert_int_equal(dls_trace_cols(t)->gpus[0], 2);
    assert_int_equal(dls_trace_cols(t)->flags[0], DLS_JOB_NO_DURATION);
    dls_trace_destroy(t);
}

TEST(max_jobs_keeps_the_first_of_the_file)
{
    const dls_trace_options two = {.max_jobs = 2};
    dls_trace *t = must_parse("num_gpu,submit_time\n1,9\n2,5\n3,0\n", NULL, &two);
    assert_int_equal(dls_trace_cols(t)->n, 2);
    assert_int_equal(dls_trace_cols(t)->gpus[0], 2);
    dls_trace_destroy(t);
    t = must_parse(philly_log_text, NULL, &(dls_trace_options){.max_jobs = 1});
    assert_int_equal(dls_trace_cols(t)->n, 1);
    dls_trace_destroy(t);
}
