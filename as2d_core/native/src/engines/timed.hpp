// Scripted engines whose costs pass on the device clock, and drafters that are slowed down on purpose.
#pragma once

#include "engines/scripted.hpp"

namespace as2d {

/// Returns at `instant_ns` of the device clock, not before it: sleeps for the most part, then looks at the clock.
void wait_until(Nanoseconds instant_ns);

/// A scripted target whose every call takes on the device clock what it charges.
class TimedTarget : public Target {
public:
    TimedTarget(Tokens tokens, Token eos, ScriptedTarget::Costs costs)
        : target_(virtual_clock_, std::move(tokens), eos, std::move(costs)) {}

    Token first_token() const override { return target_.first_token(); }
    Token eos() const override { return target_.eos(); }
    Call step(Token root) override;
    Call verify(Token root, const Tokens& candidates, bool source_running) override;
    void keep(Count generated) override;

private:
    VirtualClock virtual_clock_;
    ScriptedTarget target_;
};

/// A scripted drafter whose every forward takes on the device clock what it charges.
class TimedModel : public VerifyingModel {
public:
    TimedModel(Token eos, ScriptedModel::Script script) : model_(virtual_clock_, eos, std::move(script)) {}

    Token eos() const override { return model_.eos(); }
    Prediction first() const override { return model_.first(); }
    Rows forward(const Tokens& tokens) override;
    Call greedy(const Tokens& tokens) override;
    void keep(Count generated) override { model_.keep(generated); }
    Count generated() const override { return model_.generated(); }
    std::vector<Nanoseconds> time_confidence(Count repetitions) override { return model_.time_confidence(repetitions); }

private:
    VirtualClock virtual_clock_;
    ScriptedModel model_;
};

/// A cache model whose every forward takes at least a given time: an emulated slower drafter, labelled in its request.
/// It waits busily, so that the core stays occupied as it would with a bigger model.
class PacedModel : public CacheModel {
public:
    PacedModel(CacheModel& model, std::optional<double> pace_ms)
        : model_(model), pace_ns_(static_cast<Nanoseconds>(pace_ms.value_or(0.0) * 1e6)) {}

    Token eos() const override { return model_.eos(); }
    Prediction first() const override { return model_.first(); }
    Rows forward(const Tokens& tokens) override;
    void keep(Count generated) override { model_.keep(generated); }
    Count generated() const override { return model_.generated(); }
    std::vector<Nanoseconds> time_confidence(Count repetitions) override { return model_.time_confidence(repetitions); }

private:
    CacheModel& model_;
    Nanoseconds pace_ns_;
};

}  // namespace as2d
