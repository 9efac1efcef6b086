#include "runner/android.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>

#include "runner/cores.hpp"
#include "runner/subprocess.hpp"

namespace as2d {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds asking_period{1};
/// Three commands and the time until they are asked.
constexpr std::chrono::seconds answers_deadline{10};
constexpr std::chrono::seconds command_deadline{3};
/// An answer older than this is no reading of now.
constexpr std::chrono::seconds stale{5};

/// Above it a voltage is in microvolts: no phone's battery has 100 V; below the other one in volts.
constexpr double low_raw_uv = 100'000;
constexpr double high_raw_v = 20;
constexpr double coldest_c = -60.0;
constexpr double hottest_c = 150.0;

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Lines `name: value` by the name in small letters; the first of a name counts.
std::map<std::string, std::string> pairs_of(const std::string& text) {
    std::map<std::string, std::string> pairs;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string line = text.substr(at, end - at);
        at = end + 1;
        const std::size_t split = line.find_first_of(":=");
        if (split == std::string::npos) continue;
        std::string name = trimmed(line.substr(0, split));
        for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        if (!name.empty()) pairs.emplace(name, trimmed(line.substr(split + 1)));
    }
    return pairs;
}

/// The whole number a text begins with; none for a fraction.
std::optional<std::int64_t> whole(const std::map<std::string, std::string>& pairs, const std::string& name) {
    const auto found = pairs.find(name);
    if (found == pairs.end()) return std::nullopt;
    const char* const text = found->second.c_str();
    if (*text == '\0' || std::isspace(static_cast<unsigned char>(*text)) != 0) return std::nullopt;
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text, &end, 10);
    if (end == text || errno != 0 || (*end == '.' && std::isdigit(static_cast<unsigned char>(end[1])) != 0)) {
        return std::nullopt;
    }
    return value;
}

std::optional<double> real(std::optional<std::int64_t> value) {
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

/// The word behind the first appearance of a mark.
std::optional<std::string> word_after(const std::string& text, const std::string& mark) {
    const std::size_t found = text.find(mark);
    if (found == std::string::npos) return std::nullopt;
    const std::size_t first = text.find_first_not_of(' ', found + mark.size());
    if (first == std::string::npos) return std::nullopt;
    std::size_t end = first;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '-')) ++end;
    return text.substr(first, end - first);
}

}  // namespace

BatteryState parse_battery(const std::string& text) {
    const auto pairs = pairs_of(text);
    BatteryState state;
    if (const auto status = whole(pairs, "status"); status && *status >= 2 && *status <= 5) {
        state.charging = *status == 2 || *status == 5;
    }
    constexpr std::string_view powered = " powered";
    for (const auto& [name, value] : pairs) {
        if (name.size() <= powered.size() || name.substr(name.size() - powered.size()) != powered) continue;
        state.plugged = state.plugged.value_or(false) || value == "true";
    }
    const auto tenths = real(whole(pairs, "temperature"));
    state.temperature_c = plausible_temperature(tenths ? std::optional(*tenths / 10) : std::nullopt);
    state.voltage_mv = normal_voltage_mv(real(whole(pairs, "voltage")));
    for (const char* name : {"current now", "current_now", "battery current"}) {
        if (!state.current_raw) state.current_raw = whole(pairs, name);
    }
    state.charge_counter_uah = whole(pairs, "charge counter");
    state.frozen = text.find("UPDATES STOPPED") != std::string::npos;
    return state;
}

std::optional<Count> parse_thermal_status(const std::string& text) {
    const auto word = word_after(text, "Thermal Status:");
    if (!word || word->empty() || word->find_first_not_of("0123456789") != std::string::npos || word->size() > 3) {
        return std::nullopt;
    }
    return std::atoi(word->c_str());
}

std::optional<bool> parse_screen(const std::string& text) {
    if (const auto state = word_after(text, "Display Power: state=")) return *state == "ON";
    if (const auto state = word_after(text, "mScreenState=")) return *state == "ON";
    if (const auto state = word_after(text, "mWakefulness=")) return *state == "Awake";
    if (const auto state = word_after(text, "mWakefulnessRaw=")) return *state == "Awake";
    return std::nullopt;
}

std::optional<double> normal_voltage_mv(std::optional<double> raw) {
    if (!raw || *raw <= 0) return std::nullopt;
    if (*raw > low_raw_uv) return *raw / 1e3;
    return *raw < high_raw_v ? *raw * 1e3 : *raw;
}

std::optional<double> plausible_temperature(std::optional<double> celsius) {
    return celsius && *celsius > coldest_c && *celsius < hottest_c ? celsius : std::nullopt;
}

bool AndroidServices::Shared::is_old() const {
    return !answered_at || Clock::now() - *answered_at >= asking_period;
}

AndroidServices::AndroidServices(const std::string& program) {
    const std::string path = found_on_path(program);
    if (path.empty()) return;
    shared_ = std::make_shared<Shared>();
    std::thread([shared = shared_, path] { answer(shared, path); }).detach();
}

AndroidServices::~AndroidServices() {
    if (shared_ == nullptr) return;
    const std::lock_guard lock(shared_->mutex);
    shared_->ended = true;
    shared_->changed.notify_all();
}

ServiceAnswers AndroidServices::latest() const {
    if (shared_ == nullptr) return {};
    const std::lock_guard lock(shared_->mutex);
    if (shared_->is_old()) {
        shared_->wanted = true;
        shared_->changed.notify_all();
    }
    const bool fresh = shared_->answered_at && Clock::now() - *shared_->answered_at < stale;
    return fresh ? shared_->answers : ServiceAnswers{};
}

void AndroidServices::refresh() const {
    if (shared_ == nullptr) return;
    std::unique_lock lock(shared_->mutex);
    if (!shared_->is_old()) return;
    shared_->wanted = true;
    shared_->changed.notify_all();
    shared_->changed.wait_for(lock, answers_deadline, [this] { return !shared_->is_old(); });
}

void AndroidServices::answer(const std::shared_ptr<Shared>& shared, const std::string& program) {
    step_back();
    while (true) {
        {
            std::unique_lock lock(shared->mutex);
            shared->changed.wait(lock, [&] { return shared->wanted || shared->ended; });
            if (shared->ended) return;
            shared->wanted = false;
        }
        ServiceAnswers answers;
        answers.battery = parse_battery(answer_of({program, "battery"}, command_deadline));
        answers.thermal_status = parse_thermal_status(answer_of({program, "thermalservice"}, command_deadline));
        answers.screen_on = parse_screen(answer_of({program, "power"}, command_deadline));
        const std::lock_guard lock(shared->mutex);
        shared->answers = answers;
        shared->answered_at = Clock::now();
        shared->changed.notify_all();
    }
}

}  // namespace as2d
