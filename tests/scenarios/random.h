// Random makes the random numbers of the scenario corpus: the same seed gives the same numbers with
// every compiler and library, which the standard's distributions do not promise. Not for anything
// that needs to be unpredictable.
#ifndef RAPIDEYE_TESTS_SCENARIOS_RANDOM_H_
#define RAPIDEYE_TESTS_SCENARIOS_RANDOM_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rapideye::scenarios {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  // SplitMix64: equidistributed, and any seed is a good one.
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // A number of [low, high]. Requires low <= high. The bias of the remainder is
  // far below what any count of scenarios could show.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Next() % static_cast<uint64_t>(high - low + 1));
  }

  // An index of [0, size). Requires size > 0.
  int Index(size_t size) { return static_cast<int>(Next() % size); }

  bool Chance(double probability) {
    return static_cast<double>(Next() >> 11) * 0x1.0p-53 < probability;
  }

  // Requires a container that is not empty.
  template <typename Container>
  auto Pick(const Container& from) {
    return *(from.begin() + Index(from.size()));
  }

  template <typename T>
  void Shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[static_cast<size_t>(Index(i))]);
    }
  }

  // Lower-case hexadecimal digits.
  std::string Hex(int digits) {
    std::string text;
    for (int i = 0; i < digits; ++i) text += "0123456789abcdef"[Next() & 15];
    return text;
  }

 private:
  uint64_t state_;
};

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_RANDOM_H_
