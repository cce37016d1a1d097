// The worker threads. A job is one grid; whoever has time takes chunks of its threadgroups off a counter.
//
// Helpers spin for a moment before they sleep: a graph is a long series of short grids, and waking a thread takes
// longer than many of them. They sleep soon, because others may want the CPU.

#include "pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sched.h>
#include <softmetal.h>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr auto     SPIN_TIME         = std::chrono::microseconds(40);
constexpr int      PAUSES_PER_LOOK   = 16; // at the clock
constexpr uint64_t CHUNKS_PER_THREAD = 8;  // threadgroups differ in cost: enough chunks to even that out
constexpr int      MAX_THREADS       = 256;

void pause_cpu() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// Spins until ready() or the time is over; says which.
template <typename Ready>
bool spin_until(Ready ready) {
    const auto end = std::chrono::steady_clock::now() + SPIN_TIME;
    do {
        for (int i = 0; i < PAUSES_PER_LOOK; i++) {
            if (ready()) {
                return true;
            }
            pause_cpu();
        }
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

// ---- the executor's workers of this thread, one for each kernel library it has run

struct Worker {
    const sm_kernels * module;
    sm_worker *        worker;
};

thread_local std::vector<Worker> * thread_workers;

sm_worker * worker_for(const sm_kernels * module) {
    if (thread_workers == nullptr) {
        thread_workers = new std::vector<Worker>;
    }
    for (const Worker & entry : *thread_workers) {
        if (entry.module == module) {
            return entry.worker;
        }
    }
    sm_worker * worker = module->worker_new();
    if (worker != nullptr) {
        thread_workers->push_back({module, worker});
    }
    return worker;
}

// ---- orders of threadgroups, and what they find in threadgroup memory

enum : uint32_t { ORDER_USUAL = 0, ORDER_REVERSED = 1 }; // any other number is the seed of a shuffled one

std::atomic<uint32_t> & order() {
    static std::atomic<uint32_t> chosen{ORDER_USUAL};
    return chosen;
}

// Which of `count` comes at place `i`. Each step loses nothing on numbers of as many bits as it takes to count them,
// and is taken again as long as it leads beyond the last one; so every number comes once, and no list is kept.
uint64_t shuffled(uint64_t i, uint64_t count, uint32_t seed) {
    constexpr uint64_t MIX = 0x9e3779b97f4a7c15;

    int bits = 1;
    while (bits < 63 && (count - 1) >> bits) {
        bits++;
    }
    const uint64_t mask = (uint64_t(1) << bits) - 1;
    do {
        for (uint64_t round = 1; round <= 3; round++) {
            const uint64_t key = (seed + round) * MIX;
            i = (i * (key | 1) + (key >> 32)) & mask;
            i ^= i >> ((bits + 1) / 2);
        }
    } while (i >= count);
    return i;
}

enum : int { FILL_NONE = -1, FILL_MAX = 255 };

std::atomic<int> & threadgroup_fill() {
    static std::atomic<int> chosen{FILL_NONE};
    return chosen;
}

// ---- jobs

class Job {
  public:
    Job(const sm_kernels * module, const sm_dispatch * dispatch, uint64_t threadgroups, int threads)
        : module_(module), dispatch_(*dispatch), threadgroups_(threadgroups),
          order_(dispatch->checked ? uint32_t(ORDER_USUAL) : order().load()),
          chunk_(dispatch->checked        ? threadgroups // it is one run: time goes on through all of it
                 : order_ != ORDER_USUAL ? 1
                                          : std::max<uint64_t>(1, threadgroups / (uint64_t(threads) * CHUNKS_PER_THREAD))) {
        const int fill       = dispatch->checked ? int(FILL_NONE) : threadgroup_fill().load();
        dispatch_.last_first = order_ != ORDER_USUAL;
        dispatch_.fills      = fill != FILL_NONE;
        dispatch_.fill       = uint8_t(fill);
    }

    bool has_work() const { return next_.load(std::memory_order_relaxed) < threadgroups_; }

    // Takes chunks until there are none left.
    void work() {
        sm_worker * worker = worker_for(module_);
        if (worker == nullptr) {
            fail("out of memory for the stacks and the memory of a threadgroup");
            return;
        }
        uint64_t first;
        while ((first = next_.fetch_add(chunk_, std::memory_order_relaxed)) < threadgroups_) {
            if (module_->run(worker, &dispatch_, at(first), std::min(chunk_, threadgroups_ - first)) != SM_OK) {
                fail(module_->error(worker));
            }
        }
    }

    // Once work() has ended on all threads: whether all went well, else the text of what did not.
    bool succeeded(char * error, size_t size) const {
        if (failed_) {
            snprintf(error, size, "%s", error_);
        }
        return !failed_;
    }

    std::atomic<int> helpers{0};     // at work on this job; changed under the pool's mutex
    bool             closed = false; // its owner waits for the helpers to go; guarded by the pool's mutex

  private:
    // The threadgroup whose turn is `i`-th.
    uint64_t at(uint64_t i) const {
        switch (order_) {
            case ORDER_USUAL:    return i;
            case ORDER_REVERSED: return threadgroups_ - 1 - i;
            default:             return shuffled(i, threadgroups_, order_);
        }
    }

    // The first failure counts, and ends the hand-out.
    void fail(const char * text) {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!failed_) {
            failed_ = true;
            snprintf(error_, sizeof error_, "%s", text);
        }
        next_.store(threadgroups_, std::memory_order_relaxed);
    }

    const sm_kernels * const module_;
    sm_dispatch              dispatch_; // with what this file adds to it
    const uint64_t           threadgroups_;
    const uint32_t           order_;
    const uint64_t           chunk_;
    std::atomic<uint64_t>    next_{0};
    std::mutex               mutex_; // of the failure
    bool                     failed_ = false;
    char                     error_[256];
};

// ---- the pool

class Pool {
  public:
    // Shares the job with up to `helpers` other threads.
    void run(Job & job, int helpers) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            start(helpers);
            jobs_.push_back({&job, helpers});
            posted_.fetch_add(1, std::memory_order_release);
            if (sleeping_ > 0) {
                wake_.notify_all();
            }
        }
        job.work();
        std::unique_lock<std::mutex> lock(mutex_);
        job.closed = true;
        jobs_.erase(std::find_if(jobs_.begin(), jobs_.end(), [&](const Open & open) { return open.job == &job; }));
        if (job.helpers == 0) {
            return;
        }
        lock.unlock();
        if (spin_until([&] { return job.helpers.load(std::memory_order_acquire) == 0; })) {
            return;
        }
        lock.lock();
        left_.wait(lock, [&] { return job.helpers == 0; });
    }

  private:
    struct Open {
        Job * job;
        int   max_helpers;
    };

    // The number of helpers only grows: a smaller SOFTMETAL_THREADS later limits a job's helpers, see run.
    void start(int helpers) {
        while (started_ < helpers) {
            try {
                std::thread([this] { help(); }).detach();
            } catch (const std::system_error &) {
                return; // fewer helpers, the work gets done all the same
            }
            started_++;
        }
    }

    void help() {
        for (;;) {
            Job * job = take();
            job->work();
            std::lock_guard<std::mutex> lock(mutex_);
            // The owner may go as soon as the count is zero, and the job with it.
            const bool closed = job->closed;
            if (job->helpers.fetch_sub(1, std::memory_order_release) == 1 && closed) {
                left_.notify_all();
            }
        }
    }

    Job * take() {
        for (;;) {
            uint64_t seen;
            {
                std::unique_lock<std::mutex> lock(mutex_);
                if (Job * job = join_open_job()) {
                    return job;
                }
                seen = posted_.load(std::memory_order_relaxed);
            }
            const auto posted = [&] { return posted_.load(std::memory_order_acquire) != seen; };
            if (!spin_until(posted)) {
                std::unique_lock<std::mutex> lock(mutex_);
                sleeping_++;
                wake_.wait(lock, posted);
                sleeping_--;
            }
        }
    }

    Job * join_open_job() {
        for (const Open & open : jobs_) {
            if (open.job->has_work() && open.job->helpers < open.max_helpers) {
                open.job->helpers++;
                return open.job;
            }
        }
        return nullptr;
    }

    std::mutex              mutex_;
    std::condition_variable wake_; // a job was posted
    std::condition_variable left_; // the last helper left a closed job
    std::atomic<uint64_t>   posted_{0};
    std::vector<Open>       jobs_;
    int                     started_  = 0;
    int                     sleeping_ = 0;
};

