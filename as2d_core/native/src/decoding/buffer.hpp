// What the target can see of a source: published candidates, in order, never changed (Appendix C.1).
#pragma once

#include <optional>
#include <vector>

#include "records/events.hpp"
#include "types.hpp"

namespace as2d {

/// The target's own copy. It grows at round boundaries only, so that a round works on one snapshot.
class CandidateBuffer {
public:
    CandidateBuffer(Token eos, std::optional<double> threshold) : eos_(eos), threshold_(threshold) {}

    /// Appends a batch. Throws RecordError when it does not follow the one before it, or holds EOS.
    void publish(const Publication& batch);

    Count visible() const { return static_cast<Count>(tokens_.size()); }
    const Tokens& tokens() const { return tokens_; }
    /// Whether each candidate's confidence is below the threshold; false where it is unknown.
    const std::vector<bool>& low_confidence() const { return low_confidence_; }

private:
    Token eos_;
    std::optional<double> threshold_;
    Tokens tokens_;
    std::vector<bool> low_confidence_;
};

}  // namespace as2d
