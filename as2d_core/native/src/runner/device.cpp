#include "runner/device.hpp"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

#include "runner/files.hpp"

#ifdef __ANDROID__
#include <sys/system_properties.h>
#endif

namespace as2d {
namespace {

#ifdef __ANDROID__
std::string property(const char* name) {
    std::array<char, PROP_VALUE_MAX> value{};
    const int length = __system_property_get(name, value.data());
    return length > 0 ? std::string(value.data(), static_cast<std::size_t>(length)) : std::string();
}

void add_android_facts(json::Object& facts) {
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty()) facts.members.emplace_back(name, value);
    };
    const std::string model = property("ro.product.model");
    const std::string market_name = property("ro.product.marketname");
    add("name", market_name.empty() ? model : market_name);
    add("model", model);
    add("maker", property("ro.product.manufacturer"));
    add("system", "Android");
    add("release", property("ro.build.version.release"));
    add("api_level", property("ro.build.version.sdk"));
    add("security_patch", property("ro.build.version.security_patch"));
    add("soc", property("ro.soc.manufacturer") + " " + property("ro.soc.model"));
}
#endif

/// What `/proc/cpuinfo` says under a name, the first time it does.
std::string cpu_line(const std::string& text, const std::string& name) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(':');
        if (line.compare(0, name.size(), name) == 0 && colon != std::string::npos && colon + 2 <= line.size()) {
            return line.substr(colon + 2);
        }
    }
    return {};
}

/// Under which task profile this process was started, and where the system has put it: what came of it.
void add_task_profile(json::Object& facts) {
    constexpr std::size_t most_bytes = 400;
    const char* profile = std::getenv(task_profile_variable);
    if (profile == nullptr || *profile == '\0') return;
    facts.members.emplace_back("task_profile", profile);
    std::istringstream words(read_small_file("/proc/self/cgroup").value_or(""));
    std::string groups;
    for (std::string word; words >> word;) groups += (groups.empty() ? "" : " ") + word;
    if (!groups.empty()) facts.members.emplace_back("cgroups", groups.substr(0, most_bytes));
}

}  // namespace

json::Object device_facts() {
    json::Object facts;
    utsname system{};
    if (uname(&system) != 0) system = {};
#ifdef __ANDROID__
    add_android_facts(facts);
#else
    facts.members.emplace_back("name", "This computer");
    facts.members.emplace_back("system", system.sysname);
    facts.members.emplace_back("release", system.release);
#endif
    facts.members.emplace_back("machine", system.machine);
    facts.members.emplace_back("cpu", cpu_name());
    facts.members.emplace_back("logical_cores", static_cast<std::int64_t>(std::thread::hardware_concurrency()));
    const std::int64_t pages = sysconf(_SC_PHYS_PAGES);
    const std::int64_t page_bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page_bytes > 0) facts.members.emplace_back("ram_bytes", pages * page_bytes);
    add_task_profile(facts);
    return facts;
}

std::string cpu_name() {
    const std::string text = read_small_file("/proc/cpuinfo").value_or("");
    std::string name = cpu_line(text, "model name");
    if (name.empty()) name = cpu_line(text, "Hardware");
    std::string flags = cpu_line(text, "flags");
    if (flags.empty()) flags = cpu_line(text, "Features");
    for (const char* feature : {"avx2", "avx512f", "avx512_vnni", "asimddp", "i8mm", "sve2"}) {
        if (flags.find(feature) != std::string::npos) name.append(name.empty() ? "" : " ").append(feature);
    }
    if (!name.empty()) return name;
    utsname system{};
    return uname(&system) == 0 ? std::string(system.machine) : std::string("unknown");
}

std::string wall_time() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    tm parts{};
    gmtime_r(&now.tv_sec, &parts);
    std::array<char, 96> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03ld+00:00", parts.tm_year + 1900,
                  parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                  (now.tv_nsec / 1'000'000) % 1000);
    return text.data();
}

}  // namespace as2d
