#include "proto/common/metrics/counter_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::metrics {
namespace {

using ::testing::HasSubstr;

struct Two {
  int64_t frogs = 0;
  int64_t toads = 0;
};
using Row = CounterRow<Two>;

constexpr std::array kComplete = {Row{&Two::frogs, "frogs_total", "Frogs seen."},
                                  Row{&Two::toads, "toads_total", "Toads seen."}};
static_assert(NamesEveryCounter(kComplete));
static_assert(!NamesEveryCounter(std::array{kComplete[0]}), "one is missing");
static_assert(!NamesEveryCounter(std::array{kComplete[0], kComplete[0]}), "one twice");
static_assert(!NamesEveryCounter(std::array{kComplete[0], Row{&Two::toads, "frogs_total", "x"}}),
              "one name for two");
static_assert(!NamesEveryCounter(std::array{kComplete[0], Row{&Two::toads, "toads", "x"}}),
              "not the name of a counter");
static_assert(!NamesEveryCounter(std::array{kComplete[0], Row{&Two::toads, "toads_total", ""}}),
              "no help");

TEST(CounterTableTest, EveryCounterStandsOnThePage) {
  MetricPage page;
  AddCounters(page, "pond_", kComplete, Two{.frogs = 3, .toads = 5});
  const std::string text = page.Render();
  EXPECT_THAT(text, HasSubstr("# HELP pond_frogs_total Frogs seen.\n"
                              "# TYPE pond_frogs_total counter\n"
                              "pond_frogs_total 3\n"));
  EXPECT_THAT(text, HasSubstr("pond_toads_total 5\n"));
}

}  // namespace
}  // namespace rapideye::metrics
