#include "proto/common/secrets/redactor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rapideye::secrets {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Redacted(std::string text) {
  static const Redactor redactor;
  redactor.Redact(text);
  return text;
}

struct Case {
  std::string text;    // with {the secret} in braces of its own
  std::string secret;  // that must be gone
};

std::string Digits(size_t size) {
  constexpr absl::string_view kDigits = "0123456789aBcDeFgHiJkLmNoPqRsTuVwXyZ";
  std::string out;
  while (out.size() < size) out += kDigits[out.size() * 7 % kDigits.size()];
  return out;
}

// Parts keep scanners of repositories from taking these for real ones.
const std::string kJwt = absl::StrCat("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.", Digits(43));
const std::string kPem = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";

std::vector<Case> OfUrlsAndClouds() {
  const std::string aws = absl::StrCat("AKIA", "IOSFODNN7EXAMPLE");
  const std::string temporary = absl::StrCat("ASIA", "IOSFODNN7EXAMPLE");
  const std::string aws_secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
  const std::string google = absl::StrCat("ya29.", Digits(60));
  const std::string api = absl::StrCat("AIza", Digits(35));
  const std::string hub = absl::StrCat("ghp_", Digits(36));
  return {
      {"cannot read https://alice:s3cr3t@example.com/data: timed out", "s3cr3t"},
      {"postgresql://fleet:p@ssw0rd@db:5432/history", "p@ssw0rd"},
      {"redis://:onlypassword@cache:6379/0", "onlypassword"},
      {absl::StrCat("git clone https://oauth2:", hub, "@github.com/acme/model"), hub},
      {absl::StrCat("Authorization: Bearer ", Digits(30)), Digits(30)},
      {"headers={'Authorization': 'Basic YWxpY2U6czNjcjN0'}", "YWxpY2U6czNjcjN0"},
      {"('authorization', 'Bearer abc123def456ghi7')", "abc123def456ghi7"},
      {"Proxy-Authorization: Digest username=\"u\", response=\"6629fae4\"", "username"},
      {absl::StrCat("authorization: ", Digits(40)), Digits(40)},
      {absl::StrCat("called with Bearer ", kJwt), kJwt},
      {"sent Basic YWxpY2U6czNjcjN0 to the proxy", "YWxpY2U6czNjcjN0"},
      {"Cookie: session=0123456789abcdef; theme=dark", "0123456789abcdef"},
      {absl::StrCat("key ", aws, " is not allowed"), aws},
      {absl::StrCat("AWS_ACCESS_KEY_ID=", temporary), temporary},
      {absl::StrCat("Authorization: AWS ", aws, ":frJIUN8DYpKDtOLCwo="), "frJIUN8DYpKDtOLCwo"},
      {absl::StrCat("hmac GOOG1", "EXAMPLEEXAMPLE012345"), "EXAMPLEEXAMPLE012345"},
      {"?next=Authorization%3A%20Bearer%20abc123def456ghi7", "abc123def456ghi7"},
      {"?url=https%3A%2F%2Fx%2Fo%3Faccess_token%3Dabcdefgh%26b", "abcdefgh"},
      {absl::StrCat("aws_secret_access_key = ", aws_secret), aws_secret},
      {absl::StrCat("AWS_SECRET_ACCESS_KEY=", aws_secret, " python train.py"), aws_secret},
      {absl::StrCat("\"SecretAccessKey\": \"", aws_secret, "\""), aws_secret},
      {absl::StrCat("token ", google, " expired"), google},
      {absl::StrCat("https://maps.example/v1?key=", api, "&x=1"), api},
      {absl::StrCat("client ", "GOCSPX-", Digits(28)), Digits(28)},
      {absl::StrCat("{\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n", kPem,
                    "\\n-----END PRIVATE KEY-----\\n\"}"),
       kPem},
      {absl::StrCat("-----BEGIN RSA PRIVATE KEY-----\n", kPem, "\n-----END RSA PRIVATE KEY-----"),
       kPem},
      {absl::StrCat("-----BEGIN OPENSSH PRIVATE KEY-----\n", kPem, "\n", kPem), kPem},
  };
}

