// A scripted run on the device clock: real threads, real waiting, a real stream, and no model.
#pragma once

#include <memory>

#include "engines/timed.hpp"
#include "runner/cores.hpp"
#include "runner/script.hpp"
#include "runner/session.hpp"
#include "runner/threaded_operations.hpp"

namespace as2d {

class ScriptedSession : public Session {
public:
    explicit ScriptedSession(Script script);

    const char* source() const override { return "synthetic"; }
    void complete(Request& request) override;
    void prepare(const Request& request, StreamRecorder& recorder) override;
    void instruct(const Request&, Recorder&) override {}
    Target& target() override { return target_; }
    Proposer proposer(const Request& request, Recorder& recorder) override;
    OperationParts parts(const Request& request) override;
    void release() override;
    std::optional<std::string> text_of(const Tokens&) override { return std::nullopt; }
    bool stuck() const override { return stuck_; }

private:
    TimedTarget target_;
    TimedModel model_;
    /// The target of an operation.
    std::optional<TimedModel> verifier_;
    std::vector<Count> widths_;
    /// Whether widths are tried, as they are for a model that this device has not seen.
    bool tries_widths_;
    bool stuck_ = false;
    CoreChoice cores_;
    std::optional<PacedModel> paced_;
    std::optional<WorkerThread> thread_;
    std::unique_ptr<SerialDrafter> serial_;
    std::unique_ptr<Source> source_;
    std::unique_ptr<ThreadedOperations> operations_;
};

}  // namespace as2d
