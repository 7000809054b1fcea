#include "coordinator/cli/fleet/precision.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/cli/table.h"
#include "coordinator/fleet/reports.h"
#include "digest/report_json.h"

namespace rapideye::cli {
namespace {

using coordinator::Precision;
using coordinator::RemovalMode;

constexpr char kTotal[] = "all";

int64_t Known(const Precision& precision) { return precision.right + precision.wrong; }

double Share(const Precision& precision) {
  return static_cast<double>(precision.right) / static_cast<double>(Known(precision));
}

std::vector<std::string> Cells(const std::string& mode, const Precision& precision) {
  return {mode,
          precision.detail.empty() ? precision.cause
                                   : absl::StrCat(precision.cause, " ", precision.detail),
          absl::StrCat(Known(precision) + precision.unknown),
          absl::StrCat(precision.right),
          absl::StrCat(precision.wrong),
          absl::StrCat(precision.unknown),
          Known(precision) == 0 ? "-" : absl::StrFormat("%.1f %%", 100 * Share(precision))};
}

std::string JsonLine(const std::string& mode, const Precision& precision) {
  nlohmann::ordered_json json = {{"mode", mode}, {"cause", precision.cause}};
  if (!precision.detail.empty()) json["detail"] = precision.detail;
  json["removals"] = Known(precision) + precision.unknown;
  json["right"] = precision.right;
  json["wrong"] = precision.wrong;
  json["unknown"] = precision.unknown;
  if (Known(precision) > 0) json["precision"] = Share(precision);
  return digest::Dump(json, /*pretty=*/false) + "\n";
}

}  // namespace

PrecisionCommand::PrecisionCommand(CLI::App& fleet)
    : FleetCommand(fleet, "precision",
                   "Print how many of the removals with a known outcome were right") {}

absl::StatusOr<std::string> PrecisionCommand::Answer(Fleet& fleet) {
  Table table({"MODE", "CAUSE", "REMOVALS", "RIGHT", "WRONG", "UNKNOWN", "PRECISION"});
  std::string lines;
  bool any = false;
  for (const RemovalMode mode : {RemovalMode::kEnforce, RemovalMode::kDryRun}) {
    auto rows = coordinator::PrecisionOf(fleet.database(), mode);
    if (!rows.ok()) return rows.status();
    if (rows->empty()) continue;
    any = true;
    Precision total;
    total.cause = kTotal;
    for (const Precision& row : *rows) {
      total.right += row.right;
      total.wrong += row.wrong;
      total.unknown += row.unknown;
    }
    rows->push_back(total);
    for (const Precision& row : *rows) {
      const std::string name(RemovalModeName(mode));
      table.Add(Cells(name, row));
      lines += JsonLine(name, row);
    }
  }
  if (json()) return lines;
  return any ? table.Text("") : "no removal has been decided on yet\n";
}

}  // namespace rapideye::cli
