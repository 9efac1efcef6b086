#include "calibration/episode.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace as2d {
namespace {

template <typename Wanted>
std::vector<Wanted> all_of(const std::vector<Event>& events) {
    std::vector<Wanted> out;
    for (const Event& event : events) {
        if (const auto* wanted = std::get_if<Wanted>(&event)) out.push_back(*wanted);
    }
    return out;
}

bool is_on(const Span& span, std::string_view lane) {
    return lane == span.lane;
}

bool is_work(const Span& span, std::string_view work) {
    return work == span.work;
}

Nanoseconds length_of(const Span& span) {
    return span.end_ns - span.start_ns;
}

}  // namespace

std::vector<Sample> episode_samples(const std::string& method, const std::vector<Event>& events,
                                    Nanoseconds elapsed_ns) {
    const bool decoupled = method == "as2d";
    const bool alone = method == "target-only";
    const std::vector<Round> rounds = all_of<Round>(events);
    const std::vector<Span> spans = all_of<Span>(events);
    std::vector<Sample> samples;
    const auto add = [&](const char* name, Nanoseconds value_ns, bool running, std::optional<Count> width,
                         Count operations) {
        Sample sample{name, value_ns, running};
        sample.width = width;
        sample.origin = "episode";
        sample.extra = {{"method", method}, {"operations", operations}};
        samples.push_back(std::move(sample));
    };

    std::map<Count, Nanoseconds> calls;
    Nanoseconds drafting_ns = 0;
    for (const Span& span : spans) {
        const bool is_call = is_on(span, "target") && (is_work(span, "step") || is_work(span, "verify"));
        if (is_call && span.round) calls[*span.round] = length_of(span);
        if (is_on(span, "drafter") && !decoupled) drafting_ns += length_of(span);
    }
    for (const Round& round : rounds) {
        const auto call = calls.find(round.index);
        add(alone ? "step" : "verify", call == calls.end() ? round.call_ns : call->second, round.source_running,
            alone ? std::nullopt : std::optional(round.width), 1);
    }
    for (const Span& span : spans) {
        if (is_on(span, "drafter") && is_work(span, "draft") && span.operations > 0) {
            add("draft", length_of(span) / span.operations, decoupled, std::nullopt, span.operations);
        }
        if (is_work(span, "publish")) add("publish", length_of(span), true, std::nullopt, 1);
    }
    Nanoseconds calling_ns = 0;
    for (const auto& [index, call_ns] : calls) calling_ns += call_ns;
    const auto count = std::max<Count>(1, static_cast<Count>(rounds.size()));
    const Nanoseconds rest_ns = (elapsed_ns - calling_ns - drafting_ns) / count;
    add("loop", std::max<Nanoseconds>(0, rest_ns), decoupled, std::nullopt, 1);
    return samples;
}

}  // namespace as2d
