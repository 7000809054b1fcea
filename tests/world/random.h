// Random generates the same numbers on every platform from one seed (SplitMix64), without
// the distributions of the standard library, which differ between its versions.
#ifndef RAPIDEYE_TESTS_WORLD_RANDOM_H_
#define RAPIDEYE_TESTS_WORLD_RANDOM_H_

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rapideye::world {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // A generator of its own, so that one part of a world draws as often as it likes without
  // changing what the others draw.
  Random Fork(std::string_view purpose) {
    uint64_t hash = 0xcbf29ce484222325 ^ Next();
    for (const char c : purpose) {
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return Random(hash);
  }

  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }  // [0, 1)
  bool Chance(double probability) { return Unit() < probability; }
  int Below(int bound) { return static_cast<int>(Next() % static_cast<uint64_t>(bound)); }
  int Between(int low, int high) { return low + Below(high - low + 1); }  // both included
  double Uniform(double low, double high) { return low + (high - low) * Unit(); }
  double LogUniform(double low, double high) { return low * std::pow(high / low, Unit()); }

  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[static_cast<size_t>(Below(static_cast<int>(items.size())))];
  }
  template <typename T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<size_t>(Below(static_cast<int>(i)))]);
    }
  }

 private:
  uint64_t state_;
};

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_RANDOM_H_
