// BoundedOutput keeps the beginning and the end of a hook's output. Not synchronised.
#ifndef RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_BOUNDED_OUTPUT_H_
#define RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_BOUNDED_OUTPUT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rapideye::coordinator {

class BoundedOutput {
 public:
  // Keeps the first and the last `max_bytes` / 2.
  explicit BoundedOutput(size_t max_bytes) : half_(max_bytes / 2) {}

  void Append(std::string_view bytes);
  // The output kept, as valid UTF-8; a line of its own states how much was left out.
  std::string Text() const;

 private:
  const size_t half_;
  std::string head_;
  std::string tail_;  // up to twice `half_` bytes, of which the last count
  int64_t bytes_ = 0;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_REMOVAL_HOOKS_BOUNDED_OUTPUT_H_
