// A graph is a flatbuffer of MNN's schema (Net, Op, Convolution2D, LayerNorm), read here only as far as its weights
// outside of it go. They are named by lists of 64-bit integers: an offset, then the sizes of what lies there one after
// the other.
#include "runner/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "errors.hpp"

namespace as2d {
namespace {

using Place = std::size_t;

constexpr unsigned operators_field = 3;
constexpr unsigned main_type_field = 1;
constexpr unsigned main_field = 2;
constexpr std::uint8_t convolution = 9;
constexpr std::uint8_t layer_normalization = 88;

/// The three rules of a flatbuffer: forward offsets, tables with a list of their fields, vectors. Throws FormatError
/// where one leads out of the file.
class Tables {
public:
    explicit Tables(std::string_view graph) : graph_(graph) {}

    template <typename Number>
    Number number(Place at) const {
        if (at > graph_.size() || graph_.size() - at < sizeof(Number)) throw FormatError("an offset leaves the file");
        std::make_unsigned_t<Number> value = 0;
        for (std::size_t i = sizeof(Number); i-- > 0;) {
            value = static_cast<decltype(value)>(value << 8 | static_cast<std::uint8_t>(graph_[at + i]));
        }
        return static_cast<Number>(value);
    }

    /// Where the offset that lies at a place points to.
    Place target(Place at) const { return at + number<std::uint32_t>(at); }

    /// Where a field of a table lies; none when the table does not have it.
    std::optional<Place> field(Place table, unsigned index) const {
        const auto fields = static_cast<std::int64_t>(table) - number<std::int32_t>(table);
        if (fields < 0) throw FormatError("an offset points before the file");
        const auto list = static_cast<Place>(fields);
        const Place place = 4 + 2 * Place{index};
        if (place >= number<std::uint16_t>(list)) return std::nullopt;
        const auto offset = number<std::uint16_t>(list + place);
        return offset == 0 ? std::nullopt : std::optional(table + offset);
    }

    /// Entries of the vector at a place.
    std::size_t count(Place at, std::size_t entry_bytes) const {
        const std::size_t entries = number<std::uint32_t>(at);
        if (entries > graph_.size() / entry_bytes) throw FormatError("a vector is longer than the file");
        return entries;
    }

private:
    std::string_view graph_;
};

/// The end of what a list of an offset and sizes names; 0 for what is no such list.
std::uint64_t end_of(const Tables& tables, Place list) {
    const std::size_t entries = tables.count(list, sizeof(std::int64_t));
    std::uint64_t end = 0;
    bool is_whole = entries > 1;
    for (std::size_t i = 0; i < entries; ++i) {
        const auto part = tables.number<std::int64_t>(list + 4 + sizeof(std::int64_t) * i);
        is_whole = is_whole && part >= 0;
        end += static_cast<std::uint64_t>(part);
    }
    return is_whole ? end : 0;
}

}  // namespace

std::optional<std::uint64_t> weight_bytes(std::string_view graph) {
    try {
        const Tables tables(graph);
        const auto list = tables.field(tables.target(0), operators_field);
        if (!list) return std::nullopt;
        std::uint64_t least = 0;
        const Place operators = tables.target(*list);
        const std::size_t count = tables.count(operators, sizeof(std::uint32_t));
        for (std::size_t i = 0; i < count; ++i) {
            const Place table = tables.target(operators + 4 + sizeof(std::uint32_t) * i);
            const auto kind = tables.field(table, main_type_field);
            const auto main = tables.field(table, main_field);
            if (!kind || !main) continue;
            const auto type = tables.number<std::uint8_t>(*kind);
            if (type != convolution && type != layer_normalization) continue;
            const auto outside = tables.field(tables.target(*main), type == convolution ? 6 : 5);
            if (outside) least = std::max(least, end_of(tables, tables.target(*outside)));
        }
        return least;
    } catch (const FormatError&) {
        return std::nullopt;
    }
}

}  // namespace as2d
