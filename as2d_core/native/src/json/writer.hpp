// Writes JSON on one line. Numbers and texts come out as Python's json module writes them, so that one run record
// has one form, whichever runner wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/value.hpp"

namespace as2d::json {

void append(std::string& out, const Value& value);
void append(std::string& out, std::string_view text);
void append(std::string& out, std::int64_t value);
/// The shortest digits that read back as the same number. `value` must be finite.
void append(std::string& out, double value);

std::string to_string(const Value& value);

}  // namespace as2d::json
