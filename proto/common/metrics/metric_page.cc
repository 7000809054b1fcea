#include "proto/common/metrics/metric_page.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <limits>

namespace rapideye::metrics {

struct MetricPage::Families {
  std::vector<prometheus::MetricFamily> all;

  prometheus::ClientMetric& Add(const std::string& name, const std::string& help,
                                prometheus::MetricType type, const Labels& labels) {
    auto family =
        std::find_if(all.begin(), all.end(), [&](const auto& f) { return f.name == name; });
    if (family == all.end()) {
      family = all.insert(all.end(), prometheus::MetricFamily());
      family->name = name;
      family->help = help;
      family->type = type;
    }
    prometheus::ClientMetric& metric = family->metric.emplace_back();
    for (const auto& [label, value] : labels) metric.label.push_back({label, value});
    return metric;
  }
};

MetricPage::MetricPage() : families_(std::make_unique<Families>()) {}
MetricPage::~MetricPage() = default;

void MetricPage::AddCounter(const std::string& name, const std::string& help, double value,
                            const Labels& labels) {
  families_->Add(name, help, prometheus::MetricType::Counter, labels).counter.value = value;
}

void MetricPage::AddGauge(const std::string& name, const std::string& help, double value,
                          const Labels& labels) {
  families_->Add(name, help, prometheus::MetricType::Gauge, labels).gauge.value = value;
}

void MetricPage::AddStates(const std::string& name, const std::string& help,
                           const std::string& label, std::initializer_list<std::string_view> states,
                           std::string_view current) {
  for (const std::string_view state : states) {
    AddGauge(name, help, state == current ? 1 : 0, {{label, std::string(state)}});
  }
}

void MetricPage::AddHistogram(const std::string& name, const std::string& help,
                              const DurationHistogram& histogram) {
  families_->Add(name, help, prometheus::MetricType::Histogram, {}).histogram = histogram.Get();
}

void MetricPage::AddHistogram(const std::string& name, const std::string& help,
                              std::span<const double> bounds, std::span<const int64_t> counts,
                              double sum) {
  prometheus::ClientMetric::Histogram& histogram =
      families_->Add(name, help, prometheus::MetricType::Histogram, {}).histogram;
  uint64_t cumulated = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    cumulated += static_cast<uint64_t>(counts[i]);
    const double bound = i < bounds.size() ? bounds[i] : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({.cumulative_count = cumulated, .upper_bound = bound});
  }
  histogram.sample_count = cumulated;
  histogram.sample_sum = sum;
}

std::string MetricPage::Render() const {
  return prometheus::TextSerializer().Serialize(families_->all);
}

}  // namespace rapideye::metrics
