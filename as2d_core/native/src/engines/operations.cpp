#include "engines/operations.hpp"

#include <algorithm>

namespace as2d {

std::vector<Nanoseconds> time_forwards(CacheModel& model, CacheModel& paced, Count width, Count offset_tokens,
                                       Count repetitions) {
    std::vector<Nanoseconds> times;
    const Tokens filler(static_cast<std::size_t>(width), model.first().token);
    for (Count i = 0; i < repetitions; ++i) {
        model.keep(std::min(offset_tokens, model.generated()));
        while (model.generated() < offset_tokens) model.forward({filler.front()});
        const Rows rows = paced.forward(filler);
        times.push_back(rows.end_ns - rows.start_ns);
    }
    model.keep(0);
    return times;
}

std::vector<Prediction> predict_along(CacheModel& model, const Tokens& tokens) {
    std::vector<Prediction> said{model.first()};
    model.keep(0);
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) said.push_back(model.forward({tokens[i]}).predictions.back());
    model.keep(0);
    return said;
}

std::vector<Nanoseconds> draft_over_and_over(CacheModel& model, Count length_tokens, const std::atomic<bool>& stop) {
    std::vector<Nanoseconds> times;
    while (!stop) {
        model.keep(0);
        Token token = model.first().token;
        for (Count i = 0; i < length_tokens && !stop; ++i) {
            const Rows rows = model.forward({token});
            times.push_back(rows.end_ns - rows.start_ns);
            token = rows.predictions.back().token;
        }
    }
    model.keep(0);
    return times;
}

}  // namespace as2d
