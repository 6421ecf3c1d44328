// Errors inside the engine are exceptions; the C functions turn them into a status and a message.
#pragma once

#include <stdexcept>
#include <string>

#include "residency/runtime.h"

namespace residency {

class Error : public std::runtime_error {
 public:
  Error(residency_status_t code, const std::string& message)
      : std::runtime_error(message), code(code) {}
  const residency_status_t code;
};

inline Error invalid(const std::string& message) {
  return Error(RESIDENCY_INVALID_ARGUMENT, message);
}

}  // namespace residency
