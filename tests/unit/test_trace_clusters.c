/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Published clusters' own formats on a few invented rows: recognition, units, flags, what is left
 * out and why.
 */
#include "trace_util.h"

TEST(philly_csv)
{
    reads("timestamp,duration,num_gpus,gpu_time,cluster\n"
          "2017-10-20 14:03:22,480.0,4,1920.0,0a1b2c\n"
          "2017-10-20 14:03:20,66.0,1,66.0,ffffff\n\n",
          "philly-csv", NULL,
          "2017-10-20 14:03:20, 2 rows, 0 left out, 0 changed\n"
          "1: 1 GPUs at 0 duration=66 vc=ffffff unknown\n"
          "0: 4 GPUs at 2 duration=480 vc=0a1b2c unknown\n");
}

TEST(philly_rfold)
{
    reads("#job id,arrival time (sec),topology,shape,size,duration (sec)\r\n"
          "0,0.0,CLOS,1,1,3600.0\r\n1,42.0,CLOS,4+4,8,75.0\r\n"
          "2,43.0,CLOS,4+4,9,0.0\r\n3,44.0,CLOS,1,0.46,1.0",
          "philly-rfold", NULL,
          ", 4 rows, 0 left out, 1 changed\n"
          "shape does not add up to size, not used: 1\n"
          "zero or negative duration raised to 1 s: 1\n"
          "0: 1 GPUs at 0 duration=3600 milli=1000 nodes=1 SPAN_INCLUDES_GAPS unknown\n"
          "1: 8 GPUs at 42 duration=75 milli=8000 nodes=2 SPAN_INCLUDES_GAPS unknown\n"
          "2: 9 GPUs at 43 duration=1 milli=9000 ZERO_DURATION SPAN_INCLUDES_GAPS unknown\n"
          "3: 1 GPUs at 44 duration=1 milli=460 SPAN_INCLUDES_GAPS FRACTIONAL_GPUS unknown\n");
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
    /* Attempts of 115 s and 10 s. */
    reads(philly_log_text, "philly-log", NULL,
          "2017-10-11 08:59:40, 7 rows, 5 left out, 0 changed\n"
          "no attempt: 1\n"
          "no start time: 1\n"
          "no end time: 1\n"
          "no GPU: 1\n"
          "no submission time: 1\n"
          "application_1_0007: 3 GPUs at 0 duration=125 queue=25 nodes=2 attempts=2 vc=0a1b2c "
          "user=9f8e7d completed\n"
          "b: 1 GPUs at 20 duration=60 queue=0 nodes=1 attempts=2 CENSORED running\n");

    const dls_trace_options span = {.philly_span = true};
    /* From 09:00:05 to 09:04:20. */
    reads(philly_log_text, NULL, &span,
          "2017-10-11 08:59:40, 7 rows, 5 left out, 0 changed\n"
          "no attempt: 1\n"
          "no start time: 1\n"
          "no end time: 1\n"
          "no GPU: 1\n"
          "no submission time: 1\n"
          "application_1_0007: 3 GPUs at 0 duration=255 queue=25 nodes=2 attempts=2 vc=0a1b2c "
          "user=9f8e7d SPAN_INCLUDES_GAPS completed\n"
          "b: 1 GPUs at 20 duration=60 queue=0 nodes=1 attempts=2 SPAN_INCLUDES_GAPS CENSORED "
          "running\n");
}

TEST(philly_json)
{
    reads("[ {\"id\": \"a\\u00e9\\n\", \"num_gpus\": 8, \"runtime\": 3.5, \"attempts\": [ {"
          "\"start_time\": \"2017-10-07 01:12:09\", \"end_time\": \"2017-10-07 01:13:23\"} ],"
          "\"submitted_time\": \"2017-10-07 01:11:39\"} ]",
          "philly-json", NULL,
          "2017-10-07 01:11:39, 1 rows, 0 left out, 0 changed\n"
          "a\xc3\xa9\n"
          ": 8 GPUs at 0 duration=74 queue=30 attempts=1 unknown\n");
}

TEST(helios)
{
    reads(
        "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
        "queue\n"
        "1,uA,vcA,16,64,2,COMPLETED,2020-07-01 10:00:00,2020-07-01 10:00:30,2020-07-01 11:00:30,"
        "3600,30\n"
        "2,uA,vcA,1,4,1,CANCELLED,2020-07-01 10:05:00,,,9,7\n"
        "3,uA,vcA,0,4,1,FAILED,2020-07-01 10:05:00,2020-07-01 10:05:00,2020-07-01 10:05:09,9,0\n"
        "4,uA,vcA,1,4,1,SUSPENDED,2020-07-01 10:05:00,2020-07-01 10:05:00,,,0\n"
        "5,uA,vcA,1,4,1,TIMEOUT,2020-07-01 10:06:00,2020-07-01 10:06:00,2020-07-01 10:06:01,1,0\n"
        "6,uA,vcA,1,4,1,CANCELLED,2020-07-01 10:07:00,None,2020-07-01 10:08:00,0,60\n",
        "helios", NULL,
        "2020-07-01 10:00:00, 6 rows, 3 left out, 0 changed\n"
        "no GPU: 1\n"
        "no end time: 1\n"
        "never started: 1\n"
        "1: 16 GPUs at 0 duration=3600 queue=30 cpu=64 nodes=2 vc=vcA user=uA completed\n"
        "2: 1 GPUs at 300 duration=9 queue=7 cpu=4 nodes=1 vc=vcA user=uA CENSORED killed\n"
        "5: 1 GPUs at 360 duration=1 queue=0 cpu=4 nodes=1 vc=vcA user=uA timeout\n");
}

