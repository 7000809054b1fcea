#include "coordinator/shell/incident_files.h"

namespace rapideye::coordinator {
namespace {

// 0: a digit, x: a hex digit, anything else: itself.
constexpr std::string_view kShape = "00000000T000000Z-xxxxxxxx";

}  // namespace

bool IsIncidentId(std::string_view text) {
  if (text.size() != kShape.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    const bool fits = kShape[i] == '0'   ? digit
                      : kShape[i] == 'x' ? digit || (c >= 'a' && c <= 'f')
                                         : c == kShape[i];
    if (!fits) return false;
  }
  return true;
}

}  // namespace rapideye::coordinator
