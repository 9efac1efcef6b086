// Writes one run's lines and closes it with the `end` that makes it complete.
#pragma once

#include <functional>
#include <string_view>

#include "records/encode.hpp"
#include "records/sha256.hpp"

namespace as2d {

class StreamWriter {
public:
    /// `write` takes whole lines, newline included.
    explicit StreamWriter(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

    void add(const Event& event);

    /// Writes the `end` line; its hash covers every line before it.
    void end(const Ending& ending);

private:
    std::function<void(std::string_view)> write_;
    Sha256 hash_;
    LineCounts counts_;
};

}  // namespace as2d
