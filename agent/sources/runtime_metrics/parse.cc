#include "agent/sources/runtime_metrics/parse.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/sources/limits.h"
#include "agent/sources/runtime_metrics/limits.h"
#include "agent/sources/runtime_metrics/percentile.h"
#include "v1/runtime_status.pb.h"

namespace rapideye::agent {
namespace {

namespace runtime = tpu::monitoring::runtime;

// Prefixes of metrics of the exporter itself.
constexpr std::array<absl::string_view, 4> kOfTheExporter = {"go_", "process_", "promhttp_",
                                                             "python_"};

// Absent: no number, or a number without a meaning.
std::optional<int64_t> Milli(double value) {
  constexpr double kMost = 9e15;  // a thousand of them are still an int64
  if (!std::isfinite(value) || std::fabs(value) > kMost) return std::nullopt;
  return static_cast<int64_t>(std::llround(value * 1000));
}

// Prefixes of metrics that libraries of the training process export by themselves: Grain, and Orbax
// with the libraries it shares. Any other metric of the process's registry is the job's own.
constexpr std::array<absl::string_view, 4> kOfLibraries = {
    "grain_python_", "jax_orbax_write_", "jax_orbax_read_", "jax_checkpoint_write_"};

bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == ':'; }

template <typename Prefixes>
bool StartsWithAny(absl::string_view name, const Prefixes& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [name](absl::string_view prefix) { return absl::StartsWith(name, prefix); });
}

bool SaysNothing(absl::string_view name, MetricSource source) {
  if (source == MetricSource::kInputPipeline && !StartsWithAny(name, kOfLibraries)) return true;
  return absl::EndsWith(name, "_bucket") || absl::EndsWith(name, "_created") ||
         StartsWithAny(name, kOfTheExporter);
}

// Takes the name that the text begins with.
absl::string_view TakeName(absl::string_view& text) {
  size_t length = 0;
  while (length < text.size() && IsNameCharacter(text[length])) ++length;
  const absl::string_view name = text.substr(0, length);
  text.remove_prefix(length);
  return name;
}

void SkipBlanks(absl::string_view& text) {
  while (!text.empty() && (text[0] == ' ' || text[0] == '\t')) text.remove_prefix(1);
}

bool Take(absl::string_view& text, char c) {
  SkipBlanks(text);
  if (text.empty() || text[0] != c) return false;
  text.remove_prefix(1);
  return true;
}

// Takes "...", in which a backslash stands before a quote, a backslash and an n.
std::optional<std::string> TakeQuoted(absl::string_view& text) {
  if (!Take(text, '"')) return std::nullopt;
  std::string value;
  while (!text.empty() && text[0] != '"') {
    char c = text[0];
    text.remove_prefix(1);
    if (c == '\\') {
      if (text.empty()) return std::nullopt;
      c = text[0] == 'n' ? '\n' : text[0];
      text.remove_prefix(1);
    }
    value += c;
  }
  if (!Take(text, '"')) return std::nullopt;
  return value;
}

// Takes {name="value",...}, if the text begins with it.
bool TakeLabels(absl::string_view& text, std::vector<std::string>& labels) {
  if (!Take(text, '{')) return true;
  while (!Take(text, '}')) {
    SkipBlanks(text);
    const absl::string_view name = TakeName(text);
    if (name.empty() || !Take(text, '=')) return false;
    const std::optional<std::string> value = TakeQuoted(text);
    if (!value.has_value()) return false;
    if (labels.size() < kMaxMetricLabels) {
      labels.push_back(absl::StrCat(std::string(name), "=", *value).substr(0, kMaxNameBytes));
    }
    if (!Take(text, ',')) {
      return Take(text, '}');
    }
  }
  return true;
}

std::optional<Metric> ParseLine(absl::string_view line, MetricSource source) {
  SkipBlanks(line);
  const absl::string_view name = TakeName(line);
  if (name.empty() || name.size() > kMaxNameBytes || SaysNothing(name, source)) return std::nullopt;
  Metric metric;
  metric.source = source;
  metric.name = std::string(name);
  if (!TakeLabels(line, metric.labels)) return std::nullopt;
  SkipBlanks(line);
  double value = 0;
  // A timestamp may follow.
  if (!absl::SimpleAtod(line.substr(0, line.find_first_of(" \t\r")), &value)) return std::nullopt;
  const std::optional<int64_t> milli = Milli(value);
  if (!milli.has_value()) return std::nullopt;
  metric.value_milli = *milli;
  return metric;
}