std::vector<Case> OfServices() {
  const std::string wandb(40, 'a');
  const std::string face = absl::StrCat("hf_", Digits(34));
  const std::string hub = absl::StrCat("ghp_", Digits(36));
  const std::string slack = absl::StrCat("xoxb-", "123456789012-", Digits(24));
  return {
      {absl::StrCat("login with ", face), face},
      {absl::StrCat("HF_TOKEN=", face), face},
      {absl::StrCat("remote: ", hub), hub},
      {absl::StrCat("github_pat_", Digits(22), "_", Digits(59)), Digits(59)},
      {absl::StrCat("glpat-", Digits(20)), Digits(20)},
      {slack, Digits(24)},
      {"https://hooks.slack.com/services/T000/B000/XXXXsecretXXXX", "XXXXsecretXXXX"},
      {kJwt, kJwt},
      {absl::StrCat("NEPTUNE_API_TOKEN=", "eyJ",
                    "hcGlfYWRkcmVzcyI6Imh0dHBzOi8vYXBwLm5lcHR1bmUuYWkifQ=="),
       "hcGlfYWRkcmVzcyI6"},
      {absl::StrCat("api_token: eyJ", std::string(44, 'a'), "=="), std::string(44, 'a')},
      {absl::StrCat("WANDB_API_KEY=", wandb), wandb},
      {absl::StrCat("wandb login --relogin ", wandb), wandb},
      {absl::StrCat("wandb: key wandb_v1_", Digits(40)), Digits(40)},
      {absl::StrCat("OPENAI_API_KEY=sk-proj-", Digits(40)), Digits(40)},
      {absl::StrCat("with sk-ant-", Digits(40)), Digits(40)},
      {absl::StrCat("npm_", Digits(36)), Digits(36)},
  };
}

// Names and secrets apart from each other: by colours of a terminal, brackets, entities, lines.
std::vector<Case> Apart() {
  const std::string token = Digits(32);
  std::vector<Case> all;
  for (const std::string text : {"\x1b[36mtoken\x1b[0m=\x1b[35m{}\x1b[0m",
                                 "token\x1b[0m: {}",
                                 "PASSWORD :={}",
                                 "password==>{}",
                                 "password=({})",
                                 "password=[{}]",
                                 "Password([{}])",
                                 "password=<{}>",
                                 "password&#61;{}",
                                 "password&quot;:&quot;{}&quot;",
                                 "password: |\n  {}\n",
                                 "password: >-\n  {}",
                                 "password=\r\n{}",
                                 "{\"value\":\"{}\",\"name\":\"DB_PASSWORD\"}",
                                 "<add key=\"Password\" value=\"{}\"/>",
                                 "GH_PAT={}",
                                 "LDAP_BIND_PW={}",
                                 "RABBITMQ_DEFAULT_PASS={}",
                                 "DOCKER_AUTH_CONFIG={}",
                                 "{'bearer': '{}'}",
                                 "auth: {}",
                                 "--auth {}",
                                 "passcode={}",
                                 "otp: {}",
                                 "?session={}&x=1",
                                 "--connection_string={}",
                                 "x-honeycomb-team={}",
                                 "X-Functions-Key: {}",
                                 "wandb login {}",
                                 "Sec-WebSocket-Protocol: bearer, {}",
                                 "HEADERS=authorization=Basic%20{}",
                                 "sudo -S <<< {}",
                                 "mosquitto_pub -u u -P {}",
                                 "https:\\/\\/u:{}@h",
                                 "https%3A%2F%2Fu%3A{}%40h%2Fx"}) {
    std::string whole = text;
    whole.replace(whole.find("{}"), 2, token);
    all.push_back({whole, token});
  }
  return all;
}

