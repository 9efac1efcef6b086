#include "decoding/buffer.hpp"

#include <algorithm>
#include <string>

#include "errors.hpp"

namespace as2d {

void CandidateBuffer::publish(const Publication& batch) {
    const std::string where = "Publication at offset " + std::to_string(batch.offset);
    if (batch.offset != visible()) {
        throw RecordError(where + " does not follow the " + std::to_string(visible()) + " candidates before it.");
    }
    if (batch.confidences && batch.confidences->size() != batch.tokens.size()) {
        throw RecordError(where + " has " + std::to_string(batch.tokens.size()) + " tokens but " +
                          std::to_string(batch.confidences->size()) + " confidences.");
    }
    if (std::find(batch.tokens.begin(), batch.tokens.end(), eos_) != batch.tokens.end()) {
        throw RecordError(where + " holds EOS, which is never a candidate.");
    }
    tokens_.insert(tokens_.end(), batch.tokens.begin(), batch.tokens.end());
    for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
        const std::optional<double> confidence = batch.confidences ? (*batch.confidences)[i] : std::nullopt;
        low_confidence_.push_back(confidence && threshold_ && *confidence < *threshold_);
    }
}

}  // namespace as2d
