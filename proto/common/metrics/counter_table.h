// A counter table names every counter of a struct as a metric; the compiler checks that none is
// left out.
#ifndef RAPIDEYE_PROTO_COMMON_METRICS_COUNTER_TABLE_H_
#define RAPIDEYE_PROTO_COMMON_METRICS_COUNTER_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proto/common/metrics/metric_page.h"

namespace rapideye::metrics {

// A row for one counter. `Counters` is a struct of nothing but int64_t.
template <typename Counters>
struct CounterRow {
  int64_t Counters::* field;
  std::string_view name;  // without the program's prefix
  std::string_view help;
};

// True if every field stands in exactly one row under a name of its own. For a
// static_assert: a counter that is added without a row does not compile.
template <typename Counters, size_t kRows>
constexpr bool NamesEveryCounter(const std::array<CounterRow<Counters>, kRows>& rows) {
  if (kRows * sizeof(int64_t) != sizeof(Counters)) return false;
  for (size_t i = 0; i < kRows; ++i) {
    if (!rows[i].name.ends_with("_total") || rows[i].help.empty()) return false;
    for (size_t j = 0; j < i; ++j) {
      if (rows[i].field == rows[j].field || rows[i].name == rows[j].name) return false;
    }
  }
  return true;
}

template <typename Counters, size_t kRows>
void AddCounters(MetricPage& page, std::string_view prefix,
                 const std::array<CounterRow<Counters>, kRows>& rows, const Counters& values) {
  for (const CounterRow<Counters>& row : rows) {
    page.AddCounter(std::string(prefix).append(row.name), std::string(row.help),
                    static_cast<double>(values.*row.field));
  }
}

}  // namespace rapideye::metrics

#endif  // RAPIDEYE_PROTO_COMMON_METRICS_COUNTER_TABLE_H_