// Tokens that begin with a name of their service.
std::vector<Case> Prefixed() {
  const std::string hex = "0123456789abcdef0123456789abcdef";
  std::vector<Case> all;
  for (const std::string begin :
       {"dop_v1_", "hvs.",        "dckr_pat_", "gsk_",     "r8_",        "nvapi-",      "xai-",
        "tgp_v1_", "lsv2_pt_",    "sk_live_",  "rk_test_", "glsa_",      "glc_",        "lin_api_",
        "sq0atp-", "ATATT3",      "glrt-",     "glptt-",   "dp.pt.",     "fo1_",        "fm2_",
        "nfp_",    "tskey-auth-", "CCIPAT_",   "ATBB",     "HRKU-",      "pscale_tkn_", "pnu_",
        "jina_",   "tvly-",       "fw_",       "pa-",      "apify_api_", "whsec_",      "ntn_",
        "secret_", "sntrys_",     "figd_",     "pplx-",    "rpa_",       "pcsk_",       "phc_"}) {
    const std::string body = begin == "dop_v1_" ? hex : Digits(44);
    all.push_back({absl::StrCat("sent ", begin, body, " to it"), body});
  }
  for (const std::string& whole :
       {absl::StrCat("dap", "i", hex),
        absl::StrCat("SG", ".", Digits(22), ".", Digits(43)),
        absl::StrCat("AGE-SECRET", "-KEY-1", std::string(58, 'Q')),
        absl::StrCat(Digits(14), ".atlasv1.", Digits(60)),
        absl::StrCat("abc8Q", "~", Digits(34)),
        absl::StrCat("NR", "AK-", std::string(26, 'X')),
        absl::StrCat("shp", "at_", hex),
        absl::StrCat("pat", Digits(14), ".", hex, hex),
        absl::StrCat("sb", "p_", hex, "01234567"),
        absl::StrCat("pu", "l-", hex, "01234567"),
        absl::StrCat("ruby", "gems_", hex, hex.substr(16)),
        absl::StrCat("bk", "ua_", hex, "01234567"),
        absl::StrCat("sq", "p_", hex, "01234567"),
        absl::StrCat("snt", "ryu_", hex, hex),
        absl::StrCat("KGA", "T_", hex),
        absl::StrCat("AKC", "p", Digits(70)),
        absl::StrCat("ABS", "K", Digits(70)),
        absl::StrCat("S", "K", hex),
        absl::StrCat("ke", "y-", hex),
        absl::StrCat("123456789:", "AA", Digits(33)),
        absl::StrCat("M", Digits(24), ".", Digits(6), ".", Digits(30))}) {
    all.push_back({absl::StrCat("sent ", whole, " to it"), whole});
  }
  return all;
}

std::vector<Case> OfChatsAndUrls() {
  return {
      {absl::StrCat("https://hooks.slack.com/triggers/T1/2/", Digits(24)), Digits(24)},
      {absl::StrCat("https://discord.com/api/webhooks/1234567890/", Digits(60)), Digits(60)},
      {absl::StrCat("https://api.telegram.org/bot123456789:", Digits(35), "/send"), Digits(35)},
      {absl::StrCat("https://acme.webhook.office.com/webhookb2/", Digits(36), "@", Digits(36)),
       Digits(36)},
      {absl::StrCat("https://", Digits(32), "@o1.ingest.sentry.io/12"), Digits(32)},
      {absl::StrCat("fatal: https://", Digits(40), "@github.com/acme/x.git"), Digits(40)},
      {"dial user:s3cr3t@tcp(db:3306)/x", "s3cr3t"},
      {"https://x/?jwt=s3cr3tvalue", "s3cr3tvalue"},
      {"https://x/?pass=s3cr3tvalue&b", "s3cr3tvalue"},
      {"wss://x/?auth=s3cr3tvalue01", "s3cr3tvalue01"},
      {"https://x/cb?code=s3cr3tvalue01&state=1", "s3cr3tvalue01"},
      {"Authorization: SharedKey account:s3cr3tvalue=", "s3cr3tvalue"},
      {"Ocp-Apim-Subscription-Key: s3cr3t", "s3cr3t"},
  };
}

