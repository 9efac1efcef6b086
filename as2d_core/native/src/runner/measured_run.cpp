#include "runner/measured_run.hpp"

#include <exception>

#include "clock.hpp"
#include "collection/observe.hpp"
#include "errors.hpp"
#include "runner/check.hpp"
#include "runner/device.hpp"
#include "runner/gatekeeper.hpp"
#include "version.hpp"

namespace as2d {
namespace {

RunHeader header_of(const Request& request, const char* source) {
    json::Object versions;
    versions.members.emplace_back("as2d", version);
    return {request.run_id,      request.document, device_facts(), versions,
            DeviceClock::name(), wall_time(),      source,         {{"runner", "native"}}};
}

Outcome decode_with(Session& session, const Request& request, Recorder& recorder) {
    Target& target = session.target();
    const Proposer proposer = session.proposer(request, recorder);
    recorder.add(Mark{"decode_start", recorder.now_ns(), target.first_token()});
    return decode(target, proposer, request, recorder);
}

Outcome operate(Session& session, const Request& request, Recorder& recorder, Gatekeeper& gate) {
    const OperationParts parts = session.parts(request);
    recorder.add(Mark{"decode_start", recorder.now_ns(), parts.model.first().token});
    if (request.method == "collect") {
        DeviceWaiting waiting;
        return collect(parts, request, recorder, waiting);
    }
    return calibrate(parts, request, recorder, [&gate](const std::string& what) { gate.wait(what); });
}

Outcome decode_on(Session& session, const Request& request, StreamRecorder& recorder, Gatekeeper& gate) {
    session.prepare(request, recorder);
    if (!is_operation(request.method)) gate.wait("the request");
    if (recorder.cancelled()) throw CancelledError();
    recorder.add(Mark{"request", recorder.now_ns()});
    session.instruct(request, recorder);
    Outcome outcome = is_operation(request.method) ? operate(session, request, recorder, gate)
                                                   : decode_with(session, request, recorder);
    recorder.add(Mark{"eos", outcome.eos_ns});
    recorder.add(Mark{"drained", outcome.end_ns});
    return outcome;
}

/// What a run that lost a core ends with: from then on another device would be measured.
Ending core_lost(const std::vector<Count>& cores, Count tokens) {
    return {"failed",
            tokens,
            std::nullopt,
            "Core " + listed(cores) +
                " went off-line during the run; it was stopped, and so is its batch. Let the device cool down, then go "
                "on.",
            {{stops_batch, true}}};
}

}  // namespace

Ending run_measured(Request request, Session& session, const Sensors& sensors, StreamWriter& writer,
                    const std::function<bool()>& cancelled) {
    Ending ending{"failed"};
    try {
        check_request(request);
        session.complete(request);
    } catch (const std::exception& error) {
        return refuse_run(request, session.source(), error.what(), writer);
    }
    writer.add(header_of(request, session.source()));
    {
        StreamRecorder recorder(writer, cancelled, sensors.any() ? &sensors : nullptr);
        DeviceWaiting waiting;
        Gatekeeper gate(
            request.gates,
            [&] {
                sensors.refresh();
                return DeviceState{sensors.read(), sensors.possible(), sensors.screen_on()};
            },
            waiting, recorder);
        try {
            const Outcome outcome = decode_on(session, request, recorder, gate);
            ending.status = outcome.status;
            ending.tokens = static_cast<Count>(outcome.tokens.size());
            ending.error = outcome.error;
            if (!outcome.tokens.empty()) ending.text = session.text_of(outcome.tokens);
        } catch (const CancelledError&) {
            ending.status = "cancelled";
        } catch (const Error& error) {
            ending.tokens = recorder.committed();
            ending.error = error.what();
        } catch (const std::exception& error) {
            ending.tokens = recorder.committed();
            ending.error = std::string("The engine failed: ") + error.what();
        }
        session.release();
        recorder.finish();
        if (const auto cores = recorder.lost_cores(); !cores.empty()) ending = core_lost(cores, recorder.committed());
    }
    writer.end(ending);
    return ending;
}

Ending refuse_run(const Request& request, const char* source, const std::string& reason, StreamWriter& writer) {
    writer.add(header_of(request, source));
    const Ending ending{"failed", 0, std::nullopt, reason};
    writer.end(ending);
    return ending;
}

}  // namespace as2d
