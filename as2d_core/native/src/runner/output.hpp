// Where the lines of runs go: to a reader that may be slow, may stop reading, or may go away.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string_view>

namespace as2d {

/// A dashboard itself gives a silent phone up after as long.
constexpr std::chrono::milliseconds reader_patience{600'000};

/// The lines have nobody who reads them any more; what they tell of is not worth going on with.
class OutputLost : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Output {
public:
    /// Writes to an open file, which stays its owner's.
    explicit Output(int file) : file_(file) {}

    /// Returns when all of it is on its way. Whoever waits for that waits for the reader, who may pause without losing
    /// anything; this alone bounds it.
    ///
    /// Throws OutputLost: the reader is gone, has read nothing for the whole patience, or there is no room.
    void write(std::string_view lines, std::chrono::milliseconds patience = reader_patience) const;

private:
    int file_;
};

}  // namespace as2d
