#include "engines/mnn_model.hpp"

#include <MNN/Interpreter.hpp>
#include <MNN/expr/Executor.hpp>
#include <MNN/expr/Expr.hpp>
#include <MNN/expr/ExprCreator.hpp>
#include <algorithm>
#include <llm/llm.hpp>

#include "clock.hpp"
#include "engines/logits.hpp"
#include "json/writer.hpp"

namespace as2d {
namespace {

using MNN::Transformer::Llm;

constexpr const char* prompt_head = "<|im_start|>system\n<|im_end|>\n<|im_start|>user\n<audio>audio_0</audio>";
constexpr const char* prompt_tail = "<|im_end|>\n<|im_start|>assistant\n";
constexpr const char* end_of_turn = "<|im_end|>";
constexpr std::size_t most_prompt_tokens = 4096;

/// Settings of MNN, those included that are not a model's to choose: others round keys and values, draft, or write a
/// cache wherever the model's config says. 8 is MNN's default: exact attention.
std::string config_of(const MnnSettings& settings) {
    return json::to_string(json::Members{{"backend_type", settings.backend},
                                         {"thread_num", settings.threads},
                                         {"precision", settings.precision},
                                         {"memory", settings.memory},
                                         {"all_logits", true},
                                         {"async", false},
                                         {"reuse_kv", true},
                                         {"sampler_type", "greedy"},
                                         {"attention_mode", 8},
                                         {"quant_qkv", 8},
                                         {"speculative_type", ""},
                                         {"use_mmap", false},
                                         {"kvcache_mmap", false},
                                         {"use_cached_mmap", false},
                                         {"tmp_path", ""}});
}

/// MNN falls back to the CPU without a word: whether a backend is really there is asked before.
void check_backend(const std::string& backend) {
    if (backend == "cpu") return;
    bool there = false;
    if (backend == "opencl") {
        MNN::ScheduleConfig config;
        config.numThread = 1;  // more would start MNN's pool of threads
        const std::shared_ptr<MNN::Express::Executor::RuntimeManager> manager(
            MNN::Express::Executor::RuntimeManager::createRuntimeManager(config),
            MNN::Express::Executor::RuntimeManager::destroy);
        const auto found = manager->isBackendSupport({MNN_FORWARD_OPENCL});
        there = !found.empty() && found.front();
    }
    if (!there) {
        throw ModelError(
            "The backend '" + backend +
            "' is not in this build, or not on this device; MNN would silently run on the CPU. Choose cpu.");
    }
}

}  // namespace

struct MnnModel::Held {
    MNN::Express::VARP logits;
};

void MnnModel::Destroy::operator()(Llm* llm) const {
    Llm::destroy(llm);
}

MnnModel::MnnModel(ModelFolder folder, MnnSettings settings)
    : folder_(std::move(folder)), settings_(std::move(settings)), held_(new Held) {
    check_backend(settings_.backend);
    const Nanoseconds start_ns = DeviceClock::now();
    llm_.reset(Llm::createLLM(folder_.path + "/config.json"));
    if (llm_ == nullptr || !llm_->set_config(config_of(settings_)) || !llm_->load()) {
        throw ModelError("MNN could not load " + folder_.name +
                         "; the model files may be damaged or of a newer MNN; copy them again, or export them for "
                         "MNN 3.6.1.");
    }
    loaded_ = {start_ns, DeviceClock::now()};
    const Tokens ids = llm_->tokenizer_encode(end_of_turn);
    if (ids.size() != 1) {
        throw ModelError("The tokenizer of " + folder_.name + " has no " + end_of_turn +
                         " token; the prompt form does not fit.");
    }
    eos_ = ids.front();
}

MnnModel::~MnnModel() = default;

void MnnModel::warm_up(const std::vector<Count>& widths) {
    bool any_new = false;
    for (const Count width : widths) {
        if (is_warm(width)) continue;
        run(Tokens(static_cast<std::size_t>(width), eos_));
        warm_.insert(width);
        any_new = true;
    }
    if (any_new) clear();
}

void MnnModel::clear() {
    llm_->reset();
    audio_length_ = prompt_length_ = logical_ = physical_ = 0;
    first_.reset();
}

Tokens MnnModel::instruction_ids(const std::string& instruction) {
    Tokens ids = llm_->tokenizer_encode(instruction + prompt_tail);
    forget_positions();
    return ids;
}

MnnModel::Heard MnnModel::hear(const std::vector<float>& samples) {
    clear();
    const Nanoseconds start_ns = DeviceClock::now();
    MNN::Transformer::MultimodalPrompt prompt;
    prompt.prompt_template = prompt_head;
    // The filter bank reads the waveform as NHWC; NCHW would break it.
    prompt.audios["audio_0"].waveform = MNN::Express::_Const(samples.data(), {static_cast<int>(samples.size())},
                                                             MNN::Express::NHWC, halide_type_of<float>());
    const Tokens ids = llm_->tokenizer_encode(prompt);
    const Nanoseconds encoded_ns = DeviceClock::now();
    if (std::find(ids.begin(), ids.end(), folder_.audio_pad) == ids.end()) {
        throw EngineError(folder_.name + " took no audio: its prompt holds no audio positions.");
    }
    if (ids.size() > most_prompt_tokens) {
        throw EngineError("The audio becomes " + std::to_string(ids.size()) + " positions, more than 4096.");
    }
    run(ids);
    const Nanoseconds end_ns = DeviceClock::now();
    audio_length_ = prompt_length_ = logical_ = physical_ = static_cast<Count>(ids.size());
    forget_positions();
    return {{start_ns, encoded_ns}, {encoded_ns, end_ns}};
}

void MnnModel::read(const std::string& text) {
    clear();
    const Tokens ids = llm_->tokenizer_encode(text);
    const Logits logits = run(ids);
    audio_length_ = prompt_length_ = logical_ = physical_ = static_cast<Count>(ids.size());
    forget_positions();
    first_ = predict(logits.row(logits.rows - 1), logits.vocabulary);
}

Timed MnnModel::instruct(const Tokens& ids) {
    if (audio_length_ == 0) throw EngineError("The instruction came before the audio; hear the audio first.");
    prompt_length_ = logical_ = audio_length_;
    const Nanoseconds start_ns = DeviceClock::now();
    const Logits logits = append(ids);
    const Nanoseconds end_ns = DeviceClock::now();
    prompt_length_ = logical_;
    first_ = predict(logits.row(logits.rows - 1), logits.vocabulary);
    return {start_ns, end_ns};
}

Prediction MnnModel::first() const {
    if (!first_) throw EngineError("Nothing has been prefilled yet.");
    return *first_;
}

Rows MnnModel::forward(const Tokens& tokens) {
    Rows rows{{}, DeviceClock::now(), 0};
    const Logits logits = append(tokens);
    rows.end_ns = DeviceClock::now();
    for (std::size_t i = 0; i < logits.rows; ++i) rows.predictions.push_back(predict(logits.row(i), logits.vocabulary));
    return rows;
}

Call MnnModel::greedy(const Tokens& tokens) {
    Call call{{}, DeviceClock::now(), 0, static_cast<Count>(tokens.size())};
    const Logits logits = append(tokens);
    call.end_ns = DeviceClock::now();
    for (std::size_t i = 0; i < logits.rows; ++i) call.greedy.push_back(best(logits.row(i), logits.vocabulary));
    return call;
}

std::vector<Nanoseconds> MnnModel::time_confidence(Count repetitions) {
    keep(0);
    const Logits logits = append({first().token});
    std::vector<Nanoseconds> times;
    for (Count i = 0; i < repetitions; ++i) {
        const Nanoseconds start_ns = DeviceClock::now();
        predict(logits.row(0), logits.vocabulary);
        times.push_back(DeviceClock::now() - start_ns);
    }
    keep(0);
    return times;
}

std::vector<std::vector<float>> MnnModel::logits(const Tokens& tokens) {
    const Logits logits = append(tokens);
    std::vector<std::vector<float>> rows;
    for (std::size_t i = 0; i < logits.rows; ++i) {
        best(logits.row(i), logits.vocabulary);  // refuses what are no numbers
        rows.emplace_back(logits.row(i), logits.row(i) + logits.vocabulary);
    }
    return rows;
}

void MnnModel::keep(Count generated) {
    const Count length = prompt_length_ + generated;
    if (generated < 0 || length > logical_) {
        throw EngineError("Cannot keep " + std::to_string(generated) + " output tokens: only " +
                          std::to_string(this->generated()) + " are in the cache.");
    }
    logical_ = length;
}

std::string MnnModel::piece(Token token) const {
    return llm_->tokenizer_decode(token);
}

MnnModel::Logits MnnModel::append(const Tokens& tokens) {
    // One erase for each forward: a second would replace the first, so it happens here and only here.
    if (physical_ > logical_) llm_->eraseHistory(static_cast<std::size_t>(logical_), 0);
    const Logits logits = run(tokens);
    logical_ += static_cast<Count>(tokens.size());
    physical_ = logical_;
    return logits;
}

MnnModel::Logits MnnModel::run(const Tokens& tokens) {
    // MNN after 3.6.1 counts decode positions as generated length + last position of what was encoded last, be it only
    // looked up, and adds 1 for each forward, whatever its width; 3.6.1 reads the length of the cache, and only asks
    // whether this is prefill (0) or not.
    auto* context = const_cast<MNN::Transformer::LlmContext*>(llm_->getContext());
    if (context->gen_seq_len > 0 && audio_length_ > 0) {
        context->gen_seq_len = static_cast<int>(logical_ - encoded_position_);
    }
    held_->logits = llm_->forward(tokens);
    const auto* info = held_->logits == nullptr ? nullptr : held_->logits->getInfo();
    if (info == nullptr || info->dim.size() != 3 || info->dim[1] != static_cast<int>(tokens.size())) {
        throw EngineError(folder_.name + " returned not one row of logits for each of " +
                          std::to_string(tokens.size()) + " tokens; the backend does not compute all rows.");
    }
    return {held_->logits->readMap<float>(), tokens.size(), static_cast<std::size_t>(info->dim[2])};
}

void MnnModel::forget_positions() {
    const Tokens ids = llm_->tokenizer_encode(std::string());
    encoded_position_ = ids.empty() ? 0 : static_cast<Count>(ids.size()) - 1;
}

Token MnnModel::best(const float* row, std::size_t vocabulary) const {
    // Audio positions are left out: to feed one without its audio crashes MNN, so none is ever proposed.
    const auto token = greedy_token(row, vocabulary, static_cast<std::size_t>(folder_.audio_pad));
    if (!token) {
        throw EngineError(folder_.name +
                          " computes values that are no numbers; its weights are damaged, or this precision is too "
                          "low for it. Copy or export the model again.");
    }
    return *token;
}

Prediction MnnModel::predict(const float* row, std::size_t vocabulary) const {
    const Token token = best(row, vocabulary);
    return {token, greedy_probability(row, vocabulary, static_cast<std::size_t>(folder_.audio_pad), token)};
}

}  // namespace as2d
