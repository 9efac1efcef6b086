#include "runner/model_folder.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "json/reader.hpp"
#include "records/sha256.hpp"
#include "runner/graph.hpp"

namespace as2d {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t longest_config_bytes = 16'000'000;
constexpr std::uintmax_t longest_graph_bytes = 512'000'000;
const std::set<std::string> known_audio_types{"qwen3_asr", "qwen2_audio", "qwen2_5_omni"};

void hash_file(const fs::path& path, Sha256& hash) {
    std::ifstream file(path, std::ios::binary);
    std::vector<char> block(1 << 20);
    while (file) {
        file.read(block.data(), static_cast<std::streamsize>(block.size()));
        hash.update({block.data(), static_cast<std::size_t>(file.gcount())});
    }
    if (!file.eof()) throw ModelError("The model file " + path.string() + " cannot be read.");
}

/// What is in a file of the folder, as far as `most_bytes`.
std::string read_file(const fs::path& path, std::uintmax_t most_bytes) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    if (error || !file) throw ModelError("The model file " + path.string() + " cannot be read.");
    std::string text(static_cast<std::size_t>(std::min(size, most_bytes)), '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

/// The JSON object in a file of the folder.
json::Object read_object(const fs::path& folder, const std::string& name) {
    std::error_code error;
    // A pipe would be waited for.
    if (!fs::is_regular_file(folder / name, error)) {
        throw ModelError(folder.filename().string() + " is no MNN model folder: " + name + " is missing.");
    }
    try {
        json::Value value = json::parse(read_file(folder / name, longest_config_bytes));
        if (auto* object = value.get<json::Object>()) return std::move(*object);
    } catch (const FormatError& reason) {
        throw ModelError((folder / name).string() + " cannot be read as JSON: " + reason.what() + ".");
    }
    throw ModelError((folder / name).string() + " is not a JSON object.");
}

std::string text_at(const json::Object& object, const std::string& name, const std::string& fallback) {
    const json::Value* value = object.find(name);
    if (value == nullptr) return fallback;
    const auto* text = value->get<std::string>();
    return text == nullptr ? std::string() : *text;
}

/// The plain name of a file that lies in the folder. The engine would put any other name behind the folder's.
std::string checked_file(const fs::path& folder, const std::string& what, const std::string& name) {
    const std::string model = folder.filename().string();
    if (name.empty() || fs::path(name).filename().string() != name) {
        throw ModelError(model + "/config.json: the " + what + " is '" + name.substr(0, 80) +
                         "', which names no file of the folder; write the plain name of a file that lies in it.");
    }
    std::error_code error;
    if (!fs::is_regular_file(folder / name, error)) {
        throw ModelError(model + " lacks its " + what + ": " + name + " is not in " + folder.string() +
                         "; copy or export it again.");
    }
    if (fs::file_size(folder / name, error) == 0) {
        throw ModelError(model + ": the " + what + " (" + name + ") is empty; copy or export the model again.");
    }
    return name;
}

Token audio_pad_of(const json::Object& details, const std::string& model) {
    const json::Value* pad = details.find("audio_pad");
    const auto* token = pad == nullptr ? nullptr : pad->get<std::int64_t>();
    if (token == nullptr || *token < 0 || *token > std::numeric_limits<Token>::max()) {
        throw ModelError(model + "/llm_config.json names no audio_pad token; export the model again.");
    }
    return static_cast<Token>(*token);
}

void check_cut(const fs::path& folder, const std::string& name, std::uint64_t least) {
    std::error_code error;
    const auto size = fs::file_size(folder / name, error);
    if (error || size >= least) return;
    throw ModelError(folder.filename().string() + ": " + name + " is cut off (" + std::to_string(size) +
                     " bytes, at least " + std::to_string(least) + " belong in it); copy the model again.");
}

/// Refuses weights that end before the embeddings they hold; MNN reads on without a word. The export's list holds
/// offsets and sizes: weights, scales, bytes of scales, bits, block.
void check_embeddings(const fs::path& folder, const std::string& weights, const json::Object& details) {
    const json::Value* tied = details.find("tie_embeddings");
    const auto* items = tied == nullptr ? nullptr : tied->get<json::Array>();
    if (items == nullptr || items->size() < 3) return;
    std::uint64_t least = 0;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const auto* number = (*items)[i].get<std::int64_t>();
        if (number == nullptr || *number < 0) return;
        if (i == 1 || i == 2) least += static_cast<std::uint64_t>(*number);
    }
    check_cut(folder, weights, least);
}

/// Size and time of the last change of a file: while they stay, so does what is in it.
struct Stamp {
    std::string name;
    std::uintmax_t size;
    fs::file_time_type changed;

