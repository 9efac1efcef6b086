#include "runner/files.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace as2d {

std::optional<std::string> read_small_file(const std::string& path) {
    constexpr std::size_t most_bytes = 65'536;
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text(most_bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad() || file.gcount() == 0) return std::nullopt;
    text.resize(static_cast<std::size_t>(file.gcount()));
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string::npos) return std::string();
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<double> read_number(const std::string& path) {
    const auto text = read_small_file(path);
    if (!text || text->empty()) return std::nullopt;
    char* end = nullptr;
    const double value = std::strtod(text->c_str(), &end);
    if (end != text->c_str() + text->size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

}  // namespace as2d
