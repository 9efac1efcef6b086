// The models of a measured run, whatever they are: what the run asks of them, step by step.
#pragma once

#include <memory>
#include <string>

#include "calibration/measure.hpp"
#include "methods/methods.hpp"
#include "records/request.hpp"
#include "runner/stream_recorder.hpp"

namespace as2d {

/// Resident models and the audio in their caches, carried from request to request.
class Session {
public:
    virtual ~Session() = default;

    /// What every figure of its runs is labelled: `measured` or `synthetic`.
    virtual const char* source() const = 0;

    /// Completes the request for the run header (hashes, durations, cores), and refuses what it cannot run.
    virtual void complete(Request& request) = 0;

    /// Everything before the request's clock starts: models loaded, widths tested, audio prefilled (Appendix A.1).
    virtual void prepare(const Request& request, StreamRecorder& recorder) = 0;

    /// Instruction prefill of both models; its spans go to the recorder.
    virtual void instruct(const Request& request, Recorder& recorder) = 0;

    virtual Target& target() = 0;
    /// The proposer that the method needs, over the prefilled drafter. It lives until `release`.
    virtual Proposer proposer(const Request& request, Recorder& recorder) = 0;
    /// What an operation works with, over the prefilled models. It lives until `release`.
    virtual OperationParts parts(const Request& request) = 0;
    virtual void release() = 0;

    /// The text of an output, where the session knows texts.
    virtual std::optional<std::string> text_of(const Tokens& tokens) = 0;

    /// Whether a thread of it answers no more: the process must end after this run.
    virtual bool stuck() const = 0;
};

}  // namespace as2d
