#include "records/encode.hpp"

#include <string_view>

#include "hex.hpp"
#include "json/utf8.hpp"
#include "json/writer.hpp"

namespace as2d {
namespace {

void append_item(std::string& out, const std::string& value) {
    json::append(out, std::string_view(value));
}
void append_item(std::string& out, const char* value) {
    json::append(out, std::string_view(value));
}
void append_item(std::string& out, std::int64_t value) {
    json::append(out, value);
}
void append_item(std::string& out, Token value) {
    json::append(out, std::int64_t{value});
}
void append_item(std::string& out, double value) {
    json::append(out, value);
}
void append_item(std::string& out, bool value) {
    out += value ? "true" : "false";
}
void append_item(std::string& out, const json::Object& value) {
    json::append(out, json::Value(value));
}
void append_item(std::string& out, const json::Value& value) {
    json::append(out, value);
}
void append_item(std::string& out, const Move& move) {
    out += '[';
    append_item(out, move.rule);
    out += ',';
    append_item(out, move.before);
    out += ',';
    append_item(out, move.after);
    out += ']';
}

template <typename Item>
void append_item(std::string& out, const std::optional<Item>& value);

template <typename Item>
void append_item(std::string& out, const std::vector<Item>& items) {
    out += '[';
    bool first = true;
    for (const Item& item : items) {
        if (!first) out += ',';
        first = false;
        append_item(out, item);
    }
    out += ']';
}

template <typename Item>
void append_item(std::string& out, const std::optional<Item>& value) {
    if (value) {
        append_item(out, *value);
    } else {
        out += "null";
    }
}

/// One line that grows field by field.
class Line {
public:
    explicit Line(const char* kind) {
        out_ = "{";
        add("kind", kind);
    }

    template <typename Item>
    Line& add(std::string_view name, const Item& value) {
        if (out_.size() > 1) out_ += ',';
        json::append(out_, name);
        out_ += ':';
        append_item(out_, value);
        return *this;
    }

