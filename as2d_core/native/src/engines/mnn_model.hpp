// One MNN audio language model with a hand-kept cache. Only in builds with MNN.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engines/interface.hpp"
#include "errors.hpp"
#include "runner/model_folder.hpp"

namespace MNN::Transformer {
class Llm;
}

namespace as2d {

/// How a model is loaded. The defaults of the files ("low") are not exact; "high" is.
struct MnnSettings {
    Count threads = 1;
    std::string precision = "high";
    std::string memory = "high";
    std::string backend = "cpu";

    bool operator==(const MnnSettings& other) const {
        return threads == other.threads && precision == other.precision && memory == other.memory &&
               backend == other.backend;
    }
    bool operator!=(const MnnSettings& other) const { return !(*this == other); }
};

/// Start and end of one piece of work.
struct Timed {
    Nanoseconds start_ns;
    Nanoseconds end_ns;
};

/// A loaded model. It belongs to the thread that loads it: every call comes from there, except `piece`.
class MnnModel : public VerifyingModel {
public:
    /// Throws ModelError: MNN cannot load it, or does not have the backend that was asked for.
    MnnModel(ModelFolder folder, MnnSettings settings);
    ~MnnModel() override;

    const ModelFolder& folder() const { return folder_; }
    const MnnSettings& settings() const { return settings_; }
    Timed loaded() const { return loaded_; }

    /// Lets MNN allocate for each new width (it clones its module at a first use); clears the cache when there is one.
    void warm_up(const std::vector<Count>& widths);
    bool is_warm(Count width) const { return warm_.count(width) > 0; }
    /// Forgets prompt and output.
    void clear();

    /// Tokens of the part of the prompt that follows the audio.
    Tokens instruction_ids(const std::string& instruction);

    struct Heard {
        Timed encode;
        Timed prefill;
    };
    /// Prefills the audio part of the prompt (background preparation, Appendix A.1). Samples: mono, 16 kHz.
    Heard hear(const std::vector<float>& samples);
    /// Prefills plain text as the whole prompt (self-test).
    void read(const std::string& text);
    /// Prefills the instruction behind the retained audio; may be called again with another one.
    Timed instruct(const Tokens& ids);

    Token eos() const override { return eos_; }
    Prediction first() const override;
    Rows forward(const Tokens& tokens) override;
    void keep(Count generated) override;
    Count generated() const override { return logical_ - prompt_length_; }
    std::vector<Nanoseconds> time_confidence(Count repetitions) override;
    Call greedy(const Tokens& tokens) override;
    /// Appends tokens; the raw rows, one after the other.
    std::vector<std::vector<float>> logits(const Tokens& tokens);

    /// Bytes of one token's text. May be called from another thread than the others.
    std::string piece(Token token) const;

private:
    /// Rows of logits inside MNN's memory: valid until the next forward.
    struct Logits {
        const float* data;
        std::size_t rows;
        std::size_t vocabulary;

        const float* row(std::size_t index) const { return data + index * vocabulary; }
    };

    Logits append(const Tokens& tokens);
    Logits run(const Tokens& tokens);
    /// Lets MNN count from the cache alone, not from a text that it encoded: the next one may be longer than the cache.
    void forget_positions();
    Token best(const float* row, std::size_t vocabulary) const;
    Prediction predict(const float* row, std::size_t vocabulary) const;

    struct Destroy {
        void operator()(MNN::Transformer::Llm* llm) const;
    };

    ModelFolder folder_;
    MnnSettings settings_;
    std::unique_ptr<MNN::Transformer::Llm, Destroy> llm_;
    /// Keeps the last logits alive while they are read.
    struct Held;
    std::unique_ptr<Held> held_;
    Timed loaded_{};
    Token eos_ = 0;
    Count audio_length_ = 0;
    Count prompt_length_ = 0;
    /// Entries of the cache that count, and entries that MNN holds: what lies between is erased before the next
    /// forward.
    Count logical_ = 0;
    Count physical_ = 0;
    /// Last position of what MNN has encoded last.
    Count encoded_position_ = 0;
    std::optional<Prediction> first_;
    std::set<Count> warm_;
};

}  // namespace as2d
