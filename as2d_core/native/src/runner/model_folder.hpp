// What is in a model folder, and can it be a target or drafter?
#pragma once

#include <string>

#include "types.hpp"

namespace as2d {

/// One MNN audio language model on disk.
struct ModelFolder {
    std::string path;
    std::string name;
    Token audio_pad = 0;
    /// Over the names and contents of all files that the engine reads; the same hash as the other runners give.
    std::string sha256;
    std::string tokenizer_sha256;
};

/// Throws ModelError: says which file is missing or what makes the model unusable.
ModelFolder describe_model(const std::string& path);

/// Throws ModelError when the two do not share a tokenizer, so that candidates would mean other tokens.
void check_pair(const ModelFolder& target, const ModelFolder& drafter);

}  // namespace as2d
