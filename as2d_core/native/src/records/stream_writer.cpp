#include "records/stream_writer.hpp"

namespace as2d {

void StreamWriter::add(const Event& event) {
    const char* kind = kind_of(event);
    bool counted = false;
    for (auto& [known, count] : counts_) {
        if (known != kind) continue;
        ++count;
        counted = true;
    }
    if (!counted) counts_.emplace_back(kind, 1);
    const std::string line = encode(event) + '\n';
    hash_.update(line);
    write_(line);
}

void StreamWriter::end(const Ending& ending) {
    write_(encode_end(ending, counts_, hash_.hex()) + '\n');
}

}  // namespace as2d
