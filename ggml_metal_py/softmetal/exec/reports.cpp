// The reports of checked mode: a bounded list, which the host takes from.

#include "reports.h"

#include <cstring>
#include <deque>
#include <mutex>

namespace softmetal {

namespace {

constexpr size_t MOST = 4096; // further ones are lost: who has so many will look at the first

struct Reports {
    std::mutex                   mutex;
    std::deque<softmetal_report> list;
};

Reports & reports() {
    static Reports * const instance = new Reports; // dispatches may run while the process exits
    return *instance;
}

bool alike(const softmetal_report & a, const softmetal_report & b) {
    return a.fault == b.fault && a.first.line == b.first.line && a.second.line == b.second.line &&
           a.second.access == b.second.access && strcmp(a.kernel, b.kernel) == 0;
}

} // namespace

void keep_report(const softmetal_report & report) {
    Reports &                   all = reports();
    std::lock_guard<std::mutex> lock(all.mutex);
    for (softmetal_report & kept : all.list) {
        if (alike(kept, report)) {
            kept.count++;
            return;
        }
    }
    if (all.list.size() < MOST) {
        all.list.push_back(report);
        all.list.back().count = 1;
    }
}

} // namespace softmetal

int softmetal_take_report(struct softmetal_report * report) {
    softmetal::Reports &        all = softmetal::reports();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (all.list.empty()) {
        return 0;
    }
    *report = all.list.front();
    all.list.pop_front();
    return 1;
}
