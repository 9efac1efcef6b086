// MNN's pool of threads. There is one for the whole process, with the size and on the cores of whoever asked first: a
// model that wants more threads later would get fewer without a word, and on somebody else's cores.
#pragma once

#include <vector>

#include "types.hpp"

namespace as2d {

/// How many threads, the model's own included, on which cores.
struct PoolShape {
    Count threads = 1;
    std::vector<Count> cores;

    bool operator==(const PoolShape& other) const { return threads == other.threads && cores == other.cores; }
    bool operator!=(const PoolShape& other) const { return !(*this == other); }
};

/// Ends MNN's pool, and starts one of this shape. No model may be loaded meanwhile. An MNN that was built without a pool
/// starts its threads itself.
void make_thread_pool(const PoolShape& shape);

}  // namespace as2d
