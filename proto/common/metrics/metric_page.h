// MetricPage renders the page that Prometheus reads: a daemon's numbers at one moment.
#ifndef RAPIDEYE_PROTO_COMMON_METRICS_METRIC_PAGE_H_
#define RAPIDEYE_PROTO_COMMON_METRICS_METRIC_PAGE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/common/metrics/duration_histogram.h"

namespace rapideye::metrics {

// The content type of what Render returns.
inline constexpr char kContentType[] = "text/plain; version=0.0.4; charset=utf-8";

// Put together for one reading and thrown away. Metrics stand in the order in
// which their names were first added; a name that is added again gets another
// line, and has to have other labels. Not synchronised.
class MetricPage {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  MetricPage();
  ~MetricPage();
  MetricPage(const MetricPage&) = delete;
  MetricPage& operator=(const MetricPage&) = delete;

  // `name` by Prometheus' rules: a counter ends in _total, a unit is part of it.
  void AddCounter(const std::string& name, const std::string& help, double value,
                  const Labels& labels = {});
  void AddGauge(const std::string& name, const std::string& help, double value,
                const Labels& labels = {});
  void AddHistogram(const std::string& name, const std::string& help,
                    const DurationHistogram& histogram);

  // Prometheus' text format.
  std::string Render() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace rapideye::metrics

#endif  // RAPIDEYE_PROTO_COMMON_METRICS_METRIC_PAGE_H_
