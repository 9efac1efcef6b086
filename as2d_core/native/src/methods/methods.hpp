// Decoding methods: one function each. They commit tokens round by round until EOS, the output cap or a cancellation,
// and leave rounds, spans and publications with the recorder.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "engines/interface.hpp"
#include "records/request.hpp"

namespace as2d {

/// How decoding ended.
struct Outcome {
    /// `eos`, `capped`, `cancelled` or `failed`.
    const char* status;
    /// Committed tokens, the first one and, if reached, EOS included.
    Tokens tokens;
    /// When the output was complete.
    Nanoseconds eos_ns;
    /// When everything stood still (producer drain included).
    Nanoseconds end_ns;
    std::optional<std::string> error = std::nullopt;
};

/// One token, one forward: the target alone, at its scalar step cost.
Outcome decode_target_only(Target& target, const Request& request, Recorder& recorder);

/// Standard speculative decoding with `request.width - 1` drafts before every verification (Leviathan et al.). The
/// width is never cut by knowledge of the reference length; only the output cap cuts it.
Outcome decode_standard_sd(Target& target, SerialDrafter& drafter, const Request& request, Recorder& recorder);

/// SpecASR's adaptive single-sequence prediction with recycling, in its serial-branch form (D.1.3, D.6.1), with drafts
/// of at most `request.draft_cap` tokens.
Outcome decode_specasr(Target& target, SerialDrafter& drafter, const Request& request, Recorder& recorder);

/// As2d: a source drafts on its own clock, the target verifies what is ready under proposal budget `request.budget` and
/// never waits (Section 4).
///
/// When the producer dies, the target goes on alone: the output stays exact, and the outcome is `failed` with the
/// reason, since the run is no As2d measurement any more.
Outcome decode_as2d(Target& target, Source& source, const Request& request, Recorder& recorder);

/// What proposes: nothing, a serial drafter, or a source, as the method needs.
using Proposer = std::variant<std::monostate, SerialDrafter*, Source*>;

/// Runs the method that the request names. Throws RequestError when it cannot run as asked.
Outcome decode(Target& target, Proposer proposer, const Request& request, Recorder& recorder);

/// The names of all methods.
const std::vector<std::string>& method_names();

/// What a runner does besides decoding.
bool is_operation(const std::string& name);

/// Status once the output is complete, nullptr while it is not.
const char* finished(const Tokens& tokens, Token eos, Count cap, Recorder& recorder);

}  // namespace as2d
