#include "records/schema.hpp"

#include <string>

#include "errors.hpp"

namespace as2d {
namespace {

using json::Array;
using json::Object;
using json::Value;

/// Levels of nesting in a free mapping.
constexpr int deepest_mapping = 8;

const Value null_value{nullptr};
const Value empty_list{Array{}};

Field required(std::string_view name, FieldType type) {
    return {name, type, false, std::nullopt};
}

Field optional(std::string_view name, FieldType type, Value fallback = null_value) {
    return {name, type, true, std::move(fallback)};
}

Field with_default(std::string_view name, FieldType type, Value fallback) {
    return {name, type, false, std::move(fallback)};
}

Field at_least_0(Field field) {
    field.least = 0;
    return field;
}

Field holding(Field field, const Schema& schema) {
    field.schema = &schema;
    return field;
}

const Schema& model_schema() {
    static const Schema schema{{
        required("path", FieldType::text),
        with_default("name", FieldType::text, ""),
        optional("sha256", FieldType::text),
        optional("exact_widths", FieldType::whole_list),
    }};
    return schema;
}

const Schema& audio_schema() {
    static const Schema schema{{
        required("path", FieldType::text),
        optional("sha256", FieldType::text),
        optional("duration_s", FieldType::number),
        optional("window_id", FieldType::text),
        with_default("view_start_s", FieldType::number, 0.0),
        optional("view_end_s", FieldType::number),
    }};
    return schema;
}

const Schema& placement_schema() {
    static const Schema schema{{
        with_default("target_cores", FieldType::whole_list, empty_list),
        with_default("drafter_cores", FieldType::whole_list, empty_list),
        with_default("target_threads", FieldType::whole, 1),
        with_default("drafter_threads", FieldType::whole, 1),
        with_default("backend", FieldType::text, "cpu"),
        optional("task_profile", FieldType::text),
        optional("drafter_backend", FieldType::text),
    }};
    return schema;
}

const Schema& width_rule_schema() {
    static const Schema schema{{
        required("concurrent", FieldType::whole_list),
        required("idle", FieldType::whole_list),
        with_default("name", FieldType::text, ""),
    }};
    return schema;
}

const Schema& gates_schema() {
    static const Schema schema{{
        with_default("rest_s", FieldType::number, 15.0),
        with_default("checks", FieldType::whole, 2),
        with_default("check_gap_s", FieldType::number, 5.0),
        with_default("all_cores", FieldType::truth, true),
        optional("ceiling_mhz", FieldType::number),
        optional("ceiling_core", FieldType::whole),
        optional("max_battery_c", FieldType::number, 40.0),
        optional("max_thermal_status", FieldType::whole, 1),
        with_default("patience_s", FieldType::number, 600.0),
    }};
    return schema;
}

void check_mapping(const std::string& name, const Value& value, int depth) {
    if (depth == 0) throw FormatError(name + " is nested more than " + std::to_string(deepest_mapping) + " deep");
    if (const auto* object = value.get<Object>()) {
        for (const auto& [key, item] : object->members) check_mapping(name, item, depth - 1);
    } else if (const auto* items = value.get<Array>()) {
        for (const Value& item : *items) check_mapping(name, item, depth - 1);
    }
}

void check_whole(const std::string& name, const Value& value, std::optional<std::int64_t> least) {
    const auto* number = value.get<std::int64_t>();
    if (number == nullptr) throw FormatError(name + " is not a whole number");
    if (least && *number < *least) {
        throw FormatError(name + " is " + std::to_string(*number) + ", below " + std::to_string(*least));
    }
}

Value checked_value(const std::string& name, const Value& value, const Field& field) {
    if (value.is_null() && field.may_be_null) return value;
    switch (field.type) {
        case FieldType::text:
            if (value.get<std::string>() == nullptr) throw FormatError(name + " is not text");
            break;
        case FieldType::truth:
            if (value.get<bool>() == nullptr) throw FormatError(name + " is not true or false");
            break;
        case FieldType::whole: check_whole(name, value, field.least); break;
        case FieldType::number:
            if (value.get<std::int64_t>() == nullptr && value.get<double>() == nullptr) {
                throw FormatError(name + " is not a number");
            }
            break;
        case FieldType::whole_list: {
            const auto* items = value.get<Array>();
            if (items == nullptr) throw FormatError(name + " is not a list");
            for (const Value& item : *items) check_whole("an entry of " + name, item, std::nullopt);
            break;
        }
        case FieldType::mapping:
            if (value.get<Object>() == nullptr) throw FormatError(name + " is not an object");
            check_mapping(name, value, deepest_mapping);
            break;
        case FieldType::object: {
            const auto* object = value.get<Object>();
            if (object == nullptr) throw FormatError(name + " is not an object");
            return checked(*object, *field.schema, name + ".");
        }
    }
    return value;
}

}  // namespace

const Schema& request_schema() {
    static const Schema schema{{
        required("run_id", FieldType::text),
        required("method", FieldType::text),
        holding(required("target", FieldType::object), model_schema()),
        holding(required("audio", FieldType::object), audio_schema()),
        holding(optional("drafter", FieldType::object), model_schema()),
        with_default("task", FieldType::text, "transcribe"),
        with_default("instruction", FieldType::text, "transcribe the speech."),
        at_least_0(optional("budget", FieldType::whole)),
        at_least_0(optional("width", FieldType::whole)),
        at_least_0(optional("draft_cap", FieldType::whole)),
        optional("threshold", FieldType::number, 0.4),
        at_least_0(with_default("search_window", FieldType::whole, 16)),
        at_least_0(with_default("batch_tokens", FieldType::whole, 8)),
        at_least_0(with_default("max_tokens", FieldType::whole, 320)),
        with_default("plain_step", FieldType::truth, false),
        optional("drafter_pace_ms", FieldType::number),
        holding(with_default("placement", FieldType::object, checked({}, placement_schema())), placement_schema()),
        with_default("precision", FieldType::text, "high"),
        with_default("memory", FieldType::text, "high"),
        at_least_0(with_default("repetition", FieldType::whole, 0)),
        at_least_0(with_default("order", FieldType::whole, 0)),
        with_default("warm_up", FieldType::truth, false),
        optional("group_id", FieldType::text),
        with_default("options", FieldType::mapping, Object{}),
        holding(optional("width_rule", FieldType::object), width_rule_schema()),
        holding(optional("gates", FieldType::object), gates_schema()),
    }};
    return schema;
}

Object checked(const Object& body, const Schema& schema, const std::string& prefix) {
    for (const auto& [name, value] : body.members) {
        bool known = false;
        for (const Field& field : schema.fields) known = known || field.name == name;
        if (!known) throw FormatError("unknown field '" + prefix + name + "'");
    }
    Object out;
    out.members.reserve(schema.fields.size());
    for (const Field& field : schema.fields) {
        const std::string name(field.name);
        const Value* given = body.find(name);
        if (given != nullptr) {
            out.members.emplace_back(name, checked_value(prefix + name, *given, field));
        } else if (field.fallback) {
            out.members.emplace_back(name, *field.fallback);
        } else {
            throw FormatError(prefix + name + " missing");
        }
    }
    return out;
}

}  // namespace as2d
