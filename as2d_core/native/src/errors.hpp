// What can go wrong, one class for each kind. Every message is one sentence: what is wrong, where, what to do.
#pragma once

#include <stdexcept>
#include <string>

namespace as2d {

/// Root of every error that the runner raises on purpose.
class Error : public std::runtime_error {
public:
    explicit Error(const std::string& sentence) : std::runtime_error(sentence) {}
};

/// Text that should be JSON, a request or a script is none.
class FormatError : public Error {
public:
    using Error::Error;
};

/// A request asks for something that cannot be run as asked.
class RequestError : public Error {
public:
    using Error::Error;
};

/// An audio file cannot be read, or holds nothing that a model can use.
class AudioError : public Error {
public:
    using Error::Error;
};

/// A model folder is incomplete, of the wrong type, or does not run on this device.
class ModelError : public Error {
public:
    using Error::Error;
};

/// A publication breaks the order of its source.
class RecordError : public Error {
public:
    using Error::Error;
};

/// A width without a cost was asked of a scripted target.
class ProfileError : public Error {
public:
    using Error::Error;
};

/// The device did not come into the condition that a measured episode asks for.
class ConditionsError : public Error {
public:
    using Error::Error;
};

/// The run was cancelled before it decoded anything.
class CancelledError : public Error {
public:
    CancelledError() : Error("The run was cancelled before it decoded anything.") {}
};

/// A model failed while it was running.
class EngineError : public Error {
public:
    using Error::Error;
};

/// The producer ended before it was asked to: the target goes on alone.
class DrafterLostError : public EngineError {
public:
    using EngineError::EngineError;
};

}  // namespace as2d