    std::string done(const Extra& extra = {}) {
        for (const auto& [name, value] : extra) add(name, value);
        out_ += '}';
        return std::move(out_);
    }

private:
    std::string out_;
};

std::string encode_line(const RunHeader& run) {
    return Line("run")
        .add("schema_version", std::int64_t{schema_version})
        .add("run_id", run.run_id)
        .add("request", run.request)
        .add("device", run.device)
        .add("versions", run.versions)
        .add("clock", run.clock)
        .add("created_at", run.created_at)
        .add("source", run.source)
        .done(run.extra);
}

std::string encode_line(const Span& span) {
    return Line("span")
        .add("lane", span.lane)
        .add("work", span.work)
        .add("start_ns", span.start_ns)
        .add("end_ns", span.end_ns)
        .add("round", span.round)
        .add("operations", span.operations)
        .done(span.extra);
}

std::string encode_line(const Publication& batch) {
    return Line("publication")
        .add("source", batch.source)
        .add("offset", batch.offset)
        .add("tokens", batch.tokens)
        .add("confidences", batch.confidences)
        .add("time_ns", batch.time_ns)
        .add("received_ns", batch.received_ns)
        .done();
}

std::string encode_line(const Round& round) {
    return Line("round")
        .add("index", round.index)
        .add("start_ns", round.start_ns)
        .add("end_ns", round.end_ns)
        .add("width", round.width)
        .add("physical_width", round.physical_width)
        .add("proposed", round.proposed)
        .add("accepted", round.accepted)
        .add("committed", round.committed)
        .add("candidates", round.candidates)
        .add("origins", round.origins)
        .add("cursor_before", round.cursor_before)
        .add("cursor_after", round.cursor_after)
        .add("visible", round.visible)
        .add("source_running", round.source_running)
        .add("width_reason", round.width_reason)
        .add("moves", round.moves)
        .add("call_ns", round.call_ns)
        .done();
}

std::string encode_line(const Mark& mark) {
    return Line("mark").add("name", mark.name).add("time_ns", mark.time_ns).add("token", mark.token).done(mark.extra);
}

std::string encode_line(const Pieces& pieces) {
    json::Object text;
    json::Object hex;
    for (const auto& [token, bytes] : pieces.bytes) {
        if (json::utf8::is_valid(bytes)) {
            text.members.emplace_back(std::to_string(token), bytes);
        } else {
            hex.members.emplace_back(std::to_string(token), hex_of(bytes));
        }
    }
    return Line("pieces").add("text", text).add("hex", hex).done();
}

std::string encode_line(const Telemetry& reading) {
    using Clocks = std::vector<std::optional<double>>;
    return Line("telemetry")
        .add("time_ns", reading.time_ns)
        .add("battery_temperature_c", reading.battery_temperature_c)
        .add("battery_current_ma", reading.battery_current_ma)
        .add("battery_voltage_mv", reading.battery_voltage_mv)
        .add("charging", reading.charging)
        .add("thermal_status", reading.thermal_status)
        .add("core_mhz", reading.core_mhz.empty() ? std::optional<Clocks>() : std::optional<Clocks>(reading.core_mhz))
        .add("online_mask", reading.online_mask)
        .done(reading.extra);
}

std::string encode_line(const Conditions& look) {
    using Clocks = std::vector<std::optional<double>>;
    const auto ceilings = look.ceiling_mhz.empty() ? std::optional<Clocks>() : std::optional<Clocks>(look.ceiling_mhz);
    return Line("conditions")
        .add("time_ns", look.time_ns)
        .add("passed", look.missing.empty())
        .add("missing", look.missing)
        .add("rested_s", look.rested_s)
        .add("online_mask", look.online_mask)
        .add("ceiling_mhz", ceilings)
        .add("battery_temperature_c", look.battery_temperature_c)
        .add("thermal_status", look.thermal_status)
        .add("charging", look.charging)
        .add("plugged", look.plugged)
        .add("screen_on", look.screen_on)
        .done();
}

std::string encode_line(const EngineFacts& engine) {
    using Cores = std::vector<Count>;
    return Line("engine")
        .add("role", engine.role)
        .add("model", engine.model)
        .add("model_sha256", engine.model_sha256)
        .add("mnn_version", engine.mnn_version)
        .add("backend", engine.backend)
        .add("threads", engine.threads)
        .add("precision", engine.precision)
        .add("memory", engine.memory)
        .add("cores", engine.cores.empty() ? std::optional<Cores>() : std::optional<Cores>(engine.cores))
        .add("asked_cores", engine.asked_cores)
        .add("widths", engine.widths)
        .done(engine.extra);
}

std::string encode_line(const SelfTest& test) {
    json::Object differences;
    for (const auto& [width, count] : test.argmax_differences) {
        differences.members.emplace_back(std::to_string(width), count);
    }
    return Line("self_test")
        .add("model_sha256", test.model_sha256)
        .add("exact_widths", test.exact_widths)
        .add("grade", test.grade)
        .add("classes", test.classes)
        .add("argmax_differences", differences)
        .add("rows", test.rows)
        .done(test.extra);
}

std::string encode_line(const Sample& sample) {
    return Line("sample")
        .add("name", sample.name)
        .add("value_ns", sample.value_ns)
        .add("running", sample.running)
        .add("width", sample.width)
        .add("offset_tokens", sample.offset_tokens)
        .add("repetition", sample.repetition)
        .add("warm_up", sample.warm_up)
        .add("origin", sample.origin)
        .done(sample.extra);
}

std::string encode_line(const Trajectory& said) {
    return Line("trajectory")
        .add("target_tokens", said.target_tokens)
        .add("target_capped", said.target_capped)
        .add("source", said.source)
        .add("candidates", said.candidates)
        .add("confidences", said.confidences)
        .add("source_capped", said.source_capped)
        .add("forced", said.forced)
        .add("forced_confidences", said.forced_confidences)
        .add("eos", said.eos)
        .add("batch_tokens", said.batch_tokens)
        .add("branch_leaves", said.branches.leaves)
        .add("branch_feeds", said.branches.feeds)
        .add("branch_lengths", said.branches.lengths)
        .add("branch_tokens", said.branches.tokens)
        .add("branch_confidences", said.branches.confidences)
        .add("branch_draft_cap", said.branch_draft_cap)
        .add("branch_threshold", said.branch_threshold)
        .done();
}

struct KindOf {
    const char* operator()(const RunHeader&) const { return "run"; }
    const char* operator()(const Span&) const { return "span"; }
    const char* operator()(const Publication&) const { return "publication"; }
    const char* operator()(const Round&) const { return "round"; }
    const char* operator()(const Mark&) const { return "mark"; }
    const char* operator()(const Pieces&) const { return "pieces"; }
    const char* operator()(const Telemetry&) const { return "telemetry"; }
    const char* operator()(const Conditions&) const { return "conditions"; }
    const char* operator()(const EngineFacts&) const { return "engine"; }
    const char* operator()(const SelfTest&) const { return "self_test"; }
    const char* operator()(const Sample&) const { return "sample"; }
    const char* operator()(const Trajectory&) const { return "trajectory"; }
};

}  // namespace

const char* kind_of(const Event& event) {
    return std::visit(KindOf{}, event);
}

std::string encode(const Event& event) {
    return std::visit([](const auto& line) { return encode_line(line); }, event);
}

std::string encode_end(const Ending& ending, const LineCounts& counts, const std::string& sha256) {
    json::Object counted;
    for (const auto& [kind, count] : counts) counted.members.emplace_back(kind, count);
    return Line("end")
        .add("status", ending.status)
        .add("tokens", ending.tokens)
        .add("counts", counted)
        .add("sha256", sha256)
        .add("text", ending.text)
        .add("error", ending.error)
        .done(ending.extra);
}

}  // namespace as2d
