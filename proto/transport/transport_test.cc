#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/server.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "proto/transport/certificate_watch.h"
#include "proto/transport/channel_options.h"
#include "proto/transport/credentials.h"
#include "proto/transport/identity.h"
#include "proto/transport/status_conversion.h"
#include "proto/transport/tls_files.h"
#include "tests/support/test_certificates.h"
#include "v1/runtime_status.grpc.pb.h"

namespace rapideye::transport {
namespace {

using testing::HasSubstr;

TEST(LoopbackTest, JudgesByTheText) {
  for (const char* address : {"127.0.0.1:8490", "127.77.1.3:0", "localhost:8431", "LOCALHOST:1",
                              "[::1]:8490", "[::ffff:127.0.0.1]:80"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* address : {"[::]:8490",
                              "0.0.0.0:8490",
                              "10.0.0.1:8490",
                              "128.0.0.1:1",
                              "localhost.evil.com:1",
                              "127.0.0.1.evil.com:1",
                              "example.com:1",
                              "localhost",
                              "127.0.0.1",
                              "::1",
                              ":8490",
                              "",
                              "localhost:",
                              "localhost:1,evil:2",
                              "ipv4:127.0.0.1:80,10.0.0.1:80",
                              "dns:///localhost:1",
                              "[::1",
                              "[::ffff:10.0.0.1]:80",
                              "localhost:http",
                              "unix:/tmp/x"}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

TEST(StatusTest, SurvivesBothWays) {
  for (int code = 0; code <= GRPC_STATUS_UNAUTHENTICATED; ++code) {
    const grpc::Status status(static_cast<grpc::StatusCode>(code), code == 0 ? "" : "why");
    const grpc::Status back = ToGrpc(ToAbsl(status));
    EXPECT_EQ(back.error_code(), status.error_code());
    EXPECT_EQ(back.error_message(), status.error_message());
    EXPECT_EQ(static_cast<int>(ToAbsl(status).code()), code);
  }
}

TEST(StatusTest, OddOnesBecomeUnknownAndLongOnesAreCut) {
  // gRPC has no code of that number; beyond 31 the enum itself could not hold it.
  const grpc::Status odd(static_cast<grpc::StatusCode>(20), "odd");
  EXPECT_EQ(ToAbsl(odd), absl::UnknownError("odd"));
  const std::string text(kMaxStatusTextBytes + 1, 'x');
  EXPECT_EQ(ToGrpc(absl::InternalError(text)).error_message().size(), kMaxStatusTextBytes);
  EXPECT_EQ(ToAbsl(grpc::Status(grpc::StatusCode::INTERNAL, text)).message().size(),
            kMaxStatusTextBytes);
}

// Files in a directory of the test's own.
class CredentialsTest : public testing::Test {
 protected:
  CredentialsTest() {
    std::string name = testing::TempDir() + "rapideye-tls-XXXXXX";
    directory_ = mkdtemp(name.data());
    ours_.WriteCa(Path("ca"));
    ours_.Issue(Path("cert"), Path("key"), "spiffe://job/worker/0/0");
  }
  ~CredentialsTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name + ".pem"; }
  CredentialOptions Files(const std::string& cert = "cert", const std::string& key = "key",
                          const std::string& ca = "ca") const {
    return {.tls_cert = Path(cert), .tls_key = Path(key), .tls_ca = Path(ca), .insecure = false};
  }

  TestAuthority ours_{"our authority"};
  std::string directory_;
};

std::string ErrorOf(const CredentialOptions& options, const std::string& address) {
  const auto server = MakeServerCredentials(options, address);
  const auto channel = MakeChannelCredentials(options, address);
  EXPECT_EQ(server.status(), channel.status());
  return server.ok() ? "accepted" : std::string(server.status().message());
}

TEST_F(CredentialsTest, PlaintextStaysOnThisHostUnlessTold) {
  EXPECT_EQ(ErrorOf({}, "127.0.0.1:0"), "accepted");
  EXPECT_EQ(ErrorOf({}, "[::]:8490"),
            "'[::]:8490' is not a loopback address, so it needs TLS: give --tls-cert, --tls-key "
            "and --tls-ca, or --insecure to speak plaintext");
  for (const std::string address : {"localhost", "host:port", "::1:8490"}) {
    EXPECT_EQ(ErrorOf({}, address),
              "'" + address + "' is not HOST:PORT, such as localhost:8490 or [::1]:8490");
  }
  CredentialOptions insecure;
  insecure.insecure = true;
  EXPECT_EQ(ErrorOf(insecure, "[::]:8490"), "accepted");
  EXPECT_EQ(ErrorOf(Files(), "[::]:8490"), "accepted");
}

TEST_F(CredentialsTest, AllThreeFilesOrNone) {
  CredentialOptions options = Files();
  options.tls_key.clear();
  EXPECT_EQ(ErrorOf(options, "127.0.0.1:0"),
            "--tls-cert, --tls-key and --tls-ca belong together: --tls-key is missing");
}

TEST_F(CredentialsTest, FilesAreCheckedBeforeGrpcSeesThem) {
  EXPECT_EQ(ErrorOf(Files(), "127.0.0.1:0"), "accepted");
  EXPECT_EQ(ErrorOf(Files("none"), "127.0.0.1:0"),
            absl::StrCat("--tls-cert=", Path("none"), ": cannot be opened"));
  EXPECT_EQ(
      ErrorOf(Files("cert", "cert"), "127.0.0.1:0"),
      absl::StrCat("--tls-key=", Path("cert"), ": holds no PEM private key (or an encrypted one)"));
  EXPECT_EQ(ErrorOf(Files("cert", "key", "key"), "127.0.0.1:0"),
            absl::StrCat("--tls-ca=", Path("key"), ": holds no PEM certificate"));

  ours_.Issue(Path("other-cert"), Path("other-key"), "spiffe://job/worker/0/1");
  EXPECT_EQ(ErrorOf(Files("cert", "other-key"), "127.0.0.1:0"),
            absl::StrCat("--tls-key=", Path("other-key"),
                         ": does not belong to --tls-cert=", Path("cert")));
  ours_.Issue(Path("old-cert"), Path("old-key"), "spiffe://job/worker/0/1", -1);
  EXPECT_THAT(ErrorOf(Files("old-cert", "old-key"), "127.0.0.1:0"),
              HasSubstr(absl::StrCat("--tls-cert=", Path("old-cert"), ": has expired at 20")));
  // An expired authority would let in no peer, whatever certificate it has signed.
  TestAuthority("expired", -1).WriteCa(Path("old-ca"));
  EXPECT_THAT(ErrorOf(Files("cert", "key", "old-ca"), "127.0.0.1:0"),
              HasSubstr(absl::StrCat("--tls-ca=", Path("old-ca"), ": has expired at 20")));
  // One valid authority in a bundle suffices.
  std::ofstream(Path("bundle")) << std::ifstream(Path("old-ca")).rdbuf()
                                << std::ifstream(Path("ca")).rdbuf();
  EXPECT_EQ(ErrorOf(Files("cert", "key", "bundle"), "127.0.0.1:0"), "accepted");
}

// The names read from a file are those that the coordinator compares with
// --agent-identity-template.
TEST_F(CredentialsTest, NamesOfAFileAreThoseOfAPeer) {
  ours_.Issue(Path("cert6"), Path("key6"), "rapideye://host/tpu-3", 1, "2001:db8::1",
              {"rapideye://node/n"});
  EXPECT_THAT(*ReadNames("tls-cert", Path("cert6")),
              testing::UnorderedElementsAre("worker", "2001:db8::1", "localhost",
                                            "rapideye://host/tpu-3", "rapideye://node/n"));
  EXPECT_THAT(*ReadNames("tls-cert", Path("cert")), testing::Contains("127.0.0.1"));
  EXPECT_THAT(*ReadNames("tls-ca", Path("ca")), testing::ElementsAre("our authority"));
  EXPECT_THAT(std::string(ReadNames("tls-cert", Path("key")).status().message()),
              HasSubstr("holds no PEM certificate"));
}

// Tells the caller's name, as TLS knows it.
class WhoCalls : public tpu::monitoring::runtime::RuntimeMetricService::Service {
  grpc::Status GetTpuRuntimeStatus(
      grpc::ServerContext* context, const tpu::monitoring::runtime::GetTpuRuntimeStatusRequest*,
      tpu::monitoring::runtime::GetTpuRuntimeStatusResponse* response) override {
    const auto identity = context->auth_context()->FindPropertyValues("peer_spiffe_id");
    if (!identity.empty()) {
      response->set_host_name(std::string(identity[0].data(), identity[0].size()));
    }
    return grpc::Status::OK;
  }
};

struct Answer {
  grpc::Status status;
  std::string caller;
};

Answer Call(const CredentialOptions& options, int port) {
  const std::string address = absl::StrCat("127.0.0.1:", port);
  const auto credentials = MakeChannelCredentials(options, address);
  if (!credentials.ok()) return {ToGrpc(credentials.status()), ""};
  const auto channel = grpc::CreateCustomChannel(address, *credentials, AgentChannelArguments());
  const auto stub = tpu::monitoring::runtime::RuntimeMetricService::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
  tpu::monitoring::runtime::GetTpuRuntimeStatusResponse response;
  Answer answer;
  answer.status = stub->GetTpuRuntimeStatus(&context, {}, &response);
  answer.caller = response.host_name();
  return answer;
}

TEST_F(CredentialsTest, BothEndsProveWhoTheyAre) {
  ours_.Issue(Path("agent-cert"), Path("agent-key"), "spiffe://job/worker/1/2");
  TestAuthority theirs("another authority");
  theirs.WriteCa(Path("their-ca"));
  theirs.Issue(Path("their-cert"), Path("their-key"), "spiffe://job/worker/1/2");

  WhoCalls service;
  int port = 0;
  grpc::ServerBuilder builder;
  ConfigureServer(builder);
  builder.AddListeningPort("127.0.0.1:0", MakeServerCredentials(Files(), "127.0.0.1:0").value(),
                           &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);

  const Answer known = Call(Files("agent-cert", "agent-key"), port);
  EXPECT_TRUE(known.status.ok()) << known.status.error_message();
  EXPECT_EQ(known.caller, "spiffe://job/worker/1/2");

  // This caller is signed by another authority, though it trusts ours.
  EXPECT_EQ(Call(Files("their-cert", "their-key"), port).status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  // This caller trusts another authority, though it is signed by ours.
  EXPECT_EQ(Call(Files("agent-cert", "agent-key", "their-ca"), port).status.error_code(),
            grpc::StatusCode::UNAVAILABLE);
  // This caller has no certificate at all.
  EXPECT_EQ(Call({}, port).status.error_code(), grpc::StatusCode::UNAVAILABLE);

  EXPECT_TRUE(Call(Files("agent-cert", "agent-key"), port).status.ok());
  server->Shutdown(std::chrono::system_clock::now());
}

TEST(IdentityTest, PatternsNameWhoMay) {
  const std::vector<std::string> names = {"host-3", "spiffe://job/agent/1/2"};
  EXPECT_TRUE(MatchesIdentity(names, {"spiffe://job/agent/*"}));
  EXPECT_TRUE(MatchesIdentity(names, {"nobody", "host-?"}));
  EXPECT_TRUE(MatchesIdentity(names, {"host-3"}));
  EXPECT_FALSE(MatchesIdentity(names, {"host"}));
  EXPECT_FALSE(MatchesIdentity(names, {"spiffe://other/agent/*"}));
  EXPECT_FALSE(MatchesIdentity({}, {"*"}));
  // Brackets and backslashes stand for themselves.
  EXPECT_FALSE(MatchesIdentity(names, {"host-[0-9]"}));
  EXPECT_TRUE(MatchesIdentity({"host-[0-9]"}, {"host-[0-9]"}));
  // Other programs read a name only up to a NUL: a name that holds a NUL is no name at all.
  const std::string nul("rapideye-agent\0.evil.example", 28);
  EXPECT_FALSE(MatchesIdentity({nul}, {"rapideye-agent"}));
  EXPECT_FALSE(MatchesIdentity({nul, "rapideye-agent"}, {"*"}));
  EXPECT_FALSE(MatchesIdentity(names, {}));
  EXPECT_EQ(JoinNames({}), "nobody");
  EXPECT_EQ(JoinNames(names), "host-3, spiffe://job/agent/1/2");
}

// A chain is checked against the CA and revocation lists that are on disk now.
TEST_F(CredentialsTest, APeerIsCheckedAgainstWhatIsThereNow) {
  const auto read = [](const std::string& path) {
    return (std::ostringstream() << std::ifstream(path).rdbuf()).str();
  };
  const std::string chain = read(Path("cert"));
  TestAuthority theirs("another authority");
  theirs.WriteCa(Path("their-ca"));
  EXPECT_TRUE(PeerChecker::Load(Path("ca"), "")->Check(chain).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(PeerChecker::Load(Path("their-ca"), "")->Check(chain)));
  EXPECT_TRUE(absl::IsPermissionDenied(PeerChecker::Load(Path("ca"), "")->Check("no PEM")));
  EXPECT_FALSE(PeerChecker::Load(Path("none"), "").ok());
  // A peer whose certificate has expired since it was let in goes on.
  ours_.Issue(Path("old-cert"), Path("old-key"), "spiffe://job/worker/0/1", -1);
  EXPECT_TRUE(PeerChecker::Load(Path("ca"), "")->Check(read(Path("old-cert"))).ok());

  const std::string lists = Path("crl");
  std::filesystem::create_directory(lists);
  ours_.RevokeNobody(lists);
  EXPECT_TRUE(PeerChecker::Load(Path("ca"), lists)->Check(chain).ok());
  ours_.Revoke(Path("cert"), lists);
  const absl::Status revoked = PeerChecker::Load(Path("ca"), lists)->Check(chain);
  EXPECT_TRUE(absl::IsPermissionDenied(revoked));
  EXPECT_THAT(std::string(revoked.message()), HasSubstr("revoked"));
  EXPECT_TRUE(PeerChecker::Load(Path("ca"), lists)->Check(read(Path("old-cert"))).ok());
}

TEST_F(CredentialsTest, AChangedCaIsNoticed) {
  std::promise<bool> still_good;
  const std::string chain = (std::ostringstream() << std::ifstream(Path("cert")).rdbuf()).str();
  std::string warning;
  CertificateWatch watch(Files(),
                         {.warn = [&](const std::string& text) { warning = text; },
                          .changed =
                              [&](const std::shared_ptr<const PeerChecker>& checker) {
                                still_good.set_value(checker->Check(chain).ok());
                              }},
                         absl::Milliseconds(5));
  while (!watch.expiry().authority.has_value()) std::this_thread::yield();
  TestAuthority("an authority of another name").WriteCa(Path("ca"));
  EXPECT_FALSE(still_good.get_future().get());
  EXPECT_TRUE(watch.Stop());
  // A day is left of both certificates.
  EXPECT_THAT(warning,
              testing::AllOf(HasSubstr("--tls-cert ends at 20"), HasSubstr("--tls-ca ends at 20")));
}

TEST(ExpiryNoticeTest, SaysSoAWeekBeforeOnceADay) {
  const absl::Time now = absl::FromUnixSeconds(1'800'000'000);
  ExpiryNotice notice;
  CertificateExpiry expiry = {.certificate = now + absl::Hours(24 * 8),
                              .authority = now + absl::Hours(24 * 300)};
  EXPECT_EQ(notice.Observe(expiry, now), "");
  EXPECT_EQ(notice.Observe({}, now), "");
  const absl::Time later = now + absl::Hours(25);
  EXPECT_THAT(notice.Observe(expiry, later), HasSubstr("--tls-cert ends at 2027-01-23 08:00 UTC"));
  EXPECT_EQ(notice.Observe(expiry, later + absl::Hours(23)), "");
  EXPECT_THAT(notice.Observe(expiry, later + absl::Hours(24)), HasSubstr("--tls-cert"));
  expiry.authority = later;
  EXPECT_THAT(notice.Observe(expiry, later + absl::Hours(48)), HasSubstr("--tls-ca has ended at"));
}

TEST_F(CredentialsTest, IdentitiesNeedCertificates) {
  CredentialOptions options;
  options.identities = {"spiffe://job/*"};
  EXPECT_THAT(ErrorOf(options, "127.0.0.1:0"), HasSubstr("--tls-identity"));
  options = Files();
  options.identities = {"spiffe://job/*"};
  EXPECT_EQ(ErrorOf(options, "127.0.0.1:0"), "accepted");
}

TEST_F(CredentialsTest, AClientSpeaksOnlyWithWhomItMeans) {
  WhoCalls service;
  int port = 0;
  grpc::ServerBuilder builder;
  ConfigureServer(builder);
  builder.AddListeningPort("127.0.0.1:0", MakeServerCredentials(Files(), "127.0.0.1:0").value(),
                           &port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  ASSERT_NE(server, nullptr);
  CredentialOptions options = Files();
  options.identities = {"spiffe://job/coordinator"};
  const Answer foreign = Call(options, port);
  EXPECT_EQ(foreign.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  options.identities = {"spiffe://job/coordinator", "spiffe://job/worker/0/*"};
  EXPECT_TRUE(Call(options, port).status.ok());
  server->Shutdown(std::chrono::system_clock::now());
}

TEST_F(CredentialsTest, ATakenPortIsAnError) {
  WhoCalls service;
  auto start = [&service](const std::string& address, int& port) {
    grpc::ServerBuilder builder;
    builder.RegisterService(&service);
    ConfigureServer(builder);
    builder.AddListeningPort(address, MakeServerCredentials({}, address).value(), &port);
    return builder.BuildAndStart();
  };
  int port = 0;
  int second_port = 0;
  const auto first = start("127.0.0.1:0", port);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(start(absl::StrCat("127.0.0.1:", port), second_port), nullptr);
  EXPECT_EQ(second_port, 0);
  first->Shutdown(std::chrono::system_clock::now());
}

TEST_F(CredentialsTest, AnswersCarryTheText) {
  EXPECT_THAT(Call(Files("none"), 1).status.error_message(), HasSubstr("cannot be opened"));
}

}  // namespace
}  // namespace rapideye::transport
