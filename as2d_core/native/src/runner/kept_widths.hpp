// Which widths did an earlier runner find exact on this device? Kept in small files, where there is a folder for them;
// in the form in which Python's runner keeps its own.
//
// What is kept is a help, never a need: a file that is not what would be written for this setting counts as not there,
// and a folder that cannot be written keeps nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "types.hpp"

namespace as2d {

/// Names the folder. Whoever starts runners gives every program its own: what one found says nothing about another.
constexpr const char* self_tests_variable = "AS2D_SELF_TESTS";

/// Everything that a result of the self-test holds for.
struct SelfTestSetting {
    std::string model_sha256;
    std::string cpu;
    Count threads;
    std::string precision;
    std::string memory;
    std::string backend;
    std::string mnn_version;
};

/// Where results are kept; none: nowhere.
std::optional<std::string> self_tests_folder();

/// The exact widths that were found for exactly this setting; none: they are to be tested. `widest`: the self-test
/// tries no wider one.
std::optional<std::vector<Count>> kept_widths(const std::string& folder, const SelfTestSetting& setting, Count widest);

/// Keeps what a self-test found, in place of what an earlier one did.
void keep_widths(const std::string& folder, const SelfTestSetting& setting, const std::vector<Count>& widths);

}  // namespace as2d
