#include "proto/transport/identity.h"

#include <fnmatch.h>
#include <grpc/grpc_security_constants.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace rapideye::transport {
namespace {

using grpc::experimental::ExternalCertificateVerifier;
using grpc::experimental::TlsCustomVerificationCheckRequest;

// A certificate may hold thousands of names; a status text takes a few.
constexpr size_t kMaxShownNames = 8;

class IdentityVerifier final : public ExternalCertificateVerifier {
 public:
  explicit IdentityVerifier(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  bool Verify(TlsCustomVerificationCheckRequest* request, std::function<void(grpc::Status)>,
              grpc::Status* status) override {
    std::vector<std::string> names;
    const auto add = [&names](grpc::string_ref name) {
      if (!name.empty()) names.emplace_back(name.data(), name.size());
    };
    add(request->common_name());
    for (const grpc::string_ref& name : request->uri_names()) add(name);
    for (const grpc::string_ref& name : request->dns_names()) add(name);
    for (const grpc::string_ref& name : request->email_names()) add(name);
    for (const grpc::string_ref& name : request->ip_names()) add(name);
    *status = MatchesIdentity(names, patterns_)
                  ? grpc::Status::OK
                  : grpc::Status(grpc::StatusCode::PERMISSION_DENIED,
                                 absl::StrCat("its certificate is of ", JoinNames(names),
                                              ", which --tls-identity does not name"));
    return true;  // decided at once
  }
  void Cancel(TlsCustomVerificationCheckRequest*) override {}

 private:
  const std::vector<std::string> patterns_;
};

}  // namespace

std::vector<std::string> PeerNames(const grpc::AuthContext& context) {
  std::vector<std::string> names;
  for (const char* property : {GRPC_X509_CN_PROPERTY_NAME, GRPC_X509_SAN_PROPERTY_NAME}) {
    for (const grpc::string_ref& name : context.FindPropertyValues(property)) {
      if (!name.empty()) names.emplace_back(name.data(), name.size());
    }
  }
  return names;
}

std::string PeerIdentity(const grpc::AuthContext& context) {
  std::vector<std::string> names = PeerNames(context);
  std::sort(names.begin(), names.end());
  return absl::StrJoin(names, ",");
}

bool MatchesIdentity(const std::vector<std::string>& names,
                     const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    for (const std::string& name : names) {
      if (fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0) return true;
    }
  }
  return false;
}

std::string JoinNames(const std::vector<std::string>& names) {
  if (names.empty()) return "nobody";
  const size_t shown = std::min(names.size(), kMaxShownNames);
  const auto end = names.begin() + static_cast<ptrdiff_t>(shown);
  return absl::StrCat(absl::StrJoin(names.begin(), end, ", "), shown < names.size() ? ", ..." : "");
}

std::shared_ptr<grpc::experimental::CertificateVerifier> MakeIdentityVerifier(
    std::vector<std::string> patterns) {
  return ExternalCertificateVerifier::Create<IdentityVerifier>(std::move(patterns));
}

}  // namespace rapideye::transport
