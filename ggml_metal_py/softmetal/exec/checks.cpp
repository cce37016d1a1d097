// Regions: those the host told, and those of a dispatch's arguments that lie in none of them.

#include "checks.h"
#include "checked.h"
#include "reports.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <vector>

namespace {

constexpr uint8_t WORD = 2; // cells are for 4 bytes until somebody accesses less

struct Region : sm_region {
    Region(const char * region_name, uintptr_t at, size_t size, bool has_values) : sm_region{} {
        start   = at;
        bytes   = size;
        shift   = WORD;
        written = has_values;
        strncpy(name, region_name, sizeof name - 1);
    }
    ~Region() {
        if (cells != nullptr) {
            munmap(cells, bytes * sizeof(sm_cell));
        }
    }
    Region(const Region &)             = delete;
    Region & operator=(const Region &) = delete;

    bool has(uintptr_t at) const { return at - start < bytes; }

    bool give_cells() {
        if (cells == nullptr) {
            // As many as there are bytes: those that are not touched take no memory.
            const size_t size   = bytes * sizeof(sm_cell);
            const int    flags  = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
            void * const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
            if (memory == MAP_FAILED) {
                return false;
            }
            madvise(memory, size, MADV_HUGEPAGE);
            cells = static_cast<sm_cell *>(memory);
            shift = WORD;
        }
        return true;
    }

    // Once every byte has a value, reads need not look for it.
    void look_whether_written() {
        const size_t n = (bytes + (size_t(1) << shift) - 1) >> shift;
        written        = std::all_of(cells, cells + n, [](const sm_cell & cell) { return cell.written != 0; });
    }
};

using Regions = std::map<uintptr_t, std::unique_ptr<Region>>; // by start

// All that checked mode knows. Its mutex is held while a dispatch runs.
struct Checks {
    std::mutex                           mutex;
    Regions                              regions;
    std::vector<std::unique_ptr<Region>> arguments; // of the dispatch that runs
    std::vector<sm_region *>             list;
    sm_checked                           shared{};
};

Checks & checks() {
    static Checks * const instance = new Checks; // dispatches may run while the process exits
    return *instance;
}

std::atomic<bool> is_on{false};

// The first region that ends behind `at`.
Regions::iterator first_behind(Regions & regions, uintptr_t at) {
    auto next = regions.upper_bound(at);
    if (next != regions.begin() && std::prev(next)->second->has(at)) {
        return std::prev(next);
    }
    return next;
}

bool overlaps(Regions & regions, uintptr_t start, size_t bytes) {
    const auto next = first_behind(regions, start);
    return next != regions.end() && next->first < start + bytes;
}

// One for the memory of each argument that has no regions, or for that of several where they overlap.
void add_arguments(Checks & all, const sm_dispatch & dispatch) {
    struct Span {
        uintptr_t    start, end;
        const char * name;
        bool         writable;
    };
    std::vector<Span> spans;
    for (uint32_t i = 0; i < dispatch.kernel->n_args; i++) {
        const sm_arg &  arg   = dispatch.kernel->args[i];
        const uintptr_t start = reinterpret_cast<uintptr_t>(dispatch.buffers[arg.index]);
        const size_t    bytes = dispatch.buffer_bytes[arg.index];
        if (arg.kind == SM_ARG_BUFFER && bytes > 0 && !overlaps(all.regions, start, bytes)) {
            spans.push_back({start, start + bytes, arg.name, arg.writable != 0});
        }
    }
    std::sort(spans.begin(), spans.end(), [](const Span & a, const Span & b) { return a.start < b.start; });
    for (size_t i = 0; i < spans.size();) {
        Span whole = spans[i++];
        while (i < spans.size() && spans[i].start < whole.end) {
            whole.end      = std::max(whole.end, spans[i].end);
            whole.writable = whole.writable || spans[i].writable;
            i++;
        }
        auto region   = std::make_unique<Region>(whole.name, whole.start, whole.end - whole.start, true);
        region->space = whole.writable ? SM_SPACE_DEVICE : SM_SPACE_CONSTANT;
        all.arguments.push_back(std::move(region));
    }
}

// Those that the kernel may write. Reading the others disturbs nobody.
void choose_followed(Checks & all, const sm_dispatch & dispatch) {
    for (sm_region * region : all.list) {
        if (region != nullptr) {
            region->followed = false;
        }
    }
    for (uint32_t i = 0; i < dispatch.kernel->n_args; i++) {
        const sm_arg &  arg = dispatch.kernel->args[i];
        const uintptr_t at  = reinterpret_cast<uintptr_t>(dispatch.buffers[arg.index]);
        for (sm_region * region : all.list) {
            if (region != nullptr && arg.kind == SM_ARG_BUFFER && arg.writable && at - region->start < region->bytes) {
                region->followed = true;
            }
        }
    }
}

bool follow(sm_checked *, sm_region * region) {
    return static_cast<Region *>(region)->give_cells();
}

void report_lengths(Checks & all, const sm_dispatch & dispatch) {
    for (uint32_t i = 0; i < dispatch.kernel->n_args; i++) {
        const sm_arg & arg = dispatch.kernel->args[i];
        if (arg.kind != SM_ARG_THREADGROUP || dispatch.tg_bytes[arg.index] % 16 == 0) {
            continue;
        }
        softmetal_report report{};
        report.fault                 = SOFTMETAL_THREADGROUP_LENGTH;
        report.in_threadgroup_memory = 1;
        report.region_bytes          = dispatch.tg_bytes[arg.index];
        strncpy(report.kernel, dispatch.pipeline, sizeof report.kernel - 1);
        strncpy(report.region, arg.name, sizeof report.region - 1);
        all.shared.report(&all.shared, &report);
    }
}

} // namespace

