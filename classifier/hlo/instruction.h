// ParseHloInstruction splits an HLO instruction into shape, opcode, operands and attributes.
#ifndef RAPIDEYE_CLASSIFIER_HLO_INSTRUCTION_H_
#define RAPIDEYE_CLASSIFIER_HLO_INSTRUCTION_H_

#include <cstddef>
#include <string_view>

#include "classifier/hlo/scan.h"

namespace rapideye::classifier {

// Views into the text of the instruction.
struct HloParts {
  std::string_view shape;
  std::string_view opcode;      // empty: this is no instruction
  std::string_view operands;    // without the parentheses
  std::string_view attributes;  // what follows them
};

// `text`: the instruction behind "name = ".
HloParts ParseHloInstruction(std::string_view text);

// The first name among operands or in a list such as {%a, %b}, without the percent sign;
// `rest` is moved behind it. Empty: there is no more. Shapes in front of names, as older
// versions of XLA print them, are passed over.
std::string_view NextHloName(std::string_view& rest);

// Calls `take(key, value)` for each "key=value", in order. A value of several words, such as
// that of replica_groups over a mesh, is one value.
template <typename Take>
void ForEachHloAttribute(std::string_view attributes, const Take& take) {
  size_t at = 0;
  while (at < attributes.size()) {
    const size_t end = EndOfHloPart(attributes, at, ",=");
    if (end >= attributes.size()) return;
    std::string_view key = attributes.substr(at, end - at);
    while (key.starts_with(' ')) key.remove_prefix(1);
    at = end + 1;
    if (attributes[end] != '=') continue;
    size_t last = EndOfHloPart(attributes, at, ",");
    // mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'a'}
    if (attributes.substr(last).starts_with(", device_ids=(")) {
      last = EndOfHloPart(attributes, last + 1, ",");
    }
    take(key, attributes.substr(at, last - at));
    at = last + 1;
  }
}

// The value in quotation marks behind `key` and an equals sign or a colon, anywhere in `text`;
// empty if it is not there. Nothing is unescaped.
std::string_view QuotedHloValue(std::string_view text, std::string_view key);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_INSTRUCTION_H_
