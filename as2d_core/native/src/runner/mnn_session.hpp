// Target and drafter on MNN, each on its own thread with its own executor and cores.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "audio/audio.hpp"
#include "engines/mnn_model.hpp"
#include "engines/mnn_pool.hpp"
#include "engines/padded_target.hpp"
#include "engines/timed.hpp"
#include "runner/cores.hpp"
#include "runner/kept_widths.hpp"
#include "runner/session.hpp"
#include "runner/threaded_operations.hpp"
#include "runner/width_trial.hpp"

namespace as2d {

/// The target runs on the thread that calls; the drafter on a thread of its own. Models and heard audio stay.
class MnnSession : public Session {
public:
    ~MnnSession() override;

    const char* source() const override { return "measured"; }
    void complete(Request& request) override;
    void prepare(const Request& request, StreamRecorder& recorder) override;
    void instruct(const Request& request, Recorder& recorder) override;
    Target& target() override { return *padded_; }
    Proposer proposer(const Request& request, Recorder& recorder) override;
    OperationParts parts(const Request& request) override;
    void release() override;
    std::optional<std::string> text_of(const Tokens& tokens) override;
    bool stuck() const override { return stuck_; }

private:
    /// Which model a thread holds, and how.
    struct Loaded {
        std::string sha256;
        MnnSettings settings;
        std::vector<Count> asked_cores;

        bool operator!=(const Loaded& other) const { return !(*this == other); }
        bool operator==(const Loaded& other) const {
            return sha256 == other.sha256 && settings == other.settings && asked_cores == other.asked_cores;
        }
    };

    /// A drafter and the thread it belongs to.
    struct Drafter {
        std::unique_ptr<WorkerThread> thread;
        std::unique_ptr<MnnModel> model;
        Loaded key;
        std::vector<Count> cores;
        std::string heard;
    };

    Loaded target_of(const Request& request) const;
    Loaded drafter_of(const Request& request) const;
    /// Lets go what another placement would change: models, and MNN's pool of threads.
    void make_room(const Request& request, const Loaded& target);
    void drop_target();
    void load_target(const Loaded& key, Recorder& recorder);
    void load_drafter(const Request& request, Recorder& recorder);
    void drop_drafter();
    /// What exact widths depend on, in this process.
    static std::string widths_key(const Loaded& target);
    /// The same, for other processes of this program.
    static SelfTestSetting setting_of(const Loaded& target);
    void take_given_widths(const Request& request, const Loaded& target);
    /// Exact widths that need no test: given, found in this process, or kept by an earlier one.
    std::optional<std::vector<Count>> known_widths(const Request& request, const Loaded& target) const;
    /// The widest width that runs, found in a process of its own; none where there can be none.
    std::optional<Count> widest_elsewhere(const Request& request, StreamRecorder& recorder);
    std::vector<Count> test_widths(std::optional<Count> widest, StreamRecorder& recorder);
    void use_widths(const std::vector<Count>& widths, const Request& request);
    void hear(const Request& request, Recorder& recorder);
    /// Prefills the instruction in the target and, where there is one, in the drafter.
    std::pair<Timed, std::optional<Timed>> prefill(const std::string& instruction);
    std::string drafter_name(const Request& request) const;
    EngineFacts facts_of(const char* role, const MnnModel& model, const Loaded& key, const std::vector<Count>& cores,
                         const std::vector<Count>& widths) const;

    std::optional<ModelFolder> target_folder_;
    std::optional<ModelFolder> drafter_folder_;
    std::optional<Audio> audio_;
    CoreChoice cores_;

    PoolShape pool_;
    std::unique_ptr<MnnModel> model_;
    Loaded target_key_;
    std::vector<Count> target_cores_;
    std::string heard_;
    /// Given, or found in this process.
    std::map<std::string, std::vector<Count>> exact_widths_;
    WidthTrials trials_;
    std::optional<WidthPolicy> policy_;
    std::unique_ptr<PaddedTarget> padded_;

    std::optional<Drafter> drafter_;
    std::unique_ptr<PacedModel> paced_;
    std::unique_ptr<SerialDrafter> serial_;
    std::unique_ptr<Source> source_;
    std::unique_ptr<ThreadedOperations> operations_;
    bool stuck_ = false;
};

}  // namespace as2d
