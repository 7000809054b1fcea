#include "coordinator/removal/hooks/bounded_output.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::coordinator {
namespace {

// An invalid byte becomes a character of three.
std::string Valid(std::string_view bytes) { return text::ValidUtf8(bytes, 3 * bytes.size() + 3); }

}  // namespace

void BoundedOutput::Append(std::string_view bytes) {
  bytes_ += static_cast<int64_t>(bytes.size());
  const size_t first = std::min(bytes.size(), half_ - head_.size());
  head_.append(bytes.substr(0, first));
  bytes.remove_prefix(first);
  if (bytes.size() > half_) bytes.remove_prefix(bytes.size() - half_);
  tail_.append(bytes);
  if (tail_.size() > 2 * half_) tail_.erase(0, tail_.size() - half_);
}

std::string BoundedOutput::Text() const {
  std::string_view end = tail_;
  if (end.size() > half_) end.remove_prefix(end.size() - half_);
  const int64_t left_out = bytes_ - static_cast<int64_t>(head_.size() + end.size());
  // In one piece, since a character across both parts would become two invalid ones.
  if (left_out == 0) return Valid(absl::StrCat(head_, std::string(end)));
  return absl::StrCat(Valid(head_), "\n[", left_out, " bytes left out]\n", Valid(end));
}

}  // namespace rapideye::coordinator
