#include "runner/kept_widths.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "errors.hpp"
#include "json/reader.hpp"
#include "json/writer.hpp"
#include "records/sha256.hpp"

namespace as2d {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t name_digits = 32;
constexpr std::size_t longest_kept_bytes = 4096;

json::Members members_of(const SelfTestSetting& setting) {
    return {{"model_sha256", setting.model_sha256}, {"cpu", setting.cpu},       {"threads", setting.threads},
            {"precision", setting.precision},       {"memory", setting.memory}, {"backend", setting.backend},
            {"mnn_version", setting.mnn_version}};
}

std::string file_of(const std::string& folder, const SelfTestSetting& setting) {
    Sha256 hash;
    hash.update(json::to_string(members_of(setting)));
    return folder + "/" + hash.hex().substr(0, name_digits);
}

/// All of a regular file; none where there is no such file, or a longer one than is kept.
std::optional<std::string> whole_file(const std::string& path) {
    std::error_code problem;
    if (!fs::is_regular_file(path, problem)) return std::nullopt;
    std::ifstream file(path, std::ios::binary);
    std::string text(longest_kept_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return file.bad() || text.size() > longest_kept_bytes ? std::nullopt : std::optional(text);
}

std::string as_text(const SelfTestSetting& setting, const std::vector<Count>& widths) {
    const json::Array numbers(widths.begin(), widths.end());
    return json::to_string(json::Members{{"setting", members_of(setting)}, {"exact_widths", numbers}});
}

/// The widths that a text names, whatever else it says; none where it names none that can be.
std::optional<std::vector<Count>> widths_in(const std::string& text, Count widest) {
    const json::Value body = json::parse(text);
    const auto* object = body.get<json::Object>();
    const json::Value* named = object == nullptr ? nullptr : object->find("exact_widths");
    const auto* items = named == nullptr ? nullptr : named->get<json::Array>();
    if (items == nullptr || items->empty()) return std::nullopt;
    std::vector<Count> widths;
    for (const json::Value& item : *items) {
        const auto* width = item.get<std::int64_t>();
        if (width == nullptr || *width < 1 || *width > widest) return std::nullopt;
        widths.push_back(*width);
    }
    const bool ascending = std::adjacent_find(widths.begin(), widths.end(), std::greater_equal<>()) == widths.end();
    return ascending ? std::optional(widths) : std::nullopt;
}

}  // namespace

std::optional<std::string> self_tests_folder() {
    const char* folder = std::getenv(self_tests_variable);
    return folder == nullptr || *folder == '\0' ? std::nullopt : std::optional<std::string>(folder);
}

std::optional<std::vector<Count>> kept_widths(const std::string& folder, const SelfTestSetting& setting, Count widest) {
    const std::optional<std::string> text = whole_file(file_of(folder, setting) + ".json");
    if (!text) return std::nullopt;
    try {
        const auto widths = widths_in(*text, widest);
        return widths && *text == as_text(setting, *widths) ? widths : std::nullopt;
    } catch (const FormatError&) {
        return std::nullopt;
    }
}

void keep_widths(const std::string& folder, const SelfTestSetting& setting, const std::vector<Count>& widths) {
    const std::string path = file_of(folder, setting);
    std::error_code problem;
    fs::create_directories(folder, problem);
    std::ofstream part(path + ".part", std::ios::binary | std::ios::trunc);
    part << as_text(setting, widths);
    part.close();
    if (part) fs::rename(path + ".part", path + ".json", problem);
}

}  // namespace as2d
