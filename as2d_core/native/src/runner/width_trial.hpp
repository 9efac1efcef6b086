// Which widths run at all? Tried in a process of its own: a width that a driver or a kernel cannot run may end the
// process that tries it, and the run goes on without it.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>

#include "engines/interface.hpp"
#include "records/request.hpp"

namespace as2d {

constexpr Count widest_tested = 16;

/// Runs one verification of a width. Throws EngineError where that width does not run.
using RunWidth = std::function<void(Count)>;

/// Largest width up to which every width runs; what a wider one says is left to a calibration. `trying` is told each
/// width before its first forward, and 0 once all of them have run.
Count widest_that_runs(Count widest, const RunWidth& run, const std::function<void(Count)>& trying);

/// Records which width is about to be tried; for `trying`.
std::function<void(Count)> marks_of(Recorder& recorder);

/// Asks processes of their own, and keeps what killed them.
class WidthTrials {
public:
    /// The same for the target of `request`. A width that ends its process twice is left out, with everything wider:
    /// twice, because a process may end for another reason in that moment. `go_on` is asked again and again, and may
    /// throw. None where no process can be started.
    ///
    /// Throws ModelError: the model cannot be loaded. EngineError: not even one row runs, or a process ended here one
    /// time and there another.
    std::optional<Count> widest(const Request& request, const std::string& model_sha256, std::chrono::seconds patience,
                                const std::function<void(Count)>& trying, const std::function<void()>& go_on);

private:
    /// Of each target the widest verification that did not end its process.
    std::map<std::string, Count> known_;
};

/// The process that tries: reads the request and the widest width from `in`, and says on `out` what it is about to run.
/// `open` loads a target.
int try_widths(std::istream& in, std::FILE* out, const std::function<RunWidth(const Request&)>& open);

}  // namespace as2d
