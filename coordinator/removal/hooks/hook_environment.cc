#include "coordinator/removal/hooks/hook_environment.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rapideye::coordinator {
namespace {

// The default: Debian's own.
constexpr char kDefaultPath[] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

constexpr std::string_view kPassed[] = {
    "PATH", "HOME", "LANG", "TZ", "TMPDIR",
    // Variables by which kubectl finds the API server of the cluster it runs in.
    "KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT",
    // Variables of Slurm and gcloud, and those by which gcloud and `aws` find their accounts.
    "SLURM_CONF", "CLOUDSDK_CONFIG", "GOOGLE_APPLICATION_CREDENTIALS", "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE", "AWS_PROFILE", "AWS_REGION", "AWS_ROLE_ARN",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    // Proxies and certificates for the way out of a closed network.
    "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"};

bool IsPassed(std::string_view name) {
  return absl::StartsWith({name.data(), name.size()}, "RAPIDEYE_HOOK_") ||
         std::find(std::begin(kPassed), std::end(kPassed), name) != std::end(kPassed);
}

// A zero byte would end the variable early.
std::string Value(std::string text) {
  std::erase(text, '\0');
  return text;
}

}  // namespace

std::vector<std::string> HookEnvironment(const HookRun& call,
                                         const std::vector<std::string>& daemon) {
  std::map<std::string, std::string> variables;
  for (const std::string& entry : daemon) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || !IsPassed(std::string_view(entry).substr(0, equals))) {
      continue;
    }
    variables.emplace(entry.substr(0, equals), Value(entry.substr(equals + 1)));
  }
  variables.emplace("PATH", kDefaultPath);
  variables.emplace("HOME", "/");
  variables["RAPIDEYE_CALLER"] = call.caller;
  variables["RAPIDEYE_EVENT"] = call.event;
  if (!call.ended_at.empty()) variables["RAPIDEYE_ENDED_AT"] = Value(call.ended_at);
  if (call.test) variables["RAPIDEYE_TEST"] = "1";
  variables["RAPIDEYE_INCIDENT"] = Value(call.incident);
  variables["RAPIDEYE_REVISION"] = absl::StrCat(call.revision);
  variables["RAPIDEYE_CAUSE"] = Value(call.cause);
  variables["RAPIDEYE_JOB"] = Value(call.job);
  if (call.job_by_worker) variables["RAPIDEYE_JOB_STATED_BY"] = "worker";
  variables["RAPIDEYE_REMOVE_HOSTS"] = Value(absl::StrJoin(call.remove_hosts, ","));
  variables["RAPIDEYE_REMOVE_NODES"] = Value(absl::StrJoin(call.remove_nodes, ","));
  std::vector<std::string> environment;
  environment.reserve(variables.size());
  for (const auto& [name, value] : variables) {
    environment.push_back(absl::StrCat(name, "=", value));
  }
  return environment;
}

}  // namespace rapideye::coordinator
