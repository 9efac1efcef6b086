#include "json/writer.hpp"

#include <array>
#include <charconv>

namespace as2d::json {
namespace {

/// Decimal exponents outside this range are written with an `e`.
constexpr int least_plain_exponent = -4;
constexpr int least_large_exponent = 16;

struct Appender {
    std::string& out;

    void operator()(std::nullptr_t) const { out += "null"; }
    void operator()(bool value) const { out += value ? "true" : "false"; }
    void operator()(std::int64_t value) const { append(out, value); }
    void operator()(double value) const { append(out, value); }
    void operator()(const std::string& value) const { append(out, std::string_view(value)); }

    void operator()(const Array& items) const {
        out += '[';
        for (std::size_t i = 0; i < items.size(); ++i) {
            if (i > 0) out += ',';
            append(out, items[i]);
        }
        out += ']';
    }

    void operator()(const Object& object) const {
        out += '{';
        for (std::size_t i = 0; i < object.members.size(); ++i) {
            if (i > 0) out += ',';
            append(out, std::string_view(object.members[i].first));
            out += ':';
            append(out, object.members[i].second);
        }
        out += '}';
    }
};

void append_control(std::string& out, unsigned char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += "\\u00";
    out += digits[c >> 4];
    out += digits[c & 15];
}

}  // namespace

void append(std::string& out, const Value& value) {
    std::visit(Appender{out}, value.storage());
}

void append(std::string& out, std::string_view text) {
    out += '"';
    for (const char c : text) {
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\b': out += "\\b"; break;
            case '\f': out += "\\f"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    append_control(out, static_cast<unsigned char>(c));
                } else {
                    out += c;
                }
        }
    }
    out += '"';
}

void append(std::string& out, std::int64_t value) {
    std::array<char, 24> buffer;
    const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    out.append(buffer.data(), written.ptr);
}

void append(std::string& out, double value) {
    // "-d.ddde-xx": the shortest digits and their exponent, which are then laid out anew.
    std::array<char, 32> buffer;
    const auto written =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
    std::string_view text(buffer.data(), static_cast<std::size_t>(written.ptr - buffer.data()));
    if (text.front() == '-') {
        out += '-';
        text.remove_prefix(1);
    }
    const std::size_t mark = text.find('e');
    int exponent = 0;
    const std::size_t sign = text[mark + 1] == '+' ? 1 : 0;
    std::from_chars(text.data() + mark + 1 + sign, text.data() + text.size(), exponent);
    std::string digits(text.substr(0, 1));
    if (mark > 1) digits += text.substr(2, mark - 2);

    const auto count = static_cast<int>(digits.size());
    if (exponent < least_plain_exponent || exponent >= least_large_exponent) {
        out += digits[0];
        if (count > 1) out.append(".").append(digits, 1);
        out += exponent < 0 ? "e-" : "e+";
        const int size = exponent < 0 ? -exponent : exponent;
        if (size < 10) out += '0';
        append(out, std::int64_t{size});
    } else if (exponent < 0) {
        out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
    } else if (count <= exponent + 1) {
        out.append(digits).append(static_cast<std::size_t>(exponent + 1 - count), '0').append(".0");
    } else {
        const auto whole = static_cast<std::size_t>(exponent + 1);
        out.append(digits, 0, whole).append(".").append(digits, whole);
    }
}

std::string to_string(const Value& value) {
    std::string out;
    append(out, value);
    return out;
}

}  // namespace as2d::json
