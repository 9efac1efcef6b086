// Runs the fuzzer where there is no libFuzzer: damages the lines of a file at random for a given time.
//
// usage: as2d-fuzz FILE SECONDS [SEED]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

/// Also where a slow machine takes longer than it was given.
constexpr std::uint64_t least_inputs = 300;

class Mutator {
public:
    Mutator(std::vector<std::string> lines, std::uint64_t seed) : lines_(std::move(lines)), random_(seed) {}

    std::string next() {
        std::string line = lines_[below(lines_.size())];
        for (std::size_t left = below(5); left > 0; --left) damage(line);
        return line;
    }

private:
    std::size_t below(std::size_t end) { return end == 0 ? 0 : static_cast<std::size_t>(random_() % end); }

    void damage(std::string& line) {
        static const std::vector<std::string> pieces{"\"",      "\\",      "{",          "}",
                                                     "[",       "]",       ",",          ":",
                                                     "-1",      "0",       "9999999999", "9223372036854775807",
                                                     "1e308",   "1e-320",  "null",       "true",
                                                     "\\ud83d", "\\u0000", "\xff",       "\xed\xa0\x80",
                                                     "\xc3",    "{\"a\":", "[[[[[[[[",   "",
                                                     "2",       "0.5"};
        const std::size_t at = below(line.size() + 1);
        switch (below(4)) {
            case 0: line.insert(at, pieces[below(pieces.size())]); break;
            case 1: line.erase(at, below(8)); break;
            case 2: line.replace(at, below(8), pieces[below(pieces.size())]); break;
            default: {  // a part of another line
                const std::string& other = lines_[below(lines_.size())];
                const std::size_t from = below(other.size());
                line.replace(at, below(20), other, from, below(40));
            }
        }
    }

    std::vector<std::string> lines_;
    std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
    std::vector<std::string> lines;
    if (argc >= 3) {
        std::ifstream file(argv[1]);
        for (std::string line; std::getline(file, line);) lines.push_back(line);
    }
    if (lines.empty()) {
        std::fputs("usage: as2d-fuzz FILE SECONDS [SEED]\n", stderr);
        return 2;
    }
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::seconds(std::atoi(argv[2]));
    Mutator mutator(std::move(lines), argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0);
    std::uint64_t inputs = 0;
    for (; Clock::now() < until || inputs < least_inputs; ++inputs) {
        const std::string line = mutator.next();
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(line.data()), line.size());
    }
    std::printf("%llu inputs\n", static_cast<unsigned long long>(inputs));
    return 0;
}
