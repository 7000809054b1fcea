#include "proto/common/metrics/metric_page.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>

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

void MetricPage::AddHistogram(const std::string& name, const std::string& help,
                              const DurationHistogram& histogram) {
  families_->Add(name, help, prometheus::MetricType::Histogram, {}).histogram = histogram.Get();
}

std::string MetricPage::Render() const {
  return prometheus::TextSerializer().Serialize(families_->all);
}

}  // namespace rapideye::metrics
