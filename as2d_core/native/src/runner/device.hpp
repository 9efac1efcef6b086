// What is this device? Facts for the run header; what cannot be read is left out, never guessed.
#pragma once

#include <string>

#include "json/value.hpp"

namespace as2d {

/// Set by whoever has started the runner under one of Android's task profiles, to its name.
constexpr const char* task_profile_variable = "AS2D_TASK_PROFILE";

json::Object device_facts();

/// Model name of the processor, with its feature set where it decides which kernels run.
std::string cpu_name();

/// Wall-clock time now, ISO 8601 in UTC with milliseconds.
std::string wall_time();

}  // namespace as2d
