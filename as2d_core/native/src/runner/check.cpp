#include "runner/check.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>

#include "calibration/plan.hpp"
#include "errors.hpp"
#include "json/utf8.hpp"
#include "json/writer.hpp"
#include "methods/methods.hpp"
#include "runner/device.hpp"
#include "runner/gatekeeper.hpp"

namespace as2d {
namespace {

constexpr std::size_t longest_instruction = 2000;
constexpr Count most_output_tokens = 4096;
constexpr Count largest_batch = 256;
constexpr double largest_pace_ms = 1000.0;
constexpr Count most_threads = 64;

[[noreturn]] void refuse(const std::string& sentence) {
    throw RequestError(sentence);
}

bool is_blank(const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c) != 0; });
}

/// Whether `text` holds, at `at`, what the models would take for a special token or a media tag.
bool is_command(const std::string& text, std::size_t at) {
    std::string rest;  // small letters, without the spaces behind '<' and '/'
    for (std::size_t i = at + 1; i < text.size() && rest.size() < 8; ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (std::isspace(c) && (rest.empty() || rest == "/")) continue;
        rest += static_cast<char>(std::tolower(c));
    }
    if (!rest.empty() && rest.front() == '|') return true;
    if (!rest.empty() && rest.front() == '/') rest.erase(0, 1);
    for (const std::string_view tag : {"audio", "img", "image", "video"}) {
        const bool ends_there =
            rest.size() <= tag.size() ||
            !(std::isalnum(static_cast<unsigned char>(rest[tag.size()])) || rest[tag.size()] == '_');
        if (rest.compare(0, tag.size(), tag) == 0 && ends_there) return true;
    }
    return false;
}

void check_instruction(const std::string& text) {
    if (is_blank(text)) {
        refuse("The instruction is empty; say what to do with the audio, for example 'transcribe the speech.'");
    }
    const std::size_t characters = json::utf8::characters_of(text);
    if (characters > longest_instruction) {
        refuse("The instruction has " + std::to_string(characters) + " characters; at most 2000 are taken.");
    }
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto c = static_cast<unsigned char>(text[i]);
        const bool is_control = (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
        if (is_control || (c == '<' && is_command(text, i))) {
            // The engine would open the file that a tag names, and crashes on an audio position without audio.
            refuse("The instruction holds a command for the models at byte " + std::to_string(i + 1) +
                   "; write plain text.");
        }
    }
}

void check_level(const char* what, const std::string& level) {
    if (level != "high" && level != "normal" && level != "low") {
        refuse(std::string("The ") + what + " is '" + level + "'; choose high, normal, low.");
    }
}

void check_widths(const ModelRef& model) {
    for (const Count width : model.exact_widths) {
        if (width < 1 || width > largest_width) {
            refuse("The exact width " + std::to_string(width) + " cannot be; widths are 1 to " +
                   std::to_string(largest_width) + ".");
        }
    }
}

void check_within(const char* what, std::optional<Count> value, Count least, const char* why) {
    if (!value) {
        refuse(std::string("The request names no ") + what + "; give a whole number of at least " +
               std::to_string(least) + ".");
    }
    if (*value < least || *value >= largest_width) {
        refuse(std::string("The ") + what + " is " + std::to_string(*value) + "; choose " + std::to_string(least) +
               " to " + std::to_string(largest_width - 1) + " (" + why + ").");
    }
}

void check_method(const Request& request) {
    const auto& names = method_names();
    if (!is_operation(request.method) && std::find(names.begin(), names.end(), request.method) == names.end()) {
        refuse("There is no method named '" + request.method +
               "' in this runner. Known: target-only, sd, specasr, as2d, calibrate, collect.");
    }
    if (request.method == "calibrate") plan_from(*request.document.find("options")->get<json::Object>());
    if (request.method != "target-only" && !request.drafter) {
        refuse("The method " + request.method + " needs a drafter model; name one in the request.");
    }
    if (request.method == "as2d") {
        check_within("proposal budget", request.budget, 1,
                     "a budget of 0 never proposes, which is what target-only does");
    }
    if (request.method == "sd") {
        check_within("width K", request.width, 2, "K - 1 tokens are drafted for each verification");
    }
    if (request.method == "specasr") check_within("draft cap", request.draft_cap, 1, "SpecASR must draft something");
    if (request.method == "collect" && request.draft_cap) {
        check_within("draft cap", request.draft_cap, 0, "0 leaves the drafter's branches out");
    }
}

}  // namespace

void check_request(const Request& request) {
    check_method(request);
    check_instruction(request.instruction);
    if (request.max_tokens < 2 || request.max_tokens > most_output_tokens) {
        refuse("The output cap is " + std::to_string(request.max_tokens) + " tokens; choose 2 to " +
               std::to_string(most_output_tokens) + ".");
    }
    if (request.batch_tokens < 1 || request.batch_tokens > largest_batch) {
        refuse("The publication batch is " + std::to_string(request.batch_tokens) + " tokens; choose 1 to " +
               std::to_string(largest_batch) + ".");
    }
    if (request.threshold && !(*request.threshold >= 0.0 && *request.threshold <= 1.0)) {
        refuse("The confidence threshold is " + json::to_string(*request.threshold) + "; it is a probability, 0 to 1.");
    }
    if (request.drafter_pace_ms && !(*request.drafter_pace_ms >= 0.0 && *request.drafter_pace_ms <= largest_pace_ms)) {
        refuse("The drafter pace is " + json::to_string(*request.drafter_pace_ms) + " ms a token; choose 0 to " +
               json::to_string(largest_pace_ms) + ".");
    }
    check_level("precision", request.precision);
    check_level("memory", request.memory);
    check_widths(request.target);
    if (request.drafter) check_widths(*request.drafter);
    if (request.gates) check_gates(*request.gates);
    const Placement& placement = request.placement;
    for (const Count threads : {placement.target_threads, placement.drafter_threads}) {
        if (threads < 1 || threads > most_threads) {
            refuse("A model runs on 1 to 64 threads; change target_threads or drafter_threads.");
        }
    }
    const char* profile = std::getenv(task_profile_variable);
    if (placement.task_profile && (profile == nullptr || *placement.task_profile != profile)) {
        refuse("The task profile '" + *placement.task_profile +
               "' is asked for, and this runner does not work under it; only a phone that offers one can be asked (see "
               "`as2d devices`). Leave it out here.");
    }
}

}  // namespace as2d
