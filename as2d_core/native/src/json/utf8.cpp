#include "json/utf8.hpp"

namespace as2d::json::utf8 {
namespace {

constexpr std::uint32_t replacement = 0xFFFD;

std::uint8_t byte_at(std::string_view text, std::size_t at) {
    return at < text.size() ? static_cast<std::uint8_t>(text[at]) : 0;
}

bool between(std::uint8_t value, int low, int high) {
    return value >= low && value <= high;
}

/// What the second byte may be after this first one, and how many bytes there are in all.
struct Form {
    std::size_t length;
    int second_low;
    int second_high;
};

Form form_of(std::uint8_t first) {
    if (between(first, 0xC2, 0xDF)) return {2, 0x80, 0xBF};
    if (first == 0xE0) return {3, 0xA0, 0xBF};
    if (first == 0xED) return {3, 0x80, 0x9F};
    if (between(first, 0xE1, 0xEF)) return {3, 0x80, 0xBF};
    if (first == 0xF0) return {4, 0x90, 0xBF};
    if (between(first, 0xF1, 0xF3)) return {4, 0x80, 0xBF};
    if (first == 0xF4) return {4, 0x80, 0x8F};
    return {0, 0, 0};
}

/// How many bytes of a broken character are replaced together: its longest beginning that could have gone on.
std::size_t broken_length(std::string_view text) {
    const Form form = form_of(byte_at(text, 0));
    if (form.length == 0 || !between(byte_at(text, 1), form.second_low, form.second_high)) return 1;
    std::size_t length = 2;
    while (length < form.length && between(byte_at(text, length), 0x80, 0xBF)) ++length;
    return length;
}

}  // namespace

std::size_t sequence_length(std::string_view text) {
    if (text.empty()) return 0;
    if (byte_at(text, 0) < 0x80) return 1;
    const Form form = form_of(byte_at(text, 0));
    if (form.length == 0 || !between(byte_at(text, 1), form.second_low, form.second_high)) return 0;
    for (std::size_t i = 2; i < form.length; ++i) {
        if (!between(byte_at(text, i), 0x80, 0xBF)) return 0;
    }
    return form.length;
}

bool is_valid(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::size_t characters_of(std::string_view text) {
    std::size_t count = 0;
    for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return count;
}

std::string replaced(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        std::size_t length = sequence_length(text);
        if (length != 0) {
            out.append(text, 0, length);
        } else {
            append(out, replacement);
            length = broken_length(text);
        }
        text.remove_prefix(length);
    }
    return out;
}

void append(std::string& out, std::uint32_t code_point) {
    const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code_point < 0x80) {
        put(code_point);
    } else if (code_point < 0x800) {
        put(0xC0 | (code_point >> 6));
        put(0x80 | (code_point & 0x3F));
    } else if (code_point < 0x10000) {
        put(0xE0 | (code_point >> 12));
        put(0x80 | ((code_point >> 6) & 0x3F));
        put(0x80 | (code_point & 0x3F));
    } else {
        put(0xF0 | (code_point >> 18));
        put(0x80 | ((code_point >> 12) & 0x3F));
        put(0x80 | ((code_point >> 6) & 0x3F));
        put(0x80 | (code_point & 0x3F));
    }
}

}  // namespace as2d::json::utf8