TEST(helios_conversions)
{
    reads("job_id,arrival_s,service_sec,gpu_count\r\n"
          "9#1,86400.0,172800.0,8\r\n9#2,86401.5,172799.0,8\r\n",
          "helios-conv", NULL,
          ", 2 rows, 0 left out, 0 changed\n"
          "9#1: 8 GPUs at 86400 duration=172800 CLAMPED unknown\n"
          "9#2: 8 GPUs at 86401.5 duration=172799 unknown\n");

    reads("# a comment\n# another, with \"quotes\n"
          "job_id,user,tenant,class,submit_time,num_chips,chip_type,num_nodes,duration_s,"
          "walltime_limit_s,final_status\n"
          "7,u1,vcA,finetune,5835000000,128,,16,24.0,24.0,CANCELED\n",
          "helios-2vc", NULL,
          ", 1 rows, 0 left out, 0 changed\n"
          "7: 128 GPUs at 5835 duration=24 nodes=16 vc=vcA user=u1 class=finetune killed\n");
}

TEST(acme)
{
    /* Seren's duration has no wait in it */
    reads(
        "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,"
        "queue,gpu_time\n"
        "1,u1,2,16,256,Pretrain,COMPLETED,2023-04-02 09:00:00+08:00,2023-04-02 09:00:20+08:00,"
        "2023-04-02 10:00:20+08:00,3600,20,57600.0\n"
        "2,u1,1,8,8,Eval,PREEMPTED,2023-04-02 09:00:00+08:00,,2023-04-02 10:00:20+08:00,30,20,1\n"
        "3,u1,1,0,8,Other,FAILED,2023-04-02 09:00:00+08:00,,,,,\n",
        "acme", NULL,
        "2023-04-02 01:00:00Z, 3 rows, 1 left out, 0 changed\n"
        "no GPU: 1\n"
        "1: 16 GPUs at 0 duration=3600 queue=20 cpu=256 nodes=2 user=u1 class=Pretrain completed\n"
        "2: 8 GPUs at 0 duration=30 queue=20 cpu=8 nodes=1 user=u1 class=Eval preempted\n");

    /* Not the column's 300, which has the wait in it. */
    reads("job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,"
          "submit_time,start_time,end_time,fail_time,stop_time,duration,queue,gpu_time\n"
          "dlc1,uf1,2,8,120,1000,100.0,Eval,FAILED,2023-05-20 03:00:00+00:00,"
          "2023-05-20 03:00:15+00:00,2023-05-20 03:05:00+00:00,2023-05-20 "
          "03:05:00+00:00,,300,15.0,1\n"
          "dlc2,uf1,1,8,120,1000,100.0,Eval,FAILED,2023-05-20 03:00:00+00:00,,"
          "2023-05-20 03:05:00+00:00,2023-05-20 03:05:00+00:00,,300,15.0,2400.0\n",
          "acme", NULL,
          "2023-05-20 03:00:00Z, 2 rows, 0 left out, 0 changed\n"
          "dlc1: 8 GPUs at 0 duration=285 queue=15 cpu=120 mib=2048000 nodes=2 user=uf1 class=Eval "
          "failed\n"
          "dlc2: 8 GPUs at 0 duration=300 queue=15 cpu=120 mib=1024000 nodes=1 user=uf1 class=Eval "
          "DURATION_INCLUDES_QUEUE failed\n");
}

TEST(openb)
{
    reads("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
          "deletion_time,scheduled_time\n"
          "p1,8000,30517,1,500,,BE,Succeeded,100,1200,104\n"
          "p2,64000,262144,8,1000,V100M16|V100M32|V100M32,LS,Pending,110,500,\n"
          "p3,64000,262144,2,1000,V100M16|V100M32|V100M32,LS,Running,110,500,110\n"
          "p4,1000,1,0,0,,LS,Running,110,500,110\n",
          "openb", NULL,
          ", 4 rows, 2 left out, 0 changed\n"
          "never scheduled: 1\n"
          "no GPU: 1\n"
          "p1: 1 GPUs at 100 duration=1096 queue=4 milli=500 cpu=8 mib=30517 class=BE "
          "FRACTIONAL_GPUS completed\n"
          "p3: 2 GPUs at 110 duration=390 queue=0 milli=2000 cpu=64 mib=262144 "
          "types=V100M16|V100M32 class=LS CENSORED running\n");

    reads("name,cpu_milli,memory_mib,num_gpu,gpu_milli\np1,8000,30517,2,1000\n", "openb", NULL,
          ", 1 rows, 0 left out, 0 changed\n"
          "p1: 2 GPUs at 0 cpu=8 mib=30517 NO_DURATION unknown\n");
}

TEST(max_jobs_keeps_the_first_of_the_file)
{
    const dls_trace_options two = {.max_jobs = 2};
    reads("num_gpu,submit_time\n1,9\n2,5\n3,0\n", NULL, &two,
          ", 2 rows, 0 left out, 0 changed\n"
          "1: 2 GPUs at 5 NO_DURATION unknown\n"
          "0: 1 GPUs at 9 NO_DURATION unknown\n");
    reads(philly_log_text, NULL, &(dls_trace_options){.max_jobs = 1},
          "2017-10-11 08:59:40, 1 rows, 0 left out, 0 changed\n"
          "application_1_0007: 3 GPUs at 0 duration=125 queue=25 nodes=2 attempts=2 vc=0a1b2c "
          "user=9f8e7d completed\n");
}
