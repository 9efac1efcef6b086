#include "records/request.hpp"

#include "errors.hpp"
#include "json/reader.hpp"
#include "json/utf8.hpp"
#include "records/schema.hpp"

namespace as2d {
namespace {

using json::Array;
using json::Object;
using json::Value;

/// Typed access to an object that `checked` has built: every field is there and has its type.
class Fields {
public:
    explicit Fields(const Object& object) : object_(object) {}

    const std::string& text(std::string_view name) const { return *at(name).get<std::string>(); }
    bool truth(std::string_view name) const { return *at(name).get<bool>(); }
    Count whole(std::string_view name) const { return *at(name).get<std::int64_t>(); }

    double number(std::string_view name) const {
        const Value& value = at(name);
        if (const auto* whole_number = value.get<std::int64_t>()) return static_cast<double>(*whole_number);
        return *value.get<double>();
    }

    std::optional<Count> whole_or_none(std::string_view name) const {
        return at(name).is_null() ? std::nullopt : std::optional(whole(name));
    }

    std::optional<double> number_or_none(std::string_view name) const {
        return at(name).is_null() ? std::nullopt : std::optional(number(name));
    }

    std::optional<std::string> text_or_none(std::string_view name) const {
        return at(name).is_null() ? std::nullopt : std::optional(text(name));
    }

    std::vector<Count> list(std::string_view name) const {
        std::vector<Count> out;
        if (const auto* items = at(name).get<Array>()) {
            for (const Value& item : *items) out.push_back(*item.get<std::int64_t>());
        }
        return out;
    }

    bool has(std::string_view name) const { return !at(name).is_null(); }
    Fields object(std::string_view name) const { return Fields(*at(name).get<Object>()); }

private:
    const Value& at(std::string_view name) const { return *object_.find(name); }

    const Object& object_;
};

ModelRef model_from(const Fields& fields) {
    return {fields.text("path"), fields.text("name"), fields.list("exact_widths"), fields.has("exact_widths")};
}

Placement placement_from(const Fields& fields) {
    return {fields.list("target_cores"),
            fields.list("drafter_cores"),
            fields.whole("target_threads"),
            fields.whole("drafter_threads"),
            fields.text("backend"),
            fields.text_or_none("task_profile"),
            fields.text_or_none("drafter_backend")};
}

Gates gates_from(const Fields& fields) {
    return {fields.number("rest_s"),
            fields.whole("checks"),
            fields.number("check_gap_s"),
            fields.truth("all_cores"),
            fields.number_or_none("ceiling_mhz"),
            fields.whole_or_none("ceiling_core"),
            fields.number_or_none("max_battery_c"),
            fields.whole_or_none("max_thermal_status"),
            fields.number("patience_s")};
}

void check_table(const char* name, const std::vector<Count>& table) {
    for (std::size_t ready = 0; ready < table.size(); ++ready) {
        if (table[ready] < 0 || table[ready] > static_cast<Count>(ready)) {
            throw FormatError(std::string("the width rule cannot be applied: ") + name + " takes " +
                              std::to_string(table[ready]) + " of " + std::to_string(ready) + " ready candidates");
        }
    }
}

WidthRule width_rule_from(const Fields& fields) {
    WidthRule rule{fields.list("concurrent"), fields.list("idle")};
    if (rule.idle.empty() || rule.idle.size() != rule.concurrent.size()) {
        throw FormatError("the width rule cannot be applied: its tables have " +
                          std::to_string(rule.concurrent.size()) + " and " + std::to_string(rule.idle.size()) +
                          " entries; they need equally many");
    }
    check_table("concurrent", rule.concurrent);
    check_table("idle", rule.idle);
    return rule;
}

}  // namespace

Request request_from_json(const Value& body) {
    const auto* object = body.get<Object>();
    if (object == nullptr) throw FormatError("a request is a JSON object");
    Request request;
    request.document = checked(*object, request_schema());
    const Fields fields(request.document);
    request.run_id = fields.text("run_id");
    if (request.run_id.empty()) throw FormatError("run_id is empty");
    request.method = fields.text("method");
    request.target = model_from(fields.object("target"));
    if (fields.has("drafter")) request.drafter = model_from(fields.object("drafter"));
    const Fields audio = fields.object("audio");
    request.audio = {audio.text("path"), audio.number("view_start_s"), audio.number_or_none("view_end_s")};
    request.instruction = fields.text("instruction");
    request.budget = fields.whole_or_none("budget");
    request.width = fields.whole_or_none("width");
    request.draft_cap = fields.whole_or_none("draft_cap");
    request.threshold = fields.number_or_none("threshold");
    request.search_window = fields.whole("search_window");
    request.batch_tokens = fields.whole("batch_tokens");
    request.max_tokens = fields.whole("max_tokens");
    request.plain_step = fields.truth("plain_step");
    request.drafter_pace_ms = fields.number_or_none("drafter_pace_ms");
    request.placement = placement_from(fields.object("placement"));
    request.precision = fields.text("precision");
    request.memory = fields.text("memory");
    if (fields.has("width_rule")) request.width_rule = width_rule_from(fields.object("width_rule"));
    if (fields.has("gates")) request.gates = gates_from(fields.object("gates"));
    return request;
}

Value parse_request_line(std::string_view line) {
    const std::size_t characters = json::utf8::characters_of(line);
    if (characters > longest_request_characters) {
        throw FormatError("A request line has " + std::to_string(characters) + " characters; at most " +
                          std::to_string(longest_request_characters) + " are taken.");
    }
    return json::parse(line);
}

Value as_json(const std::vector<Count>& numbers) {
    Array out;
    for (const Count number : numbers) out.emplace_back(number);
    return out;
}

void set_field(Object& document, std::string_view dotted_name, Value value) {
    const std::size_t dot = dotted_name.find('.');
    const std::string_view name = dotted_name.substr(0, dot);
    for (auto& [key, held] : document.members) {
        if (key != name) continue;
        if (dot == std::string_view::npos) {
            held = std::move(value);
        } else {
            set_field(*held.get<Object>(), dotted_name.substr(dot + 1), std::move(value));
        }
        return;
    }
}

}  // namespace as2d
