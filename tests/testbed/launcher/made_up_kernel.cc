#include "tests/testbed/launcher/made_up_kernel.h"

#include <time.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace rapideye::testbed {
namespace {

namespace fs = std::filesystem;

// Errors that the chips had before the job.
constexpr int kOldFatalErrors = 3;
constexpr double kOldLineSeconds = 1;

absl::Status Write(const std::string& path, absl::string_view text, std::ios::openmode mode) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  std::ofstream file(path, mode);
  file << std::string(text);
  file.close();
  return file ? absl::OkStatus() : absl::UnavailableError(absl::StrCat(path, ": cannot write"));
}

absl::Status Link(const std::string& target, const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  fs::create_directory_symlink(target, path, error);
  if (error) return absl::UnavailableError(absl::StrCat(path, ": ", error.message()));
  return absl::OkStatus();
}

double SecondsSinceBoot() {
  timespec now = {};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

// The order differs from that of the chips, so that a mix-up of the two shows.
std::string MadeUpKernel::AddressOf(int chip) { return absl::StrCat("0000:0", 9 - chip, ":00.0"); }

absl::Status MadeUpKernel::Create(int chips) const {
  for (int chip = 0; chip < chips; ++chip) {
    if (absl::Status s = CreateChip(chip); !s.ok()) return s;
  }
  return Log(0, "AER: device recovery failed", kOldLineSeconds);
}

absl::Status MadeUpKernel::CreateChip(int chip) const {
  const std::string device = absl::StrCat(sys(), "/bus/pci/devices/", AddressOf(chip));
  for (const auto& [file, text] : {std::pair("vendor", "0x1ae0\n"), {"device", "0x006f\n"}}) {
    if (absl::Status s = Write(absl::StrCat(device, "/", file), text, std::ios::trunc); !s.ok()) {
      return s;
    }
  }
  if (absl::Status s = Link(absl::StrCat("../../../bus/pci/devices/", AddressOf(chip)),
                            absl::StrCat(sys(), "/class/accel/accel", chip, "/device"));
      !s.ok()) {
    return s;
  }
  return CountErrors(chip, kOldFatalErrors);
}

absl::Status MadeUpKernel::CountErrors(int chip, int fatal) const {
  const std::string device = absl::StrCat(sys(), "/bus/pci/devices/", AddressOf(chip));
  for (const auto& [file, text] :
       {std::pair("aer_dev_fatal", absl::StrCat("DLP ", fatal, "\nTOTAL_ERR_FATAL ", fatal, "\n")),
        std::pair("aer_dev_nonfatal", std::string("TOTAL_ERR_NONFATAL 0\n")),
        std::pair("aer_dev_correctable", std::string("RxErr 17\nTOTAL_ERR_COR 17\n"))}) {
    // A rename lets readers see either the old count or the new one.
    const std::string path = absl::StrCat(device, "/", file);
    if (absl::Status s = Write(path + ".new", text, std::ios::trunc); !s.ok()) return s;
    std::error_code error;
    fs::rename(path + ".new", path, error);
    if (error) return absl::UnavailableError(absl::StrCat(path, ": ", error.message()));
  }
  return absl::OkStatus();
}

absl::Status MadeUpKernel::Log(int chip, absl::string_view text, double since_boot) const {
  const std::string address = AddressOf(chip);
  const double at = since_boot < 0 ? SecondsSinceBoot() : since_boot;
  return Write(dev() + "/kmsg",
               absl::StrCat("3,", static_cast<int64_t>(at), ",", static_cast<int64_t>(at * 1e6),
                            ",-;vfio-pci ", address, ": ", text,
                            "\n SUBSYSTEM=pci\n DEVICE=+pci:", address, "\n"),
               std::ios::app);
}

absl::Status MadeUpKernel::Tell(KernelFault fault, int chip) const {
  if (fault == KernelFault::kFatalError) return CountErrors(chip, kOldFatalErrors + 1);
  return Log(chip,
             "PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)",
             -1);
}

}  // namespace rapideye::testbed
