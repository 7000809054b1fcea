#include "coordinator/daemon/environment.h"

#include <cstdlib>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rapideye::coordinator {
namespace {

std::string JobName(const ReadVariable& read) {
  for (const char* name : {"JOBSET_NAME", "TPU_NAME"}) {
    if (std::optional<std::string> value = read(name); value.has_value() && !value->empty()) {
      return *value;
    }
  }
  const std::optional<std::string> slurm_name = read("SLURM_JOB_NAME");
  const std::optional<std::string> slurm_id = read("SLURM_JOB_ID");
  if (slurm_name.has_value() && slurm_id.has_value()) {
    return absl::StrCat(*slurm_name, "-", *slurm_id);
  }
  return "";
}

}  // namespace

JobShape WithEnvironment(JobShape shape, const ReadVariable& read) {
  if (shape.job.empty()) shape.job = JobName(read);
  if (!shape.slices.has_value()) {
    int32_t slices = 0;
    if (absl::SimpleAtoi(read("MEGASCALE_NUM_SLICES").value_or(""), &slices) && slices > 0) {
      shape.slices = slices;
    }
  }
  if (!shape.tasks_per_slice.has_value()) {
    const std::string hosts = read("TPU_WORKER_HOSTNAMES").value_or("");
    const std::vector<absl::string_view> names = absl::StrSplit(hosts, ',', absl::SkipEmpty());
    if (!names.empty()) shape.tasks_per_slice = static_cast<int32_t>(names.size());
  }
  return shape;
}

std::vector<std::string> ProcessEnvironment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

std::optional<std::string> ReadProcessVariable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace rapideye::coordinator
