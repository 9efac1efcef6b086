#include "runner/model_folder.hpp"

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <vector>

#include "errors.hpp"
#include "json/reader.hpp"
#include "records/sha256.hpp"

namespace as2d {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_config_bytes = 16'000'000;
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

/// The JSON object in a file of the folder.
json::Object read_object(const fs::path& folder, const std::string& name) {
    std::ifstream file(folder / name, std::ios::binary);
    if (!file) throw ModelError(folder.filename().string() + " is no MNN model folder: " + name + " is missing.");
    std::string text(longest_config_bytes, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    try {
        json::Value value = json::parse(text);
        if (auto* object = value.get<json::Object>()) return std::move(*object);
    } catch (const FormatError& error) {
        throw ModelError((folder / name).string() + " cannot be read as JSON: " + error.what() + ".");
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
        throw ModelError(model + " lacks its " + what + ": " + name + " is not in " + folder.string() + ".");
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
    const fs::path folder(path);
    std::error_code error;
    if (!fs::is_directory(folder, error)) throw ModelError("There is no model folder at " + path + ".");
    const json::Object config = read_object(folder, "config.json");
    const json::Object details = read_object(folder, "llm_config.json");
    ModelFolder model;
    model.path = path;
    model.name = (folder / "").parent_path().filename().string();
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
    std::set<std::string> names{
        "config.json",
        "llm_config.json",
        tokenizer,
        audio,
        checked_file(folder, "audio encoder weights", audio + ".weight"),
        checked_file(folder, "language model", text_at(config, "llm_model", "llm.mnn")),
        checked_file(folder, "language model weights", text_at(config, "llm_weight", "llm.mnn.weight")),
    };
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.rfind("embeddings_", 0) == 0 && entry.path().extension() == ".bin") names.insert(name);
    }
    model.sha256 = folder_hash(folder, names);
    Sha256 tokens;
    hash_file(folder / tokenizer, tokens);
    model.tokenizer_sha256 = tokens.hex();
    return model;
}

void check_pair(const ModelFolder& target, const ModelFolder& drafter) {
    if (target.tokenizer_sha256 == drafter.tokenizer_sha256) return;
    throw ModelError("The drafter " + drafter.name + " has another tokenizer than the target " + target.name +
                     "; its candidates would mean other tokens. Choose a drafter of the same family.");
}

}  // namespace as2d
