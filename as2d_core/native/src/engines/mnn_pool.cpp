#include "engines/mnn_pool.hpp"

#include <thread>

#include "runner/cores.hpp"

namespace MNN {

/// Exported by MNN, and in none of the headers that it installs.
class ThreadPool {
public:
    __attribute__((weak)) static int init(int threads, unsigned long cores, ThreadPool*& pool);
    __attribute__((weak)) static void destroy();
};

}  // namespace MNN

namespace as2d {

void make_thread_pool(const PoolShape& shape) {
    if (&MNN::ThreadPool::init == nullptr || &MNN::ThreadPool::destroy == nullptr) return;
    // The pool's threads inherit the cores of the one that starts them.
    std::thread([&shape] {
        bind_cores(shape.cores);
        MNN::ThreadPool::destroy();
        MNN::ThreadPool* pool = nullptr;
        MNN::ThreadPool::init(static_cast<int>(shape.threads), 0, pool);
    }).join();
}

}  // namespace as2d
