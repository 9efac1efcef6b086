// One JSON value. Whole numbers and fractions stay apart, as the protocol keeps them apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace as2d::json {

class Value;

using Array = std::vector<Value>;
/// Members in the order of their first appearance; a later value of the same name replaces the earlier one.
using Members = std::vector<std::pair<std::string, Value>>;

struct Object {
    Members members;

    /// The value under a name, or nullptr.
    const Value* find(std::string_view name) const;
};

class Value {
public:
    using Storage = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object>;

    Value() = default;
    Value(std::nullptr_t) {}
    Value(bool value) : storage_(value) {}
    Value(int value) : storage_(std::int64_t{value}) {}
    Value(std::int64_t value) : storage_(value) {}
    Value(double value) : storage_(value) {}
    Value(const char* value) : storage_(std::string(value)) {}
    Value(std::string value) : storage_(std::move(value)) {}
    Value(Array value) : storage_(std::move(value)) {}
    Value(Object value) : storage_(std::move(value)) {}
    Value(Members value) : storage_(Object{std::move(value)}) {}

    bool is_null() const { return std::holds_alternative<std::nullptr_t>(storage_); }

    /// The held value of one of the types of `Storage`, or nullptr.
    template <typename Held>
    const Held* get() const {
        return std::get_if<Held>(&storage_);
    }
    template <typename Held>
    Held* get() {
        return std::get_if<Held>(&storage_);
    }

    const Storage& storage() const { return storage_; }

private:
    Storage storage_ = nullptr;
};

inline const Value* Object::find(std::string_view name) const {
    for (const auto& [key, value] : members) {
        if (key == name) return &value;
    }
    return nullptr;
}

}  // namespace as2d::json
