#include "runner/mnn_session.hpp"

#include <MNN/Interpreter.hpp>
#include <algorithm>
#include <fstream>

#include "engines/self_test.hpp"
#include "errors.hpp"
#include "json/utf8.hpp"
#include "runner/check.hpp"
#include "runner/device.hpp"
#include "runner/engine_factory.hpp"

namespace as2d {
namespace {

constexpr std::chrono::seconds load_deadline{120};
/// A GPU's driver compiles kernels at the first use of every width.
constexpr std::chrono::seconds compile_deadline{900};
constexpr std::chrono::seconds prefill_deadline{60};
constexpr std::chrono::microseconds awake{50'000};
constexpr Count widest_refresh = 25;

MnnSettings settings_of(const Request& request, Count threads, const std::string& backend) {
    return {threads, request.precision, request.memory, backend};
}

bool share_a_core(const std::vector<Count>& a, const std::vector<Count>& b) {
    return std::any_of(a.begin(), a.end(), [&](Count core) { return std::find(b.begin(), b.end(), core) != b.end(); });
}

/// Memory of this process in bytes, at its peak and now, as the kernel counts it.
Extra memory_facts() {
    Extra facts;
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        const bool peak = line.rfind("VmHWM:", 0) == 0;
        if (!peak && line.rfind("VmRSS:", 0) != 0) continue;
        facts.emplace_back(peak ? "peak_memory_bytes" : "memory_bytes", std::int64_t{std::stol(line.substr(6))} * 1024);
    }
    return facts;
}

Count widest_of(const Request& request) {
    if (request.method == "sd") return *request.width;
    if (request.method == "specasr") return *request.draft_cap + 1;
    return request.method == "as2d" ? *request.budget + 1 : 1;
}

}  // namespace

std::unique_ptr<Session> open_model_session() {
    return std::make_unique<MnnSession>();
}

json::Members engine_versions() {
    return {{"mnn", MNN::getVersion()}};
}

std::vector<std::string> engine_backends() {
#ifdef AS2D_OPENCL
    return {"cpu", "opencl"};
#else
    return {"cpu"};
#endif
}

RunWidth open_width_trial(const Request& request) {
    const Placement& placement = request.placement;
    bind_cores(placement.target_cores);
    auto model = std::make_shared<MnnModel>(describe_model(request.target.path),
                                            settings_of(request, placement.target_threads, placement.backend));
    return [model](Count width) { model->warm_up({width}); };
}

MnnSession::~MnnSession() {
    drop_drafter();
}

void MnnSession::complete(Request& request) {
    target_folder_ = describe_model(request.target.path);
    set_field(request.document, "target.sha256", target_folder_->sha256);
    if (request.target.name.empty()) set_field(request.document, "target.name", target_folder_->name);
    drafter_folder_.reset();
    if (request.method != "target-only") {
        drafter_folder_ = describe_model(request.drafter->path);
        check_pair(*target_folder_, *drafter_folder_);
        set_field(request.document, "drafter.sha256", drafter_folder_->sha256);
        if (request.drafter->name.empty()) set_field(request.document, "drafter.name", drafter_folder_->name);
    }
    audio_ = read_audio(request.audio);
    set_field(request.document, "audio.sha256", audio_->sha256);
    set_field(request.document, "audio.duration_s", audio_->duration_s);
    if (!request.audio.view_end_s) {
        set_field(request.document, "audio.view_end_s", request.audio.view_start_s + audio_->duration_s);
    }
    const Placement& placement = request.placement;
    cores_ = choose_cores({placement.target_cores, placement.drafter_cores}, placement.target_threads,
                          placement.drafter_threads);
    set_field(request.document, "placement.target_cores", as_json(cores_.target));
    set_field(request.document, "placement.drafter_cores", as_json(cores_.drafter));
}

void MnnSession::prepare(const Request& request, StreamRecorder& recorder) {
    const auto stop_if_cancelled = [&] {
        if (recorder.cancelled()) throw CancelledError();
    };
    const Loaded target = target_of(request);
    make_room(request, target);
    take_given_widths(request, target);
    std::optional<std::vector<Count>> widths = known_widths(request, target);
    std::optional<Count> widest;
    if (!widths) {
        drop_target();  // two of it at once may be more than a phone's memory holds
        widest = widest_elsewhere(request, recorder);
    }
    if (model_ == nullptr) load_target(target, recorder);
    recorder.set_piece([this](Token token) { return model_->piece(token); });
    if (!widths) widths = test_widths(widest, recorder);
    use_widths(*widths, request);
    stop_if_cancelled();
    if (drafter_folder_) load_drafter(request, recorder);
    policy_->pad(widest_of(request));  // refuses a request whose widest verification would not be exact here
    const bool plain = request.plain_step && request.method == "target-only";
    recorder.add(
        facts_of("target", *model_, target_key_, target_cores_, plain ? std::vector<Count>{1} : policy_->widths()));
    if (drafter_folder_) recorder.add(facts_of("drafter", *drafter_->model, drafter_->key, drafter_->cores, {1}));
    stop_if_cancelled();
    hear(request, recorder);
    padded_ = std::make_unique<PaddedTarget>(*model_, *policy_, request.plain_step);
}

MnnSession::Loaded MnnSession::target_of(const Request& request) const {
    const Placement& placement = request.placement;
    return {target_folder_->sha256, settings_of(request, placement.target_threads, placement.backend), cores_.target};
}

MnnSession::Loaded MnnSession::drafter_of(const Request& request) const {
    const Placement& placement = request.placement;
    const std::string backend = placement.drafter_backend.value_or(placement.backend);
    return {drafter_folder_->sha256, settings_of(request, placement.drafter_threads, backend), cores_.drafter};
}

void MnnSession::make_room(const Request& request, const Loaded& target) {
    PoolShape pool;
    const auto add = [&pool](const Loaded& model) {
        if (model.settings.backend != "cpu" || model.settings.threads < 2) return;
        if (pool.threads > 1) {
            throw RequestError(
                "MNN has one pool of threads in a process, so only one of the two models can have several threads on "
                "the CPU; give the other one 1, or use the Python runner.");
        }
        pool = {model.settings.threads, model.asked_cores};
    };
    add(target);
    if (drafter_folder_) add(drafter_of(request));
    if (pool.threads > 1 && pool != pool_) {
        drop_target();
        drop_drafter();
        make_thread_pool(pool);
        pool_ = pool;
    }
    if (model_ == nullptr || target_key_ != target) drop_target();
}

/// The threads of a loaded model stay where they were started, so that other cores mean another load.
void MnnSession::drop_target() {
    padded_.reset();
    model_.reset();
    heard_.clear();
}

void MnnSession::load_target(const Loaded& key, Recorder& recorder) {
    target_cores_ = bind_cores(cores_.target);
    model_ = std::make_unique<MnnModel>(*target_folder_, key.settings);
    target_key_ = key;
    recorder.add(Span{"target", "load", model_->loaded().start_ns, model_->loaded().end_ns});
}

void MnnSession::load_drafter(const Request& request, Recorder& recorder) {
    const Loaded key = drafter_of(request);
    if (drafter_ && drafter_->model != nullptr && drafter_->key == key) return;
    drop_drafter();
    drafter_.emplace();
    drafter_->key = key;
    const bool own_cores = !share_a_core(cores_.target, cores_.drafter);
    drafter_->thread = std::make_unique<WorkerThread>(own_cores ? awake : std::chrono::microseconds(0));
    drafter_->thread->call(
        [this, key, folder = *drafter_folder_] {
            drafter_->cores = bind_cores(key.asked_cores);
            drafter_->model = std::make_unique<MnnModel>(folder, key.settings);
            std::vector<Count> widths;
            for (Count width = 1; width <= widest_refresh; ++width) widths.push_back(width);
            drafter_->model->warm_up(widths);
        },
        key.settings.backend == "cpu" ? load_deadline : compile_deadline);
    recorder.add(Span{"drafter", "load", drafter_->model->loaded().start_ns, drafter_->model->loaded().end_ns});
}

void MnnSession::drop_drafter() {
    release();
    paced_.reset();
    if (!drafter_) return;
    // A model ends on the thread that it belongs to.
    if (drafter_->model != nullptr) drafter_->thread->call([this] { drafter_->model.reset(); }, load_deadline);
    drafter_.reset();
}

std::string MnnSession::widths_key(const Loaded& target) {
    return target.sha256 + " " + std::to_string(target.settings.threads) + target.settings.precision +
           target.settings.memory + target.settings.backend;
}

SelfTestSetting MnnSession::setting_of(const Loaded& target) {
    return {target.sha256,           cpu_name(),
            target.settings.threads, target.settings.precision,
            target.settings.memory,  target.settings.backend,
            MNN::getVersion()};
}

void MnnSession::take_given_widths(const Request& request, const Loaded& target) {
    if (request.target.exact_widths.empty()) return;
    std::vector<Count> given = request.target.exact_widths;
    std::sort(given.begin(), given.end());
    exact_widths_[widths_key(target)] = given;
}

std::optional<std::vector<Count>> MnnSession::known_widths(const Request& request, const Loaded& target) const {
    const auto found = exact_widths_.find(widths_key(target));
    if (found != exact_widths_.end()) return found->second;
    const auto folder = self_tests_folder();
    // What a calibration says about widths it has seen itself.
    if (!folder || request.method == "calibrate") return std::nullopt;
    return kept_widths(*folder, setting_of(target), widest_tested);
}

std::optional<Count> MnnSession::widest_elsewhere(const Request& request, StreamRecorder& recorder) {
    const auto go_on = [&] {
        if (recorder.cancelled()) throw CancelledError();
    };
    const auto patience = request.placement.backend == "cpu" ? load_deadline : compile_deadline;
    return trials_.widest(request, target_folder_->sha256, patience, marks_of(recorder), go_on);
}

std::vector<Count> MnnSession::test_widths(std::optional<Count> widest, StreamRecorder& recorder) {
    heard_.clear();
    if (!widest) {
        const auto trying = [mark = marks_of(recorder), &recorder](Count width) {
            mark(width);
            recorder.flush();  // a width that takes this process with it has been named before
        };
        widest = widest_that_runs(widest_tested, [this](Count width) { model_->warm_up({width}); }, trying);
    }
    const SelfTest report = find_exact_widths(*model_, cpu_name(), *widest, [&] {
        if (recorder.cancelled()) throw CancelledError();
    });
    exact_widths_[widths_key(target_key_)] = report.exact_widths;
    recorder.add(report);
    if (const auto folder = self_tests_folder()) keep_widths(*folder, setting_of(target_key_), report.exact_widths);
    return report.exact_widths;
}

void MnnSession::use_widths(const std::vector<Count>& widths, const Request& request) {
    policy_.emplace(widths);
    std::vector<Count> warm = policy_->widths();
    if (request.plain_step) warm.push_back(1);
    if (std::all_of(warm.begin(), warm.end(), [this](Count width) { return model_->is_warm(width); })) return;
    model_->warm_up(warm);
    heard_.clear();
}

void MnnSession::hear(const Request& request, Recorder& recorder) {
    using Heard = std::optional<MnnModel::Heard>;
    // The instruction's own width is warmed up too, which clears the cache.
    const auto listen = [text = request.instruction, &audio = *audio_](MnnModel& model, std::string& heard) -> Heard {
        const auto width = static_cast<Count>(model.instruction_ids(text).size());
        if (!model.is_warm(width)) {
            model.warm_up({width});
            heard.clear();
        }
        if (heard == audio.sha256) return std::nullopt;
        heard.clear();
        const MnnModel::Heard done = model.hear(audio.samples);
        heard = audio.sha256;
        return done;
    };
    std::future<Heard> drafter_heard;
    if (drafter_folder_) {
        drafter_heard = drafter_->thread->submit([this, listen] { return listen(*drafter_->model, drafter_->heard); });
    }
    const auto record = [&recorder](const char* lane, const Heard& heard) {
        if (!heard) return;
        recorder.add(Span{lane, "encode", heard->encode.start_ns, heard->encode.end_ns});
        recorder.add(Span{lane, "prefill", heard->prefill.start_ns, heard->prefill.end_ns});
    };
    const auto deadline = drafter_folder_ && drafter_->key.settings.backend != "cpu" ? compile_deadline : load_deadline;
    try {
        record("target", listen(*model_, heard_));
    } catch (...) {
        if (drafter_heard.valid()) drafter_heard.wait_for(deadline);
        throw;
    }
    if (!drafter_heard.valid()) return;
    drafter_->thread->wait(drafter_heard, deadline);
    record("drafter", drafter_heard.get());
}

void MnnSession::instruct(const Request& request, Recorder& recorder) {
    const auto [done, drafted] = prefill(request.instruction);
    recorder.add(Span{"target", "prefill", done.start_ns, done.end_ns});
    if (drafted) recorder.add(Span{"drafter", "prefill", drafted->start_ns, drafted->end_ns});
}

std::pair<Timed, std::optional<Timed>> MnnSession::prefill(const std::string& instruction) {
    std::future<Timed> drafter_done;
    if (drafter_folder_) {
        drafter_done = drafter_->thread->submit([this, instruction] {
            return drafter_->model->instruct(drafter_->model->instruction_ids(instruction));
        });
    }
    const Timed done = model_->instruct(model_->instruction_ids(instruction));
    if (!drafter_done.valid()) return {done, std::nullopt};
    drafter_->thread->wait(drafter_done, prefill_deadline);
    return {done, drafter_done.get()};
}

std::string MnnSession::drafter_name(const Request& request) const {
    return request.drafter->name.empty() ? drafter_folder_->name : request.drafter->name;
}

Proposer MnnSession::proposer(const Request& request, Recorder& recorder) {
    if (!drafter_folder_) return {};
    paced_ = std::make_unique<PacedModel>(*drafter_->model, request.drafter_pace_ms);
    if (request.method == "as2d") {
        source_ = std::make_unique<ThreadedSource>(*drafter_->thread, *paced_, recorder, drafter_name(request),
                                                   ProducerSettings{request.batch_tokens, request.max_tokens});
        return source_.get();
    }
    serial_ = std::make_unique<ThreadedDrafter>(*drafter_->thread, *paced_);
    return serial_.get();
}

OperationParts MnnSession::parts(const Request& request) {
    paced_ = std::make_unique<PacedModel>(*drafter_->model, request.drafter_pace_ms);
    operations_ =
        std::make_unique<ThreadedOperations>(*drafter_->thread, *drafter_->model, *paced_, drafter_name(request));
    return {*model_, *policy_, *operations_, [this, text = request.instruction] { prefill(text); }};
}

void MnnSession::release() {
    operations_.reset();
    source_.reset();
    serial_.reset();
    // What a run waits for in vain ends it, and this process after it: no thread can be taken away from its work.
    if (drafter_ && !stuck_) stuck_ = !drafter_->thread->stands_still(drain_deadline);
}

std::optional<std::string> MnnSession::text_of(const Tokens& tokens) {
    std::string bytes;
    for (const Token token : tokens) {
        if (token != model_->eos()) bytes += model_->piece(token);
    }
    return json::utf8::replaced(bytes);
}

EngineFacts MnnSession::facts_of(const char* role, const MnnModel& model, const Loaded& key,
                                 const std::vector<Count>& cores, const std::vector<Count>& widths) const {
    return {role,
            model.folder().name,
            model.folder().sha256,
            MNN::getVersion(),
            key.settings.backend,
            key.settings.threads,
            key.settings.precision,
            key.settings.memory,
            cores,
            key.asked_cores,
            widths,
            memory_facts()};
}

}  // namespace as2d