std::optional<double> Number(const runtime::Gauge& gauge) {
  switch (gauge.value_case()) {
    case runtime::Gauge::kAsDouble:
      return gauge.as_double();
    case runtime::Gauge::kAsInt:
      return static_cast<double>(gauge.as_int());
    case runtime::Gauge::kAsBool:
      return gauge.as_bool() ? 1 : 0;
    default:
      return std::nullopt;
  }
}

std::optional<double> Number(const runtime::Counter& counter) {
  switch (counter.value_case()) {
    case runtime::Counter::kAsDouble:
      return counter.as_double();
    case runtime::Counter::kAsInt:
      return static_cast<double>(counter.as_int());
    default:
      return std::nullopt;
  }
}

std::optional<std::string> Text(const runtime::AttrValue& value) {
  switch (value.attr_case()) {
    case runtime::AttrValue::kStringAttr:
      return value.string_attr();
    case runtime::AttrValue::kBoolAttr:
      return value.bool_attr() ? "true" : "false";
    case runtime::AttrValue::kIntAttr:
      return absl::StrCat(value.int_attr());
    case runtime::AttrValue::kDoubleAttr:
      return absl::StrCat(value.double_attr());
    default:
      return std::nullopt;
  }
}

// Most metrics of a chip come with its number, those of cores and of transfers with a list
// of keys and values.
std::vector<std::string> Labels(const runtime::Attribute& attribute) {
  std::vector<std::string> labels;
  const auto add = [&labels](const runtime::Attribute& one) {
    const std::optional<std::string> text = Text(one.value());
    if (!text.has_value() || labels.size() >= kMaxMetricLabels) return;
    labels.push_back(absl::StrCat(one.key(), "=", *text).substr(0, kMaxNameBytes));
  };
  if (attribute.value().has_kvlist_attr()) {
    for (const runtime::Attribute& one : attribute.value().kvlist_attr().attributes()) add(one);
  } else {
    add(attribute);
  }
  return labels;
}

void Add(const std::string& name, const std::vector<std::string>& labels,
         std::optional<double> value, std::vector<Metric>& metrics) {
  const std::optional<int64_t> milli = value.has_value() ? Milli(*value) : std::nullopt;
  if (!milli.has_value() || metrics.size() >= kMaxMetricsPerSource) return;
  Metric& metric = metrics.emplace_back();
  metric.source = MetricSource::kRuntime;
  metric.name = name;
  metric.labels = labels;
  metric.value_milli = *milli;
}

// Google's own tools show these percentiles, and p90.
void AddDistribution(const std::string& name, const std::vector<std::string>& labels,
                     const runtime::Distribution& distribution, std::vector<Metric>& metrics) {
  Add(name + ".count", labels, static_cast<double>(distribution.count()), metrics);
  if (distribution.count() <= 0) return;
  Add(name + ".mean", labels, distribution.mean(), metrics);
  Add(name + ".p50", labels, Percentile(distribution, 0.5), metrics);
  Add(name + ".p95", labels, Percentile(distribution, 0.95), metrics);
  Add(name + ".p999", labels, Percentile(distribution, 0.999), metrics);
}

}  // namespace

std::vector<Metric> ParsePrometheus(absl::string_view text, MetricSource source) {
  std::vector<Metric> metrics;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (metrics.size() >= kMaxMetricsPerSource) break;
    if (std::optional<Metric> metric = ParseLine(line, source)) {
      metrics.push_back(*std::move(metric));
    }
  }
  return metrics;
}

absl::StatusOr<std::vector<Metric>> ParseRuntimeMetric(const std::string& name,
                                                       const std::string& bytes) {
  runtime::MetricResponse response;
  if (!response.ParseFromString(bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": the answer is no MetricResponse"));
  }
  std::vector<Metric> metrics;
  for (const runtime::Metric& entry : response.metric().metrics()) {
    const std::vector<std::string> labels = Labels(entry.attribute());
    if (entry.has_gauge()) Add(name, labels, Number(entry.gauge()), metrics);
    if (entry.has_counter()) Add(name, labels, Number(entry.counter()), metrics);
    if (entry.has_distribution()) AddDistribution(name, labels, entry.distribution(), metrics);
  }
  return metrics;
}

}  // namespace rapideye::agent
