// The drafter of an operation on the virtual clock.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engines/drafting.hpp"
#include "engines/operations.hpp"
#include "engines/scripted.hpp"

namespace as2d {

/// Nothing runs beside anything on a virtual clock: a busy drafter has made the forwards that fit beside the target.
class ScriptedOperations : public OperationDrafter {
public:
    /// source: what it says on its own, and when. Clock and model outlive this.
    ScriptedOperations(VirtualClock& clock, ScriptedModel& model, ScriptedSource::Script source)
        : clock_(clock), model_(model), script_(std::move(source)) {}

    void start_busy(Count) override { busy_from_ms_ = clock_.now_ms(); }
    std::vector<Nanoseconds> stop_busy() override;
    std::vector<Nanoseconds> timing(Count width, Count offset_tokens, Count repetitions) override {
        return time_forwards(model_, model_, width, offset_tokens, repetitions);
    }
    std::vector<Nanoseconds> confidence(Count repetitions) override { return model_.time_confidence(repetitions); }
    std::vector<Prediction> forced(const Tokens& tokens) override { return predict_along(model_, tokens); }
    SerialDrafter& serial() override { return serial_.emplace(model_); }
    Source& source(Recorder&, Count, Count) override { return source_.emplace(clock_, script_); }
    const std::string& name() const override { return script_.name; }

private:
    VirtualClock& clock_;
    ScriptedModel& model_;
    ScriptedSource::Script script_;
    double busy_from_ms_ = 0.0;
    std::optional<BranchDrafter> serial_;
    std::optional<ScriptedSource> source_;
};

}  // namespace as2d
