#include "runner/cores.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "runner/files.hpp"

#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
#include <thread>
#endif

namespace as2d {
namespace {

constexpr Count most_cores = 1024;

#ifdef __linux__
/// Number of a thread that is never bound: what it may use, the process may use. A thread that was bound once no longer
/// knows, and so do all that it starts; the system takes off-line cores, and those that a phone takes from its group,
/// from this thread as from the others.
pid_t unbound_thread() {
    static const pid_t number = [] {
        std::promise<pid_t> started;
        std::thread([&started] {
            started.set_value(static_cast<pid_t>(syscall(SYS_gettid)));
            while (true) pause();
        }).detach();
        return started.get_future().get();
    }();
    return number;
}

std::vector<Count> cores_of(pid_t thread) {
    std::vector<Count> cores;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(thread, sizeof set, &set) != 0) return cores;
    for (Count core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
    }
    return cores;
}

// Not called "bind": with libc++, the library of the NDK, an unqualified call with a vector is std::bind's, which does nothing.
bool bind_thread(const std::vector<Count>& cores) {
    unbound_thread();  // before the first thread is bound
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const Count core : cores) {
        if (core < 0 || core >= CPU_SETSIZE) return false;
        CPU_SET(static_cast<std::size_t>(core), &set);
    }
    return sched_setaffinity(0, sizeof set, &set) == 0;
}
#endif

std::string cpu_file(Count core, const char* name) {
    return "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/" + name;
}

/// Allowed cores grouped by physical core, fastest first where clocks differ.
std::vector<std::vector<Count>> physical_cores() {
    std::map<std::string, std::vector<Count>> by_siblings;
    for (const Count core : allowed_cores()) {
        const auto siblings = read_small_file(cpu_file(core, "topology/thread_siblings_list"));
        by_siblings[siblings.value_or(std::to_string(core))].push_back(core);
    }
    std::vector<std::vector<Count>> groups;
    for (auto& [name, cores] : by_siblings) groups.push_back(std::move(cores));
    const auto speed = [](const std::vector<Count>& group) {
        return read_number(cpu_file(group.front(), "cpufreq/cpuinfo_max_freq")).value_or(0.0);
    };
    std::sort(groups.begin(), groups.end(), [&](const auto& a, const auto& b) {
        const double speed_a = speed(a);
        const double speed_b = speed(b);
        return speed_a != speed_b ? speed_a > speed_b : a.front() < b.front();
    });
    return groups;
}

std::vector<Count> first_of_each(const std::vector<std::vector<Count>>& groups, Count most,
                                 const std::vector<Count>& without) {
    std::vector<Count> out;
    for (const auto& group : groups) {
        const bool taken = std::any_of(group.begin(), group.end(), [&](Count core) {
            return std::find(without.begin(), without.end(), core) != without.end();
        });
        if (!taken && static_cast<Count>(out.size()) < most) out.push_back(group.front());
    }
    return out;
}

}  // namespace

std::vector<Count> allowed_cores() {
#ifdef __linux__
    return cores_of(unbound_thread());
#else
    return {};
#endif
}

std::vector<Count> bind_cores(const std::vector<Count>& cores) {
#ifdef __linux__
    if (!cores.empty() && !bind_thread(cores)) bind_thread(allowed_cores());
    return cores_of(0);
#else
    return {};
#endif
}

CoreChoice choose_cores(CoreChoice asked, Count target_threads, Count drafter_threads) {
    if (!asked.target.empty() && !asked.drafter.empty()) return asked;
    const auto groups = physical_cores();
    if (groups.empty()) return asked;
    if (asked.target.empty()) asked.target = first_of_each(groups, std::max<Count>(target_threads, 1), {});
    if (asked.drafter.empty()) asked.drafter = first_of_each(groups, std::max<Count>(drafter_threads, 1), asked.target);
    if (asked.drafter.empty()) asked.drafter = asked.target;
    return asked;
}

void step_back() {
#ifdef __linux__
    bind_thread(allowed_cores());
    const sched_param parameters{};
    sched_setscheduler(0, SCHED_BATCH, &parameters);  // where it is forbidden, the thread stays as it is
#endif
}

std::vector<Count> parse_cores(const std::string& text) {
    std::vector<Count> cores;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        Count first = 0;
        auto read = std::from_chars(at, end, first);
        if (read.ec != std::errc()) return {};
        Count last = first;
        if (read.ptr < end && *read.ptr == '-') {
            read = std::from_chars(read.ptr + 1, end, last);
            if (read.ec != std::errc()) return {};
        }
        if (first < 0 || last < first || last >= most_cores) return {};
        for (Count core = first; core <= last; ++core) cores.push_back(core);
        at = read.ptr;
        if (at < end && *at++ != ',') return {};
    }
    return cores;
}

}  // namespace as2d
