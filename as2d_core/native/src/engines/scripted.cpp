#include "engines/scripted.hpp"

#include <algorithm>
#include <cmath>

#include "errors.hpp"
#include "json/writer.hpp"

namespace as2d {
namespace {

std::string text_of(const Tokens& tokens) {
    std::string out = "[";
    for (std::size_t i = 0; i < tokens.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(tokens[i]);
    return out + "]";
}

Count length_of(const Tokens& tokens) {
    return static_cast<Count>(tokens.size());
}

}  // namespace

void VirtualClock::advance_to(double instant_ms) {
    if (!(instant_ms >= now_ms_ && instant_ms <= longest_ms)) {
        throw EngineError("A virtual clock at " + json::to_string(now_ms_) + " ms cannot move to " +
                          json::to_string(instant_ms) + " ms.");
    }
    now_ms_ = instant_ms;
}

Nanoseconds VirtualClock::nanoseconds(double instant_ms) {
    return static_cast<Nanoseconds>(std::nearbyint(instant_ms * 1e6));  // ties to even
}

// -- target
// -------------------------------------------------------------------------------------------------------------

ScriptedTarget::ScriptedTarget(VirtualClock& clock, Tokens tokens, Token eos, Costs costs)
    : clock_(clock), tokens_(std::move(tokens)), eos_(eos), costs_(std::move(costs)), boundary_ms_(clock.now_ms()) {
    if (tokens_.empty()) throw EngineError("A scripted target needs at least the token that prefill selected.");
}

Call ScriptedTarget::step(Token root) {
    if (const auto* recorded = std::get_if<std::vector<RoundCost>>(&costs_)) {
        return forward({root}, next_recorded(*recorded));
    }
    return forward({root}, {0.0, std::get<TargetCosts>(costs_).step_ms, 0.0});
}

Call ScriptedTarget::verify(Token root, const Tokens& candidates, bool source_running) {
    Tokens fed{root};
    fed.insert(fed.end(), candidates.begin(), candidates.end());
    if (const auto* recorded = std::get_if<std::vector<RoundCost>>(&costs_)) {
        return forward(fed, next_recorded(*recorded));
    }
    const auto& costs = std::get<TargetCosts>(costs_);
    const auto& table = source_running ? costs.verify_concurrent_ms : costs.verify_idle_ms;
    const auto cost = table.find(length_of(fed));
    if (cost == table.end()) {
        throw ProfileError("There is no cost for verification at width " + std::to_string(fed.size()) + " " +
                           (source_running ? "beside a running producer" : "alone") + "; it cannot be replayed.");
    }
    return forward(fed, {0.0, cost->second, costs.loop_ms});
}

void ScriptedTarget::keep(Count generated) {
    if (generated < 0 || static_cast<std::size_t>(generated) > fed_) {
        throw EngineError("The cache holds " + std::to_string(fed_) + " generated tokens; " +
                          std::to_string(generated) + " cannot be kept.");
    }
    kept_ = fed_ = static_cast<std::size_t>(generated);
    clock_.advance_to(boundary_ms_);
}

RoundCost ScriptedTarget::next_recorded(const std::vector<RoundCost>& costs) {
    if (round_ >= costs.size()) {
        throw EngineError("Round " + std::to_string(round_) +
                          " has no measured cost: the run that was recorded is shorter.");
    }
    return costs[round_++];
}

Call ScriptedTarget::forward(const Tokens& fed, RoundCost cost) {
    if (kept_ >= tokens_.size() || fed.front() != tokens_[kept_]) {
        throw EngineError("The known root at position " + std::to_string(kept_) + " is " + std::to_string(fed.front()) +
                          ", but the output has " + (kept_ < tokens_.size() ? std::to_string(tokens_[kept_]) : "None") +
                          ".");
    }
    const double start_ms = clock_.now_ms();
    // The same sum as in the replay kernel, where one entry of a table holds verification and loop.
    boundary_ms_ = start_ms + (cost.before_ms + cost.call_ms + cost.after_ms);
    clock_.advance_to(start_ms + cost.before_ms);
    Call call{{}, clock_.now_ns(), 0, length_of(fed)};
    clock_.advance_to(std::min(start_ms + cost.before_ms + cost.call_ms, boundary_ms_));
    bool on_path = true;
    for (std::size_t i = 0; i < fed.size(); ++i) {
        const std::size_t here = kept_ + i;
        on_path = on_path && here < tokens_.size() && fed[i] == tokens_[here];
        call.greedy.push_back(on_path && here + 1 < tokens_.size() ? tokens_[here + 1] : eos_);
    }
    fed_ = kept_ + fed.size();
    call.end_ns = clock_.now_ns();
    return call;
}

// -- source
// -------------------------------------------------------------------------------------------------------------

double drain_end_ms(double eos_ms, double producer_end_ms, double operation_ms) {
    if (eos_ms >= producer_end_ms || operation_ms <= 0.0) return eos_ms;
    // Rounding may leave the product just below the instant it was rounded up from.
    const double boundary = std::max(std::ceil(eos_ms / operation_ms) * operation_ms, eos_ms);
    return std::min(boundary, producer_end_ms);
}

ScriptedSource::ScriptedSource(VirtualClock& clock, Script script) : clock_(clock), script_(std::move(script)) {
    const Count promised = script_.schedule.batch_ends.empty() ? 0 : script_.schedule.batch_ends.back();
    const std::string count = std::to_string(script_.candidates.size());
    if (promised != length_of(script_.candidates)) {
        throw EngineError("A schedule publishes " + std::to_string(promised) + " candidates; there are " + count + ".");
    }
    if (script_.confidences && script_.confidences->size() != script_.candidates.size()) {
        throw EngineError("There are " + count + " candidates but " + std::to_string(script_.confidences->size()) +
                          " confidences.");
    }
}

void ScriptedSource::start(Nanoseconds) {
    origin_ms_ = clock_.now_ms();  // the clock itself is exacter than its nanoseconds
    running_ = true;
}

std::vector<Publication> ScriptedSource::poll() {
    const double now_ms = clock_.now_ms();
    running_ = now_ms < origin_ms_ + script_.schedule.producer_end_ms;
    std::vector<Publication> batches = take(now_ms);
    if (batches.empty() && is_dead()) throw DrafterLostError(script_.last_words);
    return batches;
}

Drain ScriptedSource::stop(Nanoseconds) {
    const Schedule& schedule = script_.schedule;
    double stopped_ms = drain_end_ms(clock_.now_ms() - origin_ms_, schedule.producer_end_ms, schedule.operation_ms);
    if (is_dead()) stopped_ms = std::min(stopped_ms, *script_.dies_ms);
    clock_.advance_to(std::max(origin_ms_ + stopped_ms, clock_.now_ms()));
    running_ = false;
    std::vector<Publication> late = take(clock_.now_ms());
    return {std::move(late), spans(stopped_ms), clock_.now_ns()};
}

bool ScriptedSource::is_dead() const {
    return script_.dies_ms && clock_.now_ms() >= origin_ms_ + *script_.dies_ms;
}

std::vector<Publication> ScriptedSource::take(double until_ms) {
    const Schedule& schedule = script_.schedule;
    if (script_.dies_ms) until_ms = std::min(until_ms, origin_ms_ + *script_.dies_ms);
    std::vector<Publication> out;
    for (; handed_out_ < schedule.batch_ends.size(); ++handed_out_) {
        const double time_ms = origin_ms_ + schedule.batch_times_ms[handed_out_];
        if (time_ms > until_ms) break;
        const Count first = handed_out_ > 0 ? schedule.batch_ends[handed_out_ - 1] : 0;
        const Count end = schedule.batch_ends[handed_out_];
        Publication batch{script_.name, first, {}, std::nullopt, VirtualClock::nanoseconds(time_ms)};
        batch.tokens.assign(script_.candidates.begin() + first, script_.candidates.begin() + end);
        if (script_.confidences) {
            batch.confidences.emplace(script_.confidences->begin() + first, script_.confidences->begin() + end);
        }
        out.push_back(std::move(batch));
    }
    return out;
}

std::vector<Span> ScriptedSource::spans(double stopped_ms) const {
    const Schedule& schedule = script_.schedule;
    std::vector<Span> out;
    const auto add = [&](const char* work, double start_ms, double end_ms, Count operations) {
        const Nanoseconds start_ns = VirtualClock::nanoseconds(origin_ms_ + std::min(start_ms, stopped_ms));
        const Nanoseconds end_ns = VirtualClock::nanoseconds(origin_ms_ + std::min(end_ms, stopped_ms));
        if (start_ns >= end_ns) return;
        const double share = std::min(stopped_ms - start_ms, end_ms - start_ms) / (end_ms - start_ms);
        const double done = std::nearbyint(static_cast<double>(operations) * share);
        out.push_back({"drafter", work, start_ns, end_ns, std::nullopt, static_cast<Count>(done)});
    };
    double free_from_ms = 0.0;
    Count forwards = 0;
    for (std::size_t i = 0; i < schedule.batch_ends.size(); ++i) {
        const double time_ms = schedule.batch_times_ms[i];
        // The last batch waits for the forward that finds EOS, unless it was full before.
        const Count needed = schedule.batch_ends[i] - (time_ms == schedule.producer_end_ms ? 0 : 1);
        add("draft", free_from_ms, time_ms - script_.publish_ms, needed - forwards);
        add("publish", time_ms - script_.publish_ms, time_ms, 1);
        free_from_ms = time_ms;
        forwards = needed;
    }
    add("draft", free_from_ms, schedule.producer_end_ms, length_of(script_.candidates) - forwards);
    return out;
}

// -- serial drafter
// -----------------------------------------------------------------------------------------------------

ScriptedModel::ScriptedModel(VirtualClock& clock, Token eos, Script script)
    : clock_(clock), eos_(eos), script_(std::move(script)) {}

double ScriptedModel::forward_ms(Count width) const {
    const ForwardCost& cost = script_.forward_cost;
    const auto own = cost.by_width_ms.find(width);
    return own == cost.by_width_ms.end() ? cost.any_width_ms : own->second;
}

std::vector<Nanoseconds> ScriptedModel::time_confidence(Count repetitions) {
    keep(0);
    return std::vector<Nanoseconds>(static_cast<std::size_t>(repetitions), 0);
}

Call ScriptedModel::greedy(const Tokens& tokens) {
    const Count width = length_of(tokens);
    if (script_.fails_from && width >= *script_.fails_from) {
        throw EngineError("The scripted model does not run " + std::to_string(width) + " rows.");
    }
    const Rows rows = forward(tokens);
    Call call{{}, rows.start_ns, rows.end_ns, width};
    const bool differs = script_.differs_from && width >= *script_.differs_from;
    for (const Prediction& said : rows.predictions) call.greedy.push_back(differs ? eos_ : said.token);
    return call;
}

Rows ScriptedModel::forward(const Tokens& tokens) {
    if (tokens.empty()) throw EngineError("A forward needs at least one token.");
    Rows rows{{}, clock_.now_ns(), 0};
    clock_.advance_to(clock_.now_ms() + forward_ms(length_of(tokens)));
    for (const Token token : tokens) {
        cache_.push_back(token);
        rows.predictions.push_back(ask(cache_));
    }
    rows.end_ns = clock_.now_ns();
    return rows;
}

void ScriptedModel::keep(Count generated) {
    if (generated < 0 || generated > length_of(cache_)) {
        throw EngineError("The cache holds " + std::to_string(cache_.size()) + " tokens; " + std::to_string(generated) +
                          " cannot be kept.");
    }
    cache_.resize(static_cast<std::size_t>(generated));
}

Prediction ScriptedModel::ask(const Tokens& prefix) const {
    const auto known = script_.predictions.find(prefix);
    if (known == script_.predictions.end()) {
        throw EngineError("The scripted drafter has no prediction after " + text_of(prefix) + ".");
    }
    return known->second;
}

}  // namespace as2d
