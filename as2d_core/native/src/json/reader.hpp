// Reads JSON that others wrote: whole or not at all, within bounds.
#pragma once

#include <cstddef>
#include <string_view>

#include "json/value.hpp"

namespace as2d::json {

/// Levels of nesting. No request and no script comes near it, and a deeper text would only exhaust the stack.
constexpr std::size_t deepest = 32;

/// Parses one JSON text (RFC 8259, UTF-8).
///
/// Refuses what the records could not hold: numbers that are not finite, whole numbers of more than 64 bits, halves of
/// surrogate pairs, bytes that are no UTF-8.
///
/// Throws FormatError with what is wrong and at which byte.
Value parse(std::string_view text);

}  // namespace as2d::json