Pool & pool() {
    static Pool * const instance = new Pool; // its threads never end
    return *instance;
}

int usable_cpus() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int default_threads() {
    const char * value = getenv("SOFTMETAL_THREADS");
    const int    asked = value ? atoi(value) : 0;
    return std::clamp(asked > 0 ? asked : usable_cpus(), 1, MAX_THREADS);
}

std::atomic<int> & threads() {
    static std::atomic<int> count{default_threads()};
    return count;
}

} // namespace

bool sm_pool_run(const struct sm_kernels * module, const struct sm_dispatch * dispatch, char * error, size_t size) {
    const uint64_t threadgroups = uint64_t(dispatch->grid[0]) * dispatch->grid[1] * dispatch->grid[2];
    const int      most         = dispatch->checked ? 1 : threads().load();
    const int      used         = int(std::min<uint64_t>(uint64_t(most), threadgroups));
    Job            job(module, dispatch, threadgroups, std::max(1, used));
    if (used > 1) {
        pool().run(job, used - 1);
    } else {
        job.work();
    }
    return job.succeeded(error, size);
}

void sm_pool_leave(void) {
    if (thread_workers != nullptr) {
        for (const Worker & entry : *thread_workers) {
            entry.module->worker_free(entry.worker);
        }
        delete thread_workers;
        thread_workers = nullptr;
    }
}

void softmetal_set_threads(int count) {
    threads() = count > 0 ? std::min(count, MAX_THREADS) : default_threads();
}

int softmetal_threads(void) {
    return threads();
}

void softmetal_set_order(uint32_t chosen) {
    order() = chosen;
}

uint32_t softmetal_order(void) {
    return order();
}

void softmetal_set_threadgroup_fill(int byte) {
    threadgroup_fill() = byte >= 0 && byte <= FILL_MAX ? byte : int(FILL_NONE);
}

int softmetal_threadgroup_fill(void) {
    return threadgroup_fill();
}
