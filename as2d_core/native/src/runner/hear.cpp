#include "runner/hear.hpp"

#include <string>

#include "audio/audio.hpp"
#include "errors.hpp"
#include "json/writer.hpp"
#include "runner/check.hpp"
#include "runner/input.hpp"

namespace as2d {
namespace {

std::string hex_of(const std::vector<float>& samples) {
    constexpr const char* digits = "0123456789abcdef";
    const auto* bytes = reinterpret_cast<const unsigned char*>(samples.data());
    std::string out;
    out.reserve(samples.size() * sizeof(float) * 2);
    for (std::size_t i = 0; i < samples.size() * sizeof(float); ++i) {
        out += digits[bytes[i] >> 4];
        out += digits[bytes[i] & 15];
    }
    return out;
}

}  // namespace

int hear_requests(std::istream& requests, std::FILE* out) {
    for (std::string line; std::getline(requests, line);) {
        std::string answer;
        try {
            const Audio audio = read_audio(request_from_json(parse_request_line(line)).audio);
            answer = json::to_string(json::Members{{"sha256", audio.sha256},
                                                   {"duration_s", audio.duration_s},
                                                   {"samples", hex_of(audio.samples)}});
        } catch (const Error& error) {
            answer = json::to_string(json::Members{{"error", error.what()}});
        }
        std::fprintf(out, "%s\n", answer.c_str());
    }
    return std::fflush(out) == 0 ? 0 : 1;
}

}  // namespace as2d