std::vector<Case> OfCommandsAndSettings() {
  return {
      {"export DB_PASS=\"s3cr3t\"", "s3cr3t"},
      {"SMTP_PASS: s3cr3t", "s3cr3t"},
      {"ansible-playbook -e ansible_ssh_pass=s3cr3t", "s3cr3t"},
      {"keytool -storepass s3cr3t -list", "s3cr3t"},
      {"SSHPASS=s3cr3t sshpass -e ssh host", "s3cr3t"},
      {"REDISCLI_AUTH=s3cr3t redis-cli ping", "s3cr3t"},
      {"//registry.npmjs.org/:_authToken=s3cr3tvalue", "s3cr3tvalue"},
      {"FERNET_KEY=s3cr3t", "s3cr3t"},
      {"SECRET_KEY_BASE=s3cr3t", "s3cr3t"},
      {"client-key-data: czNjcjN0dmFsdWVzM2NyM3R2YWx1ZQ==", "czNjcjN0dmFsdWVz"},
      {R"({"name":"DB_PASSWORD","value":"s3cr3t"})", "s3cr3t"},
      {"V1EnvVar(name='HUB_TOKEN', value='s3cr3tvalue')", "s3cr3tvalue"},
      {"<db:password>s3cr3t</db:password>", "s3cr3t"},
      {"[('password', 's3cr3t')]", "s3cr3t"},
      {"the password is s3cr3t", "s3cr3t"},
      {"Config(api_key=SecretStr('s3cr3t'))", "s3cr3t"},
      {"openssl rsa -passin pass:s3cr3t -in k", "s3cr3t"},
      {"az login --service-principal -u app -p s3cr3t", "s3cr3t"},
      {"mongosh -u admin -p s3cr3t", "s3cr3t"},
      {"smbclient //h/s -U user%s3cr3t", "s3cr3t"},
      {"kubectl create secret generic x --from-literal=key=s3cr3t", "s3cr3t"},
      {"aws configure set aws_secret_access_key s3cr3t", "s3cr3t"},
      {"zip -r -P s3cr3t out.zip", "s3cr3t"},
      {"7z x -ps3cr3t in.7z", "s3cr3t"},
  };
}

