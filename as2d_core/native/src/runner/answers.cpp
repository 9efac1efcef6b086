#include "runner/answers.hpp"

#include <functional>
#include <string>

#include "audio/audio.hpp"
#include "errors.hpp"
#include "hex.hpp"
#include "json/writer.hpp"
#include "runner/input.hpp"
#include "runner/model_folder.hpp"

namespace as2d {
namespace {

int answer_each(std::istream& requests, std::FILE* out, const std::function<json::Value(const Request&)>& answer) {
    for (std::string line; get_line(requests, line);) {
        std::string said;
        try {
            said = json::to_string(answer(request_from_json(parse_request_line(line))));
        } catch (const Error& error) {
            said = json::to_string(json::Members{{"error", error.what()}});
        }
        // At once: whoever asked may wait for it before the next question.
        if (std::fprintf(out, "%s\n", said.c_str()) < 0 || std::fflush(out) != 0) return 1;
    }
    return 0;
}

json::Value shown(const ModelFolder& model) {
    return json::Members{{"name", model.name},
                         {"sha256", model.sha256},
                         {"tokenizer_sha256", model.tokenizer_sha256},
                         {"audio_pad", std::int64_t{model.audio_pad}}};
}

}  // namespace

int check_requests(std::istream& requests, std::FILE* out) {
    return answer_each(requests, out, [](const Request& request) { return request.document; });
}

int hear_requests(std::istream& requests, std::FILE* out) {
    return answer_each(requests, out, [](const Request& request) {
        const Audio audio = read_audio(request.audio);
        const std::string_view bytes{reinterpret_cast<const char*>(audio.samples.data()),
                                     audio.samples.size() * sizeof(float)};
        return json::Members{{"sha256", audio.sha256}, {"duration_s", audio.duration_s}, {"samples", hex_of(bytes)}};
    });
}

int describe_models(std::istream& requests, std::FILE* out) {
    return answer_each(requests, out, [](const Request& request) {
        const ModelFolder target = describe_model(request.target.path);
        json::Members models{{"target", shown(target)}};
        if (request.drafter) {
            const ModelFolder drafter = describe_model(request.drafter->path);
            check_pair(target, drafter);
            models.emplace_back("drafter", shown(drafter));
        }
        return models;
    });
}

}  // namespace as2d
