// What a request line can do to the runner: it is read, checked, and when it holds a script for the virtual clock, run.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "errors.hpp"
#include "records/stream_writer.hpp"
#include "runner/check.hpp"
#include "runner/input.hpp"
#include "runner/script.hpp"
#include "runner/virtual_run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    as2d::Cancellations cancellations;
    const auto item = as2d::read_line(std::string(reinterpret_cast<const char*>(data), size), cancellations);
    if (!item || std::holds_alternative<as2d::Refusal>(*item)) return 0;
    const auto& request = std::get<as2d::Request>(*item);
    try {
        auto script = as2d::script_of(request);
        if (script && !script->on_device_clock) {
            as2d::StreamWriter writer([](std::string_view) {});
            as2d::run_virtually(request, std::move(*script), writer);
        }
        as2d::check_request(request);
    } catch (const as2d::Error&) {
        // A sentence is what bad input is to become.
    }
    return 0;
}
