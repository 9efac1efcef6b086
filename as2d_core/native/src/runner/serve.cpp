#include "runner/serve.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "clock.hpp"
#include "errors.hpp"
#include "runner/cores.hpp"
#include "runner/engine_factory.hpp"
#include "runner/input.hpp"
#include "runner/measured_run.hpp"
#include "runner/output.hpp"
#include "runner/script.hpp"
#include "runner/scripted_session.hpp"
#include "runner/virtual_run.hpp"

namespace as2d {
namespace {

/// Signals cancel everything; a handler can reach nothing but what is global.
Cancellations& cancellations() {
    static Cancellations instance;
    return instance;
}

extern "C" void cancel_everything(int) {
    cancellations().cancel_all();
}

/// Whether no further run of its batch may be measured after it.
bool is_last(const Ending& ending) {
    return std::any_of(ending.extra.begin(), ending.extra.end(),
                       [](const auto& item) { return item.first == stops_batch; });
}

class Server {
public:
    explicit Server(Output out) : out_(out) {}

    /// Returns what the run's end line says.
    Ending run(const Request& request) {
        auto patience = reader_patience;
        StreamWriter writer([&](std::string_view line) { out_.write(line, patience); });
        try {
            auto script = script_of(request);
            if (script && script->reader_patience) patience = *script->reader_patience;
            if (!script) return run_models(request, writer);
            if (!script->on_device_clock) return run_virtually(request, std::move(*script), writer);
            const auto began = std::chrono::steady_clock::now();
            std::optional<ScriptedSensors> sensors;
            if (script->sensors) {
                const auto elapsed_s = [began] {
                    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
                };
                sensors.emplace(std::move(*script->sensors), elapsed_s, &DeviceClock::now);
            }
            scripted_ = std::make_unique<ScriptedSession>(std::move(*script));
            Ending ending = measured(request, *scripted_, sensors ? *sensors : sensors_, writer);
            if (!scripted_->stuck()) scripted_.reset();
            return ending;
        } catch (const OutputLost&) {
            throw;
        } catch (const std::exception& error) {
            return refuse_run(request, "measured", error.what(), writer);
        }
    }

    /// Whether the process must end: a thread of a session answers no more.
    bool stuck() const {
        return (models_ != nullptr && models_->stuck()) || (scripted_ != nullptr && scripted_->stuck());
    }

private:
    Ending run_models(const Request& request, StreamWriter& writer) {
        if (models_ == nullptr) models_ = open_model_session();
        return measured(request, *models_, sensors_, writer);
    }

    static Ending measured(const Request& request, Session& session, const Sensors& sensors, StreamWriter& writer) {
        return run_measured(request, session, sensors, writer, [&] { return cancellations().wanted(request.run_id); });
    }

    Output out_;
    Sensors sensors_;
    std::unique_ptr<Session> models_;
    /// The scripted run that is going on, or one whose thread answers no more: it would be waited for without end.
    std::unique_ptr<Session> scripted_;
};

}  // namespace

int serve(std::istream& requests, std::FILE* out, bool whole_batch) {
    Input input(cancellations());  // what the handler reaches is there before it can be called
    std::signal(SIGINT, cancel_everything);
    std::signal(SIGTERM, cancel_everything);
    std::signal(SIGPIPE, SIG_IGN);
    // Never joined: it may wait for standard input for ever, and the process ends without asking it.
    std::thread([&] { input.read(requests); }).detach();
    Server server{Output(fileno(out))};
    int code = 0;
    try {
        while (auto item = input.next()) {
            if (const auto* refusal = std::get_if<Refusal>(&*item)) {
                std::fprintf(stderr, "%s\n", refusal->sentence.c_str());
                code = 2;
                continue;
            }
            const auto& request = std::get<Request>(*item);
            const Ending ending = server.run(request);
            cancellations().forget(request.run_id);
            if (ending.status != "eos" && ending.status != "capped" && code == 0) code = 1;
            if (whole_batch && is_last(ending)) {
                std::fprintf(stderr, "The rest of the batch is not run. %s\n", ending.error.value_or("").c_str());
                break;
            }
            if (server.stuck()) {
                std::fprintf(stderr, "The drafter's thread answers no more, so the runner ends; start it again.\n");
                break;
            }
        }
    } catch (const OutputLost& error) {
        std::fprintf(stderr, "%s\n", error.what());
        code = 1;
    }
    std::fflush(stderr);
    std::_Exit(code);
}

}  // namespace as2d
