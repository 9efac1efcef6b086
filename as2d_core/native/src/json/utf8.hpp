// UTF-8, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace as2d::json::utf8 {

/// Bytes of the character that `text` begins with; 0 when it begins with none (RFC 3629: no overlong forms, no
/// surrogates, nothing beyond U+10FFFF).
std::size_t sequence_length(std::string_view text);

/// Whether the whole text is UTF-8.
bool is_valid(std::string_view text);

/// Characters of a text, whether it is UTF-8 or not: every byte but those that continue one.
std::size_t characters_of(std::string_view text);

/// The text with U+FFFD in place of what is no UTF-8.
std::string replaced(std::string_view text);

/// Appends one character. `code_point` is a Unicode scalar value.
void append(std::string& out, std::uint32_t code_point);

}  // namespace as2d::json::utf8
