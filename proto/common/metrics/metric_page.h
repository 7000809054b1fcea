// MetricPage renders the page that Prometheus reads: a daemon's numbers at one moment.
#ifndef RAPIDEYE_PROTO_COMMON_METRICS_METRIC_PAGE_H_
#define RAPIDEYE_PROTO_COMMON_METRICS_METRIC_PAGE_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
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
  // A gauge for each of `states`, told apart by this label: 1 for `current`, 0 for the others.
  void AddStates(const std::string& name, const std::string& help, const std::string& label,
                 std::initializer_list<std::string_view> states, std::string_view current);
  void AddHistogram(const std::string& name, const std::string& help,
                    const DurationHistogram& histogram);
  // A histogram that the caller counts: upper bounds of the buckets in seconds, the number in each
  // bucket and above all of them, and their sum.
  void AddHistogram(const std::string& name, const std::string& help,
                    std::span<const double> bounds, std::span<const int64_t> counts, double sum);

  // Prometheus' text format.
  std::string Render() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace rapideye::metrics

#endif  // RAPIDEYE_PROTO_COMMON_METRICS_METRIC_PAGE_H_
