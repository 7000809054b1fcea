#include "proto/common/metrics/metric_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::metrics {
namespace {

using ::testing::HasSubstr;

TEST(MetricPageTest, EmptyPage) { EXPECT_EQ(MetricPage().Render(), ""); }

TEST(MetricPageTest, LinesOfOneNameStandTogether) {
  MetricPage page;
  page.AddCounter("a_total", "A.", 1, {{"kind", "x"}});
  page.AddGauge("b", "B.", 0.5);
  page.AddCounter("a_total", "A.", 2, {{"kind", "y"}});
  EXPECT_EQ(page.Render(),
            "# HELP a_total A.\n# TYPE a_total counter\n"
            "a_total{kind=\"x\"} 1\na_total{kind=\"y\"} 2\n"
            "# HELP b B.\n# TYPE b gauge\nb 0.5\n");
}

TEST(MetricPageTest, LabelsCannotForgeALine) {
  MetricPage page;
  page.AddGauge("a", "A.", 1, {{"job", "x\"} 7\nforged 1\\"}});
  EXPECT_EQ(page.Render(), "# HELP a A.\n# TYPE a gauge\na{job=\"x\\\"} 7\\nforged 1\\\\\"} 1\n");
}

TEST(MetricPageTest, LargeCountsStayExact) {
  MetricPage page;
  page.AddCounter("a_total", "A.", 9007199254740991.0);
  EXPECT_THAT(page.Render(), HasSubstr("a_total 9007199254740991\n"));
}

TEST(MetricPageTest, HistogramCumulates) {
  DurationHistogram histogram;
  histogram.Observe(absl::Milliseconds(1));  // a bound belongs to its bucket
  histogram.Observe(absl::Milliseconds(2));
  histogram.Observe(absl::Seconds(100));
  MetricPage page;
  page.AddHistogram("t_seconds", "T.", histogram);
  const std::string text = page.Render();
  EXPECT_THAT(text, HasSubstr("t_seconds_count 3\n"));
  EXPECT_THAT(text, HasSubstr("t_seconds_sum 100.003"));
  EXPECT_THAT(text, HasSubstr("t_seconds_bucket{le=\"0.001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("t_seconds_bucket{le=\"60\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("t_seconds_bucket{le=\"+Inf\"} 3\n"));
}

}  // namespace
}  // namespace rapideye::metrics
