#include "classifier/hlo/kernel_body.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"

namespace rapideye::classifier {
namespace {

// Sections of MLIR bytecode.
enum Section : unsigned char {
  kStrings = 0,
  kDialects = 1,
  kAttributes = 2,
  kAttributeOffsets = 3,
  kSections = 16,
};
constexpr unsigned char kAligned = 0x80;  // of a section's id
constexpr std::string_view kMagic = "ML\xefR";
constexpr std::string_view kBuiltin = "builtin";

// Encodings of the builtin dialect that hold a place in the source.
constexpr bool IsLocation(uint64_t code) { return (code >= 10 && code <= 15) || code == 22; }

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool done() const { return at_ >= bytes_.size(); }
  bool failed() const { return failed_; }
  size_t at() const { return at_; }

  unsigned char Byte() {
    if (at_ >= bytes_.size()) {
      failed_ = true;
      return 0;
    }
    return static_cast<unsigned char>(bytes_[at_++]);
  }

  // The zeros at the end of the first byte count the bytes that follow.
  uint64_t Number() {
    const unsigned char first = Byte();
    const int more = first == 0 ? 8 : std::countr_zero(first);
    uint64_t value = first;
    if (first == 0) value = 0;
    for (int i = 0; i < more; ++i) {
      const uint64_t byte = Byte();
      const int shift = first == 0 ? 8 * i : 8 * (i + 1);
      if (shift < 64) value |= byte << shift;
    }
    return first == 0 ? value : value >> (more + 1);
  }

  std::string_view Bytes(uint64_t count) {
    if (count > bytes_.size() - at_) {
      failed_ = true;
      return "";
    }
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

  std::string_view UpToZero() {
    const size_t end = bytes_.find('\0', at_);
    if (end == std::string_view::npos) {
      failed_ = true;
      return "";
    }
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  void Align(uint64_t alignment) {
    while (alignment > 1 && at_ % alignment != 0 && !failed_) Byte();
  }

 private:
  const std::string_view bytes_;
  size_t at_ = 0;
  bool failed_ = false;
};

struct BytecodeAttribute {
  uint64_t dialect = 0;
  bool encoded = false;  // by its dialect, rather than as text
  std::string_view bytes;

  friend bool operator==(const BytecodeAttribute&, const BytecodeAttribute&) = default;
};

struct Bytecode {
  uint64_t version = 0;
  std::array<std::string_view, kSections> sections;
  std::vector<std::string_view> strings;
  std::vector<std::string_view> dialects;
  std::vector<BytecodeAttribute> attributes;  // and types
};

bool ReadSections(std::string_view bytes, Bytecode& code) {
  if (!bytes.starts_with(kMagic)) return false;
  Reader reader(bytes);
  reader.Bytes(kMagic.size());
  code.version = reader.Number();
  reader.UpToZero();  // the producer
  while (!reader.done() && !reader.failed()) {
    const unsigned char id = reader.Byte();
    const uint64_t length = reader.Number();
    if ((id & kAligned) != 0) reader.Align(reader.Number());
    const size_t section = id & ~kAligned;
    if (section >= code.sections.size()) return false;
    code.sections[section] = reader.Bytes(length);
  }
  return !reader.failed();
}

bool ReadStrings(Bytecode& code) {
  Reader reader(code.sections[kStrings]);
  const uint64_t count = reader.Number();
  if (count > code.sections[kStrings].size()) return false;
  std::vector<uint64_t> lengths(count);  // the last one first
  for (uint64_t& length : lengths) length = reader.Number();
  std::reverse(lengths.begin(), lengths.end());
  for (const uint64_t length : lengths) code.strings.push_back(reader.Bytes(length));
  return !reader.failed();
}

bool ReadDialects(Bytecode& code) {
  Reader reader(code.sections[kDialects]);
  const uint64_t count = reader.Number();
  if (count > code.sections[kDialects].size()) return false;
  for (uint64_t i = 0; i < count; ++i) {
    // Since version 1 a dialect may have a version of its own, which is a section.
    const uint64_t number = reader.Number();
    const uint64_t name = code.version == 0 ? 2 * number : number;
    if ((name & 1) != 0) {
      reader.Byte();
      reader.Bytes(reader.Number());
    }
    if (name / 2 >= code.strings.size()) return false;
    std::string_view text = code.strings[name / 2];
    if (text.ends_with('\0')) text.remove_suffix(1);
    code.dialects.push_back(text);
  }
  return !reader.failed();
}

bool ReadAttributes(Bytecode& code) {
  Reader offsets(code.sections[kAttributeOffsets]);
  Reader bytes(code.sections[kAttributes]);
  offsets.Number();  // how many attributes there are, and types
  offsets.Number();
  while (!offsets.done() && !offsets.failed()) {
    const uint64_t dialect = offsets.Number();
    const uint64_t count = offsets.Number();
    if (count > code.sections[kAttributeOffsets].size()) return false;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t size = offsets.Number();
      code.attributes.push_back({dialect, (size & 1) != 0, bytes.Bytes(size / 2)});
    }
  }
  return !offsets.failed() && !bytes.failed() && bytes.done();
}

std::optional<Bytecode> Read(std::string_view bytes) {
  Bytecode code;
  if (!ReadSections(bytes, code) || !ReadStrings(code) || !ReadDialects(code) ||
      !ReadAttributes(code)) {
    return std::nullopt;
  }
  return code;
}

bool IsPath(std::string_view text) {
  if (text.ends_with('\0')) text.remove_suffix(1);
  return text.ends_with(".py") || (text.starts_with('<') && text.ends_with('>'));
}

bool SayTheSame(const Bytecode& code, const BytecodeAttribute& a, const BytecodeAttribute& b) {
  if (a == b) return true;
  if (a.dialect != b.dialect || !a.encoded || !b.encoded) return false;
  if (a.dialect >= code.dialects.size() || code.dialects[a.dialect] != kBuiltin) return false;
  const uint64_t one = Reader(a.bytes).Number();
  return one == Reader(b.bytes).Number() && IsLocation(one);
}

bool Decoded(std::string_view base64, std::string& bytes) {
  return absl::Base64Unescape(absl::string_view(base64.data(), base64.size()), &bytes);
}

}  // namespace

bool SameKernelElsewhere(std::string_view left, std::string_view right) {
  if (left == right) return true;
  std::string left_bytes;
  std::string right_bytes;
  if (!Decoded(left, left_bytes) || !Decoded(right, right_bytes)) {
    return false;
  }
  const std::optional<Bytecode> a = Read(left_bytes);
  const std::optional<Bytecode> b = Read(right_bytes);
  if (!a.has_value() || !b.has_value() || a->version != b->version) return false;
  for (size_t i = 0; i < a->sections.size(); ++i) {
    const bool taken_apart = i == kStrings || i == kAttributes || i == kAttributeOffsets;
    if (!taken_apart && a->sections[i] != b->sections[i]) return false;
  }
  const auto same_string = [](std::string_view one, std::string_view other) {
    return one == other || (IsPath(one) && IsPath(other));
  };
  const auto same_attribute = [&a](const BytecodeAttribute& one, const BytecodeAttribute& other) {
    return SayTheSame(*a, one, other);
  };
  return std::equal(a->strings.begin(), a->strings.end(), b->strings.begin(), b->strings.end(),
                    same_string) &&
         std::equal(a->attributes.begin(), a->attributes.end(), b->attributes.begin(),
                    b->attributes.end(), same_attribute);
}

}  // namespace rapideye::classifier
