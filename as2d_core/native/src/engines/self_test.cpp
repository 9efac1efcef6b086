#include "engines/self_test.hpp"

#include <MNN/Interpreter.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "errors.hpp"

namespace as2d {
namespace {

using Row = std::vector<float>;
using RowList = std::vector<Row>;

/// Generated tokens in the cache when a width is tried; odd and even, short and long.
constexpr std::array<Count, 8> offsets{0, 1, 6, 15, 31, 33, 64, 80};
constexpr std::array<Count, 4> step_candidates{1, 2, 3, 4};
constexpr const char* sentence = "turn left at the library and walk to the station. ";

Token top_of(const Row& row) {
    return static_cast<Token>(std::max_element(row.begin(), row.end()) - row.begin());
}

class Tester {
public:
    Tester(MnnModel& model, Count widest) : model_(model), widest_(widest) {
        std::string prompt;
        for (int i = 0; i < 5; ++i) prompt += sentence;
        model_.read(prompt);
        make_continuation();
    }

    /// Every row of sequential decoding at width `step`.
    RowList sequential(Count step) {
        model_.keep(0);
        RowList rows;
        for (Count i = 0; i < length(); ++i) rows.push_back(one(i, step));
        return rows;
    }

    /// Widths that reproduce the rows of sequential decoding at width `step`, bit for bit.
    std::set<Count> exact_widths(Count step, const RowList& sequential,
                                 const std::function<void(Count, Count, const RowList&)>& seen) {
        std::set<Count> exact;
        for (Count width = step; width <= widest_; ++width) exact.insert(width);
        Count before = 0;
        for (const Count offset : offsets) {
            rebuild(before, offset, step);
            before = offset;
            for (Count width = 1; width <= widest_; ++width) {
                model_.keep(offset);
                RowList rows = model_.logits(slice(offset, width));
                seen(width, offset, rows);
                rows.push_back(one(offset + width, step));
                if (!std::equal(rows.begin(), rows.end(), sequential.begin() + offset)) exact.erase(width);
            }
        }
        return exact;
    }

private:
    Count length() const { return static_cast<Count>(tokens_.size()); }

    Tokens slice(Count from, Count count) const {
        return Tokens(tokens_.begin() + from, tokens_.begin() + from + count);
    }

    /// Greedy tokens after the prompt.
    void make_continuation() {
        // An early EOS would end the text, so it is replaced: the kernels do not care what tokens mean.
        tokens_ = {model_.first().token};
        while (length() < offsets.back() + widest_ + 1) {
            const Token token = top_of(model_.logits({tokens_.back()}).front());
            tokens_.push_back(token != model_.eos() ? token : tokens_[tokens_.size() / 2]);
        }
    }

    /// Row `index` of sequential decoding; the cache holds the `index` tokens before it.
    Row one(Count index, Count step) {
        Tokens fed(static_cast<std::size_t>(step), model_.eos());
        fed.front() = tokens_[static_cast<std::size_t>(index)];
        Row row = std::move(model_.logits(fed).front());
        model_.keep(index + 1);
        return row;
    }

    /// Cache = prompt and `offset` tokens, each from a step; the first `clean` of them are so already. What lies behind
    /// those came from whichever width was tried last.
    void rebuild(Count clean, Count offset, Count step) {
        model_.keep(clean);
        for (Count i = clean; i < offset; ++i) one(i, step);
    }

    MnnModel& model_;
    Count widest_;
    Tokens tokens_;
};

std::vector<Count> as_list(const std::set<Count>& widths) {
    return {widths.begin(), widths.end()};
}

}  // namespace

SelfTest find_exact_widths(MnnModel& model, const std::string& cpu, Count widest, const std::function<void()>& go_on) {
    std::vector<Count> all;
    for (Count width = 1; width <= widest; ++width) all.push_back(width);
    model.warm_up(all);
    Tester tester(model, widest);
    SelfTest report{};
    for (const Count width : all) report.argmax_differences[width] = 0;
    std::map<Count, std::set<Count>> classes{{1, {1}}};
    RowList plain;
    for (const Count step : step_candidates) {
        const RowList sequential = tester.sequential(step);
        if (plain.empty()) plain = sequential;
        const auto seen = [&](Count width, Count offset, const RowList& rows) {
            report.rows += width;
            if (step != step_candidates.front()) return;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const Row& wanted = plain[static_cast<std::size_t>(offset) + i];
                report.argmax_differences[width] += top_of(rows[i]) != top_of(wanted);
            }
        };
        const std::set<Count> exact = tester.exact_widths(step, sequential, seen);
        // A step of several rows must also verify as many; else two widths would go by one number.
        if (exact.count(step) > 0) classes[step] = exact;
        go_on();
        if (classes.count(step) > 0 && static_cast<Count>(exact.size()) > widest / 2) break;
    }
    // The most widths; of equally many, the narrowest step.
    auto chosen = classes.begin();
    for (auto at = classes.begin(); at != classes.end(); ++at) {
        if (at->second.size() > chosen->second.size()) chosen = at;
    }
    model.clear();
    report.model_sha256 = model.folder().sha256;
    report.exact_widths = as_list(chosen->second);
    report.grade = report.exact_widths.size() > 1 ? "bit-equal" : "plain only";
    for (const auto& [step, widths] : classes) {
        if (std::find(report.classes.begin(), report.classes.end(), as_list(widths)) == report.classes.end()) {
            report.classes.push_back(as_list(widths));
        }
    }
    report.extra = {{"cpu", cpu},
                    {"mnn_version", MNN::getVersion()},
                    {"threads", model.settings().threads},
                    {"precision", model.settings().precision},
                    {"memory", model.settings().memory},
                    {"step", chosen->first}};
    return report;
}

}  // namespace as2d
