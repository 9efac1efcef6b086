#include "runner/width_trial.hpp"

#include <csignal>
#include <istream>
#include <thread>

#include "errors.hpp"
#include "json/reader.hpp"
#include "json/writer.hpp"
#include "runner/script.hpp"
#include "runner/subprocess.hpp"

namespace as2d {
namespace {

constexpr const char* option = "--try-widths";

/// How one process ended, and how far it came.
struct Trial {
    std::optional<Count> widest;
    std::optional<std::string> refusal;
    /// The width that was tried last; 0 = the model was being loaded.
    Count last = 0;
    std::string reason;
};

std::optional<Count> count_of(const json::Object& line, const char* name) {
    const json::Value* value = line.find(name);
    const auto* number = value == nullptr ? nullptr : value->get<std::int64_t>();
    return number == nullptr ? std::nullopt : std::optional<Count>(static_cast<Count>(*number));
}

/// None where no process could be started.
std::optional<Trial> try_once(const std::string& task, std::chrono::seconds patience,
                              const std::function<void(Count)>& trying, const std::function<void()>& go_on) {
    Subprocess process({Subprocess::own_program(), option});
    process.say(task);
    Trial trial;
    auto heard = std::chrono::steady_clock::now();
    bool began = false;
    while (process.speaks()) {
        go_on();
        const auto text = process.next_line(std::chrono::milliseconds(100));
        if (!text) {
            if (std::chrono::steady_clock::now() - heard < patience) continue;
            trial.reason = "it did not answer for " + std::to_string(patience.count()) + " s";
            return trial;
        }
        began = true;
        heard = std::chrono::steady_clock::now();
        const json::Value line = json::parse(*text);
        const auto* said = line.get<json::Object>();
        if (said == nullptr) throw EngineError("The process that tries widths does not speak as it should.");
        trial.widest = count_of(*said, "widest");
        if (const json::Value* error = said->find("error")) trial.refusal = *error->get<std::string>();
        if (const auto width = count_of(*said, "width")) trying(trial.last = *width);
    }
    const Subprocess::Ending ending = process.end();
    if (!began && ending.never_started()) return std::nullopt;
    trial.reason = ending.clause();
    return trial;
}

}  // namespace

Count widest_that_runs(Count widest, const RunWidth& run, const std::function<void(Count)>& trying) {
    for (Count width = 1; width <= widest; ++width) {
        trying(width);
        try {
            run(width);
        } catch (const EngineError&) {
            if (width == 1) throw;
            widest = width - 1;
        }
    }
    trying(0);
    return widest;
}

std::function<void(Count)> marks_of(Recorder& recorder) {
    return [&recorder](Count width) {
        const std::string name = "self-test of width " + std::to_string(width);
        recorder.add(Mark{width > 0 ? name : "every width of the self-test has run", recorder.now_ns()});
    };
}

std::optional<Count> WidthTrials::widest(const Request& request, const std::string& model_sha256,
                                         std::chrono::seconds patience, const std::function<void(Count)>& trying,
                                         const std::function<void()>& go_on) {
    Count twice = 0;
    while (true) {
        const auto known = known_.find(model_sha256);
        const Count most = known == known_.end() ? widest_tested : known->second;
        const std::string task = json::to_string(json::Members{{"request", request.document}, {"widest", most}});
        const auto trial = try_once(task + "\n", patience, trying, go_on);
        if (!trial) return std::nullopt;
        if (trial->refusal) throw ModelError(*trial->refusal);
        if (trial->widest) return trial->widest;
        const Count width = trial->last;
        const std::string stage = width == 0 ? "loading the model" : "trying width " + std::to_string(width);
        const bool elsewhere = twice != 0 && twice != width;  // then it is not the width
        if (width <= 1 || elsewhere) {
            throw EngineError("The process that tries the target's widths ended while it was " + stage + ": " +
                              trial->reason + ".");
        }
        if (width == twice) known_[model_sha256] = width - 1;
        twice = width == twice ? 0 : width;
    }
}

int try_widths(std::istream& in, std::FILE* out, const std::function<RunWidth(const Request&)>& open) {
    const auto say = [out](const char* name, json::Value value) {
        std::fprintf(out, "%s\n", json::to_string(json::Members{{name, std::move(value)}}).c_str());
        std::fflush(out);
    };
    std::string line;
    std::getline(in, line);
    // Whoever asked is gone when its end closes: nobody waits for the answer then.
    std::thread([&in] {
        in.get();
        std::_Exit(1);
    }).detach();
    int code = 0;
    try {
        const json::Value task = json::parse(line);
        const auto* body = task.get<json::Object>();
        const json::Value* asked = body == nullptr ? nullptr : body->find("request");
        if (asked == nullptr) throw FormatError("A trial of widths needs a request.");
        const Request request = request_from_json(*asked);
        const auto script = script_of(request);
        const RunWidth run = !script ? open(request) : [&script](Count width) {
            if (script->deadly_width && width >= *script->deadly_width) std::raise(SIGKILL);
        };
        const auto trying = [&say](Count width) { say("width", width); };
        say("widest", widest_that_runs(count_of(*body, "widest").value_or(widest_tested), run, trying));
    } catch (const Error& error) {
        say("error", error.what());
        code = 1;
    }
    std::_Exit(code);  // models are not taken down: nobody needs what that would free
}

}  // namespace as2d
