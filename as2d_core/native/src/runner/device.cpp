#include "runner/device.hpp"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "records/sha256.hpp"
#include "runner/files.hpp"
#include "runner/subprocess.hpp"

#ifdef __ANDROID__
#include <sys/system_properties.h>
#endif

namespace as2d {
namespace {

constexpr std::array<const char*, 11> property_names{
    "ro.product.model",         "ro.product.marketname",           "ro.product.manufacturer",
    "ro.build.version.release", "ro.build.version.sdk",            "ro.build.version.security_patch",
    "ro.soc.manufacturer",      "ro.soc.model",                    "ro.serialno",
    "ro.boot.serialno",         "ro.as2d.virtual",
};

/// Of a hash of the serial number: which one of all phones of its model, without giving the number away.
constexpr std::size_t unit_digits = 12;

using Properties = std::map<std::string, std::string>;

#ifdef __ANDROID__
Properties phone_properties() {
    Properties found;
    for (const char* name : property_names) {
        std::array<char, PROP_VALUE_MAX> value{};
        const int length = __system_property_get(name, value.data());
        if (length > 0) found[name] = std::string(value.data(), static_cast<std::size_t>(length));
    }
    return found;
}
#else
/// Once, before anything is measured.
constexpr std::chrono::seconds properties_deadline{60};

/// A program for Linux may run on a phone, a virtual one for example: where there is `getprop`, it is asked.
Properties phone_properties() {
    Properties found;
    if (found_on_path("getprop").empty()) return found;
    std::string script;
    for (const char* name : property_names) script.append("echo \"$(getprop ").append(name).append(")\"; ");
    std::istringstream lines(answer_of({found_on_path("sh"), "-c", script}, properties_deadline));
    std::string value;
    for (const char* name : property_names) {
        if (!std::getline(lines, value)) break;
        while (!value.empty() && value.back() == '\r') value.pop_back();
        if (!value.empty()) found[name] = value;
    }
    return found;
}
#endif

/// What a phone's properties say; nothing on what is no phone. A virtual phone says so in its name, too.
json::Object phone_facts(const Properties& properties) {
    json::Object facts;
    const auto of = [&properties](const char* name) {
        const auto found = properties.find(name);
        return found == properties.end() ? std::string() : found->second;
    };
    const auto add = [&facts](const char* name, const std::string& value) {
        if (!value.empty()) facts.members.emplace_back(name, value);
    };
    const std::string model = of("ro.product.model");
    if (model.empty()) return facts;
    const bool is_virtual = of("ro.as2d.virtual") == "1";
    const std::string market_name = of("ro.product.marketname");
    const std::string api = of("ro.build.version.sdk");
    const std::string maker = of("ro.soc.manufacturer");
    add("name", (market_name.empty() ? model : market_name) + (is_virtual ? " (virtual)" : ""));
    add("model", model);
    add("maker", of("ro.product.manufacturer"));
    add("system", "Android");
    add("release", of("ro.build.version.release"));
    if (!api.empty() && api.size() < 6 && api.find_first_not_of("0123456789") == std::string::npos) {
        facts.members.emplace_back("api_level", std::int64_t{std::stol(api)});
    }
    add("security_patch", of("ro.build.version.security_patch"));
    add("soc", maker + (maker.empty() || of("ro.soc.model").empty() ? "" : " ") + of("ro.soc.model"));
    const std::string serial = of("ro.serialno").empty() ? of("ro.boot.serialno") : of("ro.serialno");
    if (!serial.empty()) {
        Sha256 hash;
        hash.update(serial);
        add("unit", hash.hex().substr(0, unit_digits));
    }
    if (is_virtual) facts.members.emplace_back("virtual", true);
    return facts;
}

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
    static const Properties properties = phone_properties();
    json::Object facts = phone_facts(properties);
    utsname system{};
    if (uname(&system) != 0) system = {};
    if (facts.members.empty()) {
        facts.members.emplace_back("name", "This computer");
        facts.members.emplace_back("system", system.sysname);
        facts.members.emplace_back("release", system.release);
    }
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
