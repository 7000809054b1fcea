// Strings on their way out: always UTF-8, never longer than a reader takes.

#include <string>

#include "proto/common/text/utf8.h"
#include "proto/wire/field_scope.h"
#include "proto/wire/limits.h"

namespace rapideye::wire {

std::string WireName(const std::string& value) { return text::CutToUtf8(value, kMaxNameBytes); }
std::string WireText(const std::string& value) { return text::CutToUtf8(value, kMaxTextBytes); }

}  // namespace rapideye::wire