std::vector<Case> Assigned() {
  const std::string api = absl::StrCat("AIza", Digits(35));
  return {
      {"train.py --password=hunter2 --steps=10", "hunter2"},
      {"train.py --password=a,b;c&d --steps=10", "a,b;c&d"},
      {"train.py --password hunter2 --steps=10", "hunter2"},
      {"train.py --db-password=\"two words\"", "two words"},
      {"train.py --api-key 0123abcd", "0123abcd"},
      {"train.py --token=abcdef", "abcdef"},
      {"train.py --hf_token s3cr3tvalue", "s3cr3tvalue"},
      {"DB_PASSWORD=12345 MODE=train", "12345"},
      {"MY_SERVICE_TOKEN=abc,def", "abc,def"},
      {"config: {\"password\": \"quote \\\" inside\", \"user\": \"u\"}", "inside"},
      {R"(body: "{\"password\":\"escaped\",\"user\":\"u\"}")", "escaped"},
      {"connect(host='db', password='hunter2', port=1)", "hunter2"},
      {"connect(password=b'hunter2')", "hunter2"},
      {"client_secret: 9f8e7d6c", "9f8e7d6c"},
      {"secret=topsecret", "topsecret"},
      {"https://x/y?access_token=abcdefgh&b=1", "abcdefgh"},
      {"X-Api-Key: 12ab34cd", "12ab34cd"},
      {"X-Auth-Token: 0123456789abcdef", "0123456789abcdef"},
      {"{'token': 's3cr3tvalue'}", "s3cr3tvalue"},
      {"token: 0a1b2c3d4e5f", "0a1b2c3d4e5f"},
      {"https://storage.googleapis.com/b/o?X-Goog-Algorithm=A&X-Goog-Signature=deadbeef0123&x=1",
       "deadbeef0123"},
      {"https://b.s3.amazonaws.com/o?X-Amz-Credential=abc%2F2026&X-Amz-Signature=feedface99",
       "feedface99"},
      {"https://a.blob.core.windows.net/c?sv=2024&sig=abc%2Bdef%3D&se=2026", "abc%2Bdef%3D"},
      {"AccountName=a;AccountKey=Zm9vYmFy==;EndpointSuffix=core", "Zm9vYmFy"},
      {"machine api.wandb.ai login user password 0123456789", "0123456789"},
      {"curl -s -u alice:s3cr3t https://x", "s3cr3t"},
      {"sshpass -p s3cr3t ssh host", "s3cr3t"},
      {"docker login -u alice -p s3cr3t gcr.io", "s3cr3t"},
      {"mysql -uroot -ps3cr3t fleet", "s3cr3t"},
      {"redis-cli -h cache -a s3cr3t ping", "s3cr3t"},
      {"os.environ['WANDB_API_KEY'] = 's3cr3t'", "s3cr3t"},
      {"wrong api key: s3cr3t", "s3cr3t"},
      {R"({"auths":{"gcr.io":{"auth":"YWxpY2U6czNjcjN0"}}})", "YWxpY2U6czNjcjN0"},
  };
}

std::vector<Case> OfHeadersAndLogins() {
  const std::string key = Digits(24);
  return {
      {absl::StrCat("Authorization: SSWS ", key), key},
      {absl::StrCat("authorization: GoogleLogin auth=", key), key},
      {absl::StrCat("curl -H Authorization:\\ Bearer\\ ", key), key},
      {absl::StrCat("Authorization: Digest username=\"u\", response=\"", key, "\""), key},
      {absl::StrCat(R"({"Authorization": "OAuth oauth_signature=\")", key, R"(\""})"), key},
      {absl::StrCat("cookies={\"sessionid\": \"", key, "\"}"), key},
      {absl::StrCat("PHPSESSID=", key), key},
      {absl::StrCat("curl -b session=", key, " https://x"), key},
      {absl::StrCat("SAMLResponse=", key), key},
      {"auth=('svc', 'hunter')", "hunter"},
      {"requests.get(url, auth=HTTPBasicAuth(\"u\", \"hunter\"))", "hunter"},
      {absl::StrCat("{'access': '", key, "', 'refresh': '", Digits(30), "'}"), Digits(30)},
      {absl::StrCat("login(key='", key, "')"), key},
      {absl::StrCat("{\"username\":\"u\",\"key\":\"", key, "\"}"), key},
      {"(user='u', pass='hunter')", "hunter"},
      {absl::StrCat("{\"kty\":\"RSA\",\"d\":\"", key, "\",\"e\":\"AQAB\"}"), key},
      {absl::StrCat("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n", kPem, "\n---- END"), kPem},
      {absl::StrCat("Private-Lines: 1\n", kPem, "\nPrivate-MAC: 0"), kPem},
      {absl::StrCat("data: LS0tLS1CRUdJTiB", "SU0EgUFJJVkFURSBLRVk", key), key},
  };
}

std::vector<Case> OfUrlsAndDatabases() {
  const std::string key = Digits(32);
  return {
      {"https://user:pa/ss9word@host/x", "pa/ss9word"},
      {"jdbc:oracle:thin:scott/hunter2@//db:1521/x", "hunter2"},
      {"sqlplus scott/hunter2@orcl", "hunter2"},
      {"db:5432:x:train:hunter2", "hunter2"},
      {absl::StrCat("https://conda.example/t/", key, "/acme"), key},
      {absl::StrCat("https://x/?sessionid=", key), key},
      {"https://cdn/o?hdnea=exp=1~hmac=0123456789abcdef", "0123456789abcdef"},
      {"CREATE USER train IDENTIFIED BY 'hunter'", "hunter"},
      {"ALTER USER train WITH PASSWORD 'hunter'", "hunter"},
      {"requirepass hunter", "hunter"},
      {absl::StrCat("fs.s3a.secret.key=", key), key},
      {absl::StrCat("spark.hadoop.fs.s3a.secret.key ", key), key},
      {absl::StrCat("fs.azure.account.key.acme.dfs.core.windows.net=", key, "=="), key},
  };
}

std::vector<Case> OfTools() {
  return {
      {"podman login -u u -p hunter quay.io", "hunter"},
      {"helm registry login -u u -p hunter r.io", "hunter"},
      {"twine upload -u __token__ -p hunter dist/*", "hunter"},
      {"skopeo copy --src-creds u:hunter docker://x", "hunter"},
      {"run --basic-auth=u:hunter", "hunter"},
      {"etcdctl --user root:hunter2x get k", "hunter2x"},
      {"http -a u:hunter GET x", "hunter"},
      {"echo hunter | docker login -u u --password-stdin", "hunter"},
      {"echo hunter | sudo -S make", "hunter"},
      {"echo 'u:hunter' | chpasswd", "hunter"},
      {"restic --password-command 'echo hunter'", "hunter"},
      {"unzip -P hunter x.zip", "hunter"},
      {"openssl enc -k hunter", "hunter"},
      {"ldapsearch -D cn=a -w hunter", "hunter"},
      {"ipmitool -I lanplus -H h -U a -P 'hunter'", "hunter"},
      {"snmpwalk -A hunter -X x", "hunter"},
      {"samba-tool user create u hunter", "hunter"},
      {"net use \\\\h\\s /user:u hunter", "hunter"},
      {"wpa_passphrase net hunter", "hunter"},
      {"useradd -p hunter u", "hunter"},
      {"sqlcmd -S h -U sa -P hunter", "hunter"},
      {"htpasswd -b f u hunter", "hunter"},
      {"rabbitmqctl add_user u hunter", "hunter"},
      {"rclone obscure hunter", "hunter"},
      {"mc alias set m http://h KEY hunter", "hunter"},
      {"ftp: > PASS hunter", "hunter"},
      {"vault login hunter2hunter2", "hunter2hunter2"},
      {"ngc config set apikey hunter2", "hunter2"},
      {"poetry config pypi-token.pypi hunter2", "hunter2"},
      {"redis-cli --pass hunter", "hunter"},
  };
}

std::vector<Case> BehindNames() {
  const std::string key = Digits(24);
  return {
      {absl::StrCat("ENV NGC_API_KEY ", key), key},
      {absl::StrCat("setenv DB_PASS ", key), key},
      {absl::StrCat("secret_access_key -> ", key), key},
      {absl::StrCat("the password is: ", key), key},
      {absl::StrCat("access token ", key, " is expired"), key},
      {absl::StrCat("wandb: api key ", key, " is invalid"), key},
      {absl::StrCat("--api_key", std::string(1, '\0'), "hunter", std::string(1, '\0')), "hunter"},
      {"['--password', 'hunter', '--steps']", "hunter"},
      {absl::StrCat("[\"--hf_token\",\"", key, "\"]"), key},
      {absl::StrCat("--wandb-key=", key), key},
      {absl::StrCat("DD-APPLICATION-KEY: ", key), key},
      {absl::StrCat("\"routing_key\":\"", key, "\""), key},
      {absl::StrCat("role_id=x secret_id=", key), key},
      {absl::StrCat("OPENAI_KEY=", key), key},
      {absl::StrCat("run --pass=", key), key},
      {"SecretString='hunter'", "hunter"},
      {"train.py --password=<angle>9 --steps=3", "<angle>9"},
  };
}

std::vector<Case> Secrets() {
  std::vector<Case> all = OfUrlsAndClouds();
  for (const std::vector<Case>& more :
       {OfServices(), Prefixed(), Apart(), OfChatsAndUrls(), OfCommandsAndSettings(), Assigned(),
        OfHeadersAndLogins(), OfUrlsAndDatabases(), OfTools(), BehindNames()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

TEST(RedactorTest, SecretsAreGoneAndTheirNamesStay) {
  for (const Case& one : Secrets()) {
    ASSERT_TRUE(absl::StrContains(one.text, one.secret)) << one.text;
    const std::string redacted = Redacted(one.text);
    EXPECT_THAT(redacted, AllOf(Not(HasSubstr(one.secret)), HasSubstr("[redacted]"))) << one.text;
    EXPECT_EQ(Redacted(redacted), redacted) << "once is enough: " << one.text;
    // The secret is found within a longer line, too.
    const std::string within = absl::StrCat("I1123 10:00:00 99 a.cc:7] ", one.text);
    EXPECT_THAT(Redacted(within), Not(HasSubstr(one.secret))) << within;
  }
}

TEST(RedactorTest, AllOfSeveralAreGone) {
  std::string all;
  for (const Case& one : Secrets()) absl::StrAppend(&all, one.text, "\n");
  const std::string redacted = Redacted(all);
  for (const Case& one : Secrets()) EXPECT_THAT(redacted, Not(HasSubstr(one.secret)));
}

TEST(RedactorTest, ShowsWhatItWas) {
  EXPECT_EQ(Redacted("train --password=hunter2 --steps=10"),
            "train --password=[redacted] --steps=10");
  EXPECT_EQ(Redacted("https://alice:s3cr3t@example.com/x"), "https://[redacted]@example.com/x");
  EXPECT_EQ(Redacted("{\"token\": \"abc123def\", \"step\": 4}"),
            "{\"token\": \"[redacted]\", \"step\": 4}");
  EXPECT_EQ(Redacted("?X-Amz-Signature=feedface99&x=1"), "?X-Amz-Signature=[redacted]&x=1");
}

TEST(RedactorTest, WhatOnlyLooksLikeASecretStays) {
  for (const std::string text : {
           "",
           "commit 3f786850e387550fdab836ed7e6dc881de23001b",
           "fingerprint 0x9e107d9d372bb6826bd81d3542a419d6, program "
           "e4d909c290d0fb1ca068ffaddf22cbd0",
           "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
           "/home/alice/checkpoints/step_1000/params.npz",
           "gs://bucket/llama-70b/checkpoints/42",
           "ssh://git@github.com/acme/model.git",
           "http://10.0.0.3:8431/status and http://[::1]:8080/x",
           "t1v-n-0a1b2c3d-w-12.us-central2-b.c.my-project.internal",
           "gke-tpu-7d8f9a0b-x1zq",
           "pod llama-70b-slice-0-0-abcde of namespace training",
           "%all-reduce.3 = f32[8,128]{1,0:T(8,128)} all-reduce(f32[8,128] %fusion.212)",
           "%token.1 = token[] after-all()",
           "%outfeed = token[] outfeed(%p, token[] %token.1)",
           "jit_train_step(hf_transformer_layer, num_tokens=4096)",
           "max_tokens=2048 pad_token=<pad> eos_token='</s>' bos_token: \"<s>\" num_token: 12",
           "pad_token=eos, unk_token=unk_piece_7 token_id=5 tokens: 1234567",
           "token=17 next_token=31999 token: 0x7ffe12345678",
           "SyntaxError: invalid token: expected an expression",
           "Unexpected token: identifier",
           "/etc/passwd: No such file or directory",
           "open /var/run/secrets/kubernetes.io/serviceaccount/token: permission denied",
           "--tls-key=/etc/rapideye/tls.key --token-file=/var/run/token",
           "GOOGLE_APPLICATION_CREDENTIALS=/var/secrets/google/key.json",
           "PWD=/home/alice/train OLDPWD=/",
           "password=None, secret=null api_key: false",
           "authorization failed: permission denied",
           "basic_block and Basic synchronization primitives",
           "bearer of bad news",
           "jax.random.key(0) PRNGKey=42 sort_key=step",
           "disk-0123456789abcdefghij and task-0123456789abcdefghij01",
           "tensorflow::Credentials::Fetch(secret::Handle*)",
           "std::map<std::string, Token>::operator[](const Token&)",
           "6x2x0_SC1 pc=0x1f3 tag=7 launch_id=-12",
           "MEGASCALE_COORDINATOR_ADDRESS=10.0.0.2:8080 TPU_WORKER_ID=3",
           "XLA_FLAGS=--xla_tpu_enable_latency_hiding_scheduler=true --xla_dump_to=/tmp/x",
           "i.e. user@example.com wrote: hello",
           "HLO pass: fusion, forward_pass=0.31s num_pass: 3 bypass=1 --pass=licm",
           "password is required; the secret is missing; passphrase was wrong",
           "columns=['user', 'password', 'email'] by ('secret', 'namespace')",
           "name: step_token, value of 17; env name=TOKENIZERS_PARALLELISM, value=false",
           "https://storage.googleapis.com/bucket/o?code=404&auth=none",
           "https://alice@example.com/repository.git",
           "r8_fusion gsk_kernel_7 pattern.0 SG.1.2 xai-7 sk_live_step dapi12 hvs.step",
           "7z of zip -r out.zip in, mongo -u admin, az login -u app",
           "client-key: /etc/tls/client.key",
           "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
           "already password=[redacted] and https://[redacted]@host/",
       }) {
    EXPECT_EQ(Redacted(text), text);
  }
}

// Lines of code, usage texts, and values that other forms of secrets resemble.
TEST(RedactorTest, CodeAndPlaceholdersStay) {
  for (const std::string text :
       {"    password = getpass.getpass()", "    api_key = os.environ['API_KEY']",
        "    headers['X-Api-Key'] = self._api_key", "    login(token=token)",
        "def login(user: str, password: str, secret: str = None) -> None:",
        "std::string token = absl::StrCat(a, b);",
        "usage: train.py [--token TOKEN] [--password PASSWORD] [--api-key KEY]",
        "credentials: application default", "Password authentication failed for user \"train\"",
        "secret \"train-slice-0-tls\" not found",
        "docker run --user 1000:100 image; chown --user root:wheel",
        "cache_key: e4d909c290d0fb1ca068ffaddf22cbd0 and cache key "
        "e4d909c290d0fb1ca068ffaddf22cbd0",
        "git clone ssh://git@github.com:acme/m.git; http://[::1]:8080/x@y https://host:8080/a@b",
        "session_id=42, session_id=123e4567-e89b-12d3-a456-426614174000",
        "{\"d\": \"f32[8,128]\", \"p\": 0.5, \"q\": \"short\"}",
        "echo step 12 | tee log; echo 'a:b' | sort",
        "pul-1 sqp_1 pn_step phc_1 rpa_layer_7 nfp_block SK12 key-12 figd_x ntn_layer",
        "MyModule_layer_norm_12345.forward.some_function_name_that_is_long_enough"}) {
    EXPECT_EQ(Redacted(text), text);
  }
}

// Lines that real jobs wrote, none of which holds a secret.
TEST(RedactorTest, RealLogLinesStayAsTheyAre) {
  const std::string path = absl::StrCat(std::getenv("RAPIDEYE_TEST_DATA"), "/log-lines.tsv");
  std::ifstream in(path);
  ASSERT_TRUE(in.is_open()) << path;
  int lines = 0;
  for (std::string line; std::getline(in, line); ++lines) EXPECT_EQ(Redacted(line), line);
  EXPECT_GT(lines, 90);
}

TEST(RedactorTest, OwnPatternsBlotOutTheirGroupsOrAll) {
  const auto redactor = Redactor::Create({"acme-[0-9]+", "badge (\\d+) of (\\w+)", "é+"});
  ASSERT_TRUE(redactor.ok()) << redactor.status();
  std::string text = "acme-17 saw badge 42 of bob, ééé, password=x";
  EXPECT_TRUE(redactor->Redact(text));
  EXPECT_EQ(text, "[redacted] saw badge [redacted] of [redacted], [redacted], password=[redacted]");
  text = "nothing here";
  EXPECT_FALSE(redactor->Redact(text));
}

TEST(RedactorTest, WrongPatternsAreNamed) {
  EXPECT_THAT(Redactor::Create({"(unclosed"}).status().message(),
              AllOf(HasSubstr("'(unclosed'"), HasSubstr("missing )")));
  EXPECT_THAT(Redactor::Create({"x*"}).status().message(), HasSubstr("the empty text"));
  EXPECT_THAT(Redactor::Create({std::string(2000, 'x')}).status().message(), HasSubstr("1024"));
  EXPECT_THAT(Redactor::Create(std::vector<std::string>(65, "x")).status().message(),
              HasSubstr("64"));
  EXPECT_TRUE(Redactor::Create(std::vector<std::string>(64, "x")).ok());
}

// Texts made to be slow: beginnings of forms that never end, a mebibyte of each.
TEST(RedactorTest, TakesTimeLinearInTheText) {
  for (const std::string piece :
       {"-----BEGIN PRIVATE KEY-----", "http://a:", "token=", "password:", "authorization: basic ",
        "eyJaaaaaaaa.", "curl -u a", "a", "echo a ", "docker login ", "ftp user: ", "auth('a',",
        "----BEGIN ", "\"password\":\"\\", "login a password "}) {
    std::string text;
    while (text.size() < (size_t{1} << 20)) text += piece;
    Redacted(text);  // ends: the test's own deadline would tell
    text += " password=hunter2";
    EXPECT_THAT(Redacted(text), Not(HasSubstr("hunter2"))) << piece;
  }
}

TEST(RedactorTest, BytesThatAreNoTextDoNoHarm) {
  EXPECT_EQ(Redacted("\xff\xfe password=\xff\xff \x01"), "\xff\xfe password=[redacted] \x01");
  EXPECT_EQ(Redacted(std::string("a\0password=b", 12)), std::string("a\0password=[redacted]", 21));
}

}  // namespace
}  // namespace rapideye::secrets