bool sm_checks_begin(struct sm_dispatch * dispatch, const char * pipeline) {
    Checks & all = checks();
    all.mutex.lock();
    all.arguments.clear();
    add_arguments(all, *dispatch);
    all.list.assign(SM_OWN_REGIONS, nullptr);
    for (const auto & [start, region] : all.regions) {
        all.list.push_back(region.get());
    }
    for (const auto & region : all.arguments) {
        all.list.push_back(region.get());
    }
    std::sort(all.list.begin() + SM_OWN_REGIONS, all.list.end(),
              [](const sm_region * a, const sm_region * b) { return a->start < b->start; });
    choose_followed(all, *dispatch);
    all.shared.regions   = all.list.data();
    all.shared.n_regions = uint32_t(all.list.size());
    all.shared.report    = [](sm_checked *, const softmetal_report * report) { softmetal::keep_report(*report); };
    all.shared.follow    = follow;
    dispatch->checked    = &all.shared;
    dispatch->pipeline   = pipeline;
    for (size_t i = SM_OWN_REGIONS; i < all.list.size(); i++) {
        if ((all.list[i]->followed || !all.list[i]->written) && !follow(nullptr, all.list[i])) {
            all.mutex.unlock();
            return false;
        }
    }
    report_lengths(all, *dispatch);
    return true;
}

void sm_checks_end(struct sm_dispatch * dispatch) {
    Checks & all = checks();
    for (const auto & [start, region] : all.regions) {
        if (region->changed && !region->written) {
            region->look_whether_written();
        }
        region->changed = false;
    }
    dispatch->checked = nullptr;
    all.mutex.unlock();
}

void sm_checks_written(const void * start, size_t bytes) {
    Checks &                    all = checks();
    std::lock_guard<std::mutex> lock(all.mutex);
    const uintptr_t             at = reinterpret_cast<uintptr_t>(start);
    for (const auto & [first, region] : all.regions) {
        if (region->written || at >= first + region->bytes || first >= at + bytes) {
            continue;
        }
        if (at <= first && first + region->bytes <= at + bytes) {
            region->written = true;
        } else if (region->give_cells()) {
            const size_t from = (std::max(at, first) - first) >> region->shift;
            const size_t to   = (std::min(at + bytes, first + region->bytes) - first) >> region->shift;
            for (size_t i = from; i < to; i++) {
                region->cells[i].written = 1;
            }
        }
    }
}

void softmetal_set_checked(int on) {
    is_on = on != 0;
}

int softmetal_checked(void) {
    return is_on;
}

int softmetal_add_region(const char * name, const void * start, size_t bytes, int written) {
    Checks &                    all = checks();
    std::lock_guard<std::mutex> lock(all.mutex);
    const uintptr_t             at = reinterpret_cast<uintptr_t>(start);
    all.regions.erase(at);
    if (bytes == 0 || overlaps(all.regions, at, bytes)) {
        return 0;
    }
    all.regions[at] = std::make_unique<Region>(name, at, bytes, written != 0);
    return 1;
}

void softmetal_forget_regions(void) {
    Checks &                    all = checks();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.regions.clear();
}
