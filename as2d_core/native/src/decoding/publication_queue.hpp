// The way from the producer's thread to the target's: first in, first out, and nobody ever waits.
#pragma once

#include <atomic>
#include <optional>
#include <utility>

namespace as2d {

/// A queue for exactly one thread that pushes and one that pops. Both always finish in a bounded number of steps,
/// whatever the other one does: a producer that is put to sleep in the middle of a push delays no round of the target.
template <typename Item>
class PublicationQueue {
public:
    PublicationQueue() : oldest_(new Node), newest_(oldest_) {}
    PublicationQueue(const PublicationQueue&) = delete;
    PublicationQueue& operator=(const PublicationQueue&) = delete;

    ~PublicationQueue() {
        while (oldest_ != nullptr) delete std::exchange(oldest_, oldest_->next.load(std::memory_order_relaxed));
    }

    /// Producer only. What was written before is visible to whoever pops the item.
    void push(Item item) {
        auto* node = new Node;
        node->item.emplace(std::move(item));
        newest_->next.store(node, std::memory_order_release);
        newest_ = node;
    }

    /// Consumer only: the next item, or none when nothing has been published since.
    std::optional<Item> pop() {
        Node* next = oldest_->next.load(std::memory_order_acquire);
        if (next == nullptr) return std::nullopt;
        std::optional<Item> item = std::move(next->item);
        next->item.reset();
        delete std::exchange(oldest_, next);  // the emptied node stays as the new beginning
        return item;
    }

private:
    struct Node {
        std::optional<Item> item;
        std::atomic<Node*> next{nullptr};
    };

    Node* oldest_;  // the consumer's
    Node* newest_;  // the producer's
};

}  // namespace as2d
