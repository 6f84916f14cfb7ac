/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * First in, first out on a counted cluster in SimGrid (libsimgrid-dev), an actor a job, for tests/bench/duel, which compiles it:
 *
 *      duel_simgrid JOBS GPUS      lines "id gpus submit duration"; prints "id,start,end"
 */
#include <simgrid/s4u.hpp>

#include <cstdio>
#include <deque>
#include <fstream>
#include <string>

namespace sg4 = simgrid::s4u;

struct job {
    std::string id;
    long gpus;
    double submit, duration;
    sg4::SemaphorePtr granted;
};

static long free_gpus;
static std::deque<job *> queue;

static void grant()
{
    while (!queue.empty() && queue.front()->gpus <= free_gpus) {
        job *first = queue.front();
        queue.pop_front();
        free_gpus -= first->gpus;
        first->granted->release(); /* others run meanwhile */
    }
}

static void live(job *j)
{
    j->granted->acquire();
    const double start = sg4::Engine::get_clock();
    sg4::this_actor::sleep_for(j->duration);
    free_gpus += j->gpus;
    grant();
    std::printf("%s,%.0f,%.0f\n", j->id.c_str(), start, sg4::Engine::get_clock());
}

/* In the order of the trace, also of those that come at once. */
static void submit(std::deque<job> *jobs, sg4::Host *host)
{
    for (job &j : *jobs) {
        sg4::this_actor::sleep_until(j.submit);
        j.granted = sg4::Semaphore::create(0);
        queue.push_back(&j);
        sg4::Actor::create("job", host, live, &j);
        grant();
    }
}

int main(int argc, char **argv)
{
    sg4::Engine engine(&argc, argv);
    auto *zone = sg4::create_full_zone("zone");
    auto *host = zone->create_host("host", 1e9);
    zone->seal();
    std::ifstream in(argv[1]);
    free_gpus = std::stol(argv[2]);
    std::deque<job> jobs;
    for (job j; in >> j.id >> j.gpus >> j.submit >> j.duration;) {
        jobs.push_back(j);
    }
    sg4::Actor::create("submit", host, submit, &jobs, host);
    engine.run();
}
