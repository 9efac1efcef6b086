// What the fields of a request are: one table for each object of the protocol, in the order they are written in.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "json/value.hpp"

namespace as2d {

enum class FieldType { text, truth, whole, number, whole_list, mapping, object };

struct Schema;

struct Field {
    std::string_view name;
    FieldType type;
    bool may_be_null = false;
    /// Used when the field is left out; none = the field must be there.
    std::optional<json::Value> fallback;
    /// Whole numbers below it are refused.
    std::optional<std::int64_t> least = std::nullopt;
    /// What the object holds; only with FieldType::object.
    const Schema* schema = nullptr;
};

struct Schema {
    std::vector<Field> fields;
};

/// The request with everything below it.
const Schema& request_schema();

/// Checks an object against a schema and fills in what was left out; members come out in the schema's order.
///
/// Throws FormatError with the field and what is wrong with it.
json::Object checked(const json::Object& body, const Schema& schema, const std::string& prefix = "");

}  // namespace as2d
