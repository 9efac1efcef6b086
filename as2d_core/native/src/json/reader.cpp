#include "json/reader.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <unordered_map>

#include "errors.hpp"
#include "json/utf8.hpp"

namespace as2d::json {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

class Parser {
public:
    explicit Parser(std::string_view text) : text_(text) {}

    Value document() {
        Value value = parse_value(0);
        skip_space();
        if (at_ < text_.size()) fail("something follows the value");
        return value;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw FormatError(what + " (at byte " + std::to_string(at_ + 1) + ")");
    }

    bool done() const { return at_ >= text_.size(); }
    char peek() const { return done() ? '\0' : text_[at_]; }

    void skip_space() {
        while (!done() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
    }

    bool take(char wanted) {
        if (done() || text_[at_] != wanted) return false;
        ++at_;
        return true;
    }

    void expect(char wanted) {
        if (!take(wanted)) fail(std::string("'") + wanted + "' is missing");
    }

    Value parse_value(std::size_t depth) {
        if (depth > deepest) fail("it is nested too deep");
        skip_space();
        if (done()) fail("the text ends where a value is expected");
        switch (text_[at_]) {
            case '{': return parse_object(depth);
            case '[': return parse_array(depth);
            case '"': return parse_string();
            case 't': return word("true", true);
            case 'f': return word("false", false);
            case 'n': return word("null", nullptr);
            default: return parse_number();
        }
    }

    Value word(std::string_view letters, Value value) {
        if (text_.substr(at_, letters.size()) != letters) fail("this is no value");
        at_ += letters.size();
        return value;
    }

    Value parse_array(std::size_t depth) {
        Array items;
        expect('[');
        skip_space();
        if (take(']')) return items;
        do {
            items.push_back(parse_value(depth + 1));
            skip_space();
        } while (take(','));
        expect(']');
        return items;
    }

    Value parse_object(std::size_t depth) {
        Object object;
        std::unordered_map<std::string, std::size_t> places;
        expect('{');
        skip_space();
        if (take('}')) return object;
        do {
            skip_space();
            if (peek() != '"') fail("a name in quotes is missing");
            std::string name = parse_string();
            skip_space();
            expect(':');
            Value value = parse_value(depth + 1);
            const auto [known, is_new] = places.try_emplace(name, object.members.size());
            if (is_new) {
                object.members.emplace_back(std::move(name), std::move(value));
            } else {
                object.members[known->second].second = std::move(value);
            }
            skip_space();
        } while (take(','));
        expect('}');
        return object;
    }

    std::string parse_string() {
        std::string out;
        expect('"');
        while (true) {
            if (done()) fail("a text in quotes does not end");
            const char c = text_[at_];
            if (c == '"') {
                ++at_;
                return out;
            }
            if (c == '\\') {
                ++at_;
                parse_escape(out);
            } else if (static_cast<unsigned char>(c) < 0x20) {
                fail("a control character stands in a text");
            } else {
                const std::size_t length = utf8::sequence_length(text_.substr(at_));
                if (length == 0) fail("a byte is no UTF-8");
                out.append(text_, at_, length);
                at_ += length;
            }
        }
    }

    void parse_escape(std::string& out) {
        if (done()) fail("a text in quotes does not end");
        switch (text_[at_++]) {
            case '"': out += '"'; return;
            case '\\': out += '\\'; return;
            case '/': out += '/'; return;
            case 'b': out += '\b'; return;
            case 'f': out += '\f'; return;
            case 'n': out += '\n'; return;
            case 'r': out += '\r'; return;
            case 't': out += '\t'; return;
            case 'u': utf8::append(out, parse_code_point()); return;
            default: --at_; fail("there is no such escape");
        }
    }

    std::uint32_t parse_code_point() {
        const std::uint32_t first = hex_digits();
        const bool is_low = first >= 0xDC00 && first <= 0xDFFF;
        const bool is_high = first >= 0xD800 && first <= 0xDBFF;
        if (!is_high && !is_low) return first;
        if (is_high && text_.substr(at_, 2) == "\\u") {
            at_ += 2;
            const std::uint32_t second = hex_digits();
            if (second >= 0xDC00 && second <= 0xDFFF) return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        }
        fail("a text holds half of a character (a lone surrogate)");
    }

    std::uint32_t hex_digits() {
        std::uint32_t value = 0;
        const std::string_view digits = text_.substr(at_, 4);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        if (digits.size() < 4 || error != std::errc() || end != digits.data() + 4) fail("\\u needs four hex digits");
        at_ += 4;
        return value;
    }

    Value parse_number() {
        const std::size_t start = at_;
        take('-');
        if (!take('0') && !skip_digits()) fail("this is no value");
        bool whole = true;
        if (peek() == '.') {
            ++at_;
            whole = false;
            if (!skip_digits()) fail("digits are missing behind the point");
        }
        if (peek() == 'e' || peek() == 'E') {
            ++at_;
            whole = false;
            if (!take('+')) take('-');
            if (!skip_digits()) fail("digits are missing in the exponent");
        }
        const std::string_view digits = text_.substr(start, at_ - start);
        if (whole) return to_whole(digits);
        return to_fraction(digits);
    }

    bool skip_digits() {
        const std::size_t start = at_;
        while (is_digit(peek())) ++at_;
        return at_ > start;
    }

    Value to_whole(std::string_view digits) const {
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        // The most negative number has no counterpart: nothing may be negated past the end of its type.
        if (error != std::errc() || value == std::numeric_limits<std::int64_t>::min()) {
            fail("a whole number has more than 64 bits");
        }
        return value;
    }

    Value to_fraction(std::string_view digits) const {
        // strtod, because Android's library has no from_chars for fractions; the grammar was checked above.
        const std::string copy(digits);
        const double value = std::strtod(copy.c_str(), nullptr);
        if (!std::isfinite(value)) fail("a number is larger than any number can be");
        return value;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

Value parse(std::string_view text) {
    return Parser(text).document();
}

}  // namespace as2d::json
