#include "runner/output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>

namespace as2d {
namespace {

[[noreturn]] void lose(const std::string& reason) {
    throw OutputLost("The events cannot be written: " + reason + ".");
}

}  // namespace

void Output::write(std::string_view lines, std::chrono::milliseconds patience) const {
    while (!lines.empty()) {
        pollfd reader{file_, POLLOUT, 0};
        const int ready = poll(&reader, 1, static_cast<int>(patience.count()));
        if (ready == 0) {
            lose("whoever reads them has read nothing for " + std::to_string(patience.count() / 1000) + " s");
        }
        // A pipe that has room for anything has room for this much: such a write never waits.
        const std::size_t most = std::min<std::size_t>(lines.size(), PIPE_BUF);
        const ssize_t written = ready < 0 ? -1 : ::write(file_, lines.data(), most);
        if (written >= 0) {
            lines.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno == EPIPE) {
            lose("nobody reads them any more");
        } else if (errno != EINTR && errno != EAGAIN) {
            lose(std::strerror(errno));
        }
    }
}

}  // namespace as2d