    bool operator==(const Stamp& other) const {
        return name == other.name && size == other.size && changed == other.changed;
    }
};

/// What reading all of a model's files has told, which takes seconds for a big one.
struct Contents {
    std::vector<Stamp> stamps;
    std::string sha256;
    std::string tokenizer_sha256;
};

/// Files that the engine reads beside those that the settings name.
void add_embeddings(const fs::path& folder, std::set<std::string>& names) {
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename().string();
        if (name.rfind("embeddings_", 0) == 0 && at->path().extension() == ".bin") names.insert(name);
    }
    if (error) throw ModelError("The model folder " + folder.string() + " cannot be listed: " + error.message() + ".");
}

std::string folder_hash(const fs::path& folder, const std::set<std::string>& names) {
    Sha256 whole;
    for (const std::string& name : names) {
        Sha256 one;
        hash_file(folder / name, one);
        const auto digest = one.digest();
        whole.update(name + '\0');
        whole.update({reinterpret_cast<const char*>(digest.data()), digest.size()});
    }
    return whole.hex();
}

}  // namespace

ModelFolder describe_model(const std::string& path) {
    const fs::path folder = (fs::path(path) / "").parent_path();
    std::error_code error;
    if (!fs::is_directory(folder, error)) throw ModelError("There is no model folder at " + path + ".");
    const json::Object config = read_object(folder, "config.json");
    const json::Object details = read_object(folder, "llm_config.json");
    ModelFolder model;
    model.path = path;
    model.name = folder.filename().string();
    const json::Value* is_audio = details.find("is_audio");
    if (is_audio == nullptr || is_audio->get<bool>() == nullptr || !*is_audio->get<bool>()) {
        throw ModelError(model.name + " is a model without audio input; an audio language model is needed.");
    }
    const std::string audio_type = text_at(details, "audio_type", "");
    if (known_audio_types.count(audio_type) == 0) {
        throw ModelError(model.name + " has audio type '" + audio_type +
                         "'; known here: qwen3_asr, qwen2_audio, qwen2_5_omni.");
    }
    model.audio_pad = audio_pad_of(details, model.name);
    const std::string tokenizer =
        checked_file(folder, "tokenizer", text_at(config, "tokenizer_file", "tokenizer.mtok"));
    const std::string audio = checked_file(folder, "audio encoder", text_at(config, "audio_model", "audio.mnn"));
    const std::string audio_weights = checked_file(folder, "audio encoder weights", audio + ".weight");
    const std::string graph = checked_file(folder, "language model", text_at(config, "llm_model", "llm.mnn"));
    const std::string weights =
        checked_file(folder, "language model weights", text_at(config, "llm_weight", "llm.mnn.weight"));
    std::set<std::string> names{"config.json", "llm_config.json", tokenizer, audio, audio_weights, graph, weights};
    add_embeddings(folder, names);
    std::vector<Stamp> stamps;
    for (const std::string& name : names) {
        stamps.push_back({name, fs::file_size(folder / name, error), fs::last_write_time(folder / name, error)});
    }
    static std::map<std::string, Contents> known;  // requests are taken by one thread
    Contents& contents = known[path];
    if (contents.stamps != stamps) {
        check_embeddings(folder, weights, details);
        for (const auto& [part, its_weights] : {std::pair(graph, weights), std::pair(audio, audio_weights)}) {
            const auto least = weight_bytes(read_file(folder / part, longest_graph_bytes));
            if (least) check_cut(folder, its_weights, *least);
        }
        Sha256 tokens;
        hash_file(folder / tokenizer, tokens);
        contents = {std::move(stamps), folder_hash(folder, names), tokens.hex()};
    }
    model.sha256 = contents.sha256;
    model.tokenizer_sha256 = contents.tokenizer_sha256;
    return model;
}

void check_pair(const ModelFolder& target, const ModelFolder& drafter) {
    if (target.tokenizer_sha256 == drafter.tokenizer_sha256) return;
    throw ModelError("The drafter " + drafter.name + " has another tokenizer than the target " + target.name +
                     "; its candidates would mean other tokens. Choose a drafter of the same family.");
}

}  // namespace as2d
