// usage: rapideye-generate DESCRIPTORS PROTO FOLDER
//
// Writes the C++ of PROTO (a name such as v1/capture.proto) into FOLDER. DESCRIPTORS is
// what `protoc --include_imports --include_source_info --descriptor_set_out` wrote.
#include <google/protobuf/descriptor.pb.h>

#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "proto/generate/generate.h"

namespace {

const google::protobuf::FileDescriptor* Load(const std::string& descriptors,
                                             const std::string& proto,
                                             google::protobuf::DescriptorPool& pool) {
  std::ifstream in(descriptors, std::ios::binary);
  google::protobuf::FileDescriptorSet set;
  if (!set.ParseFromIstream(&in)) throw std::invalid_argument(descriptors + ": no descriptors");
  for (const auto& file : set.file()) {
    if (pool.BuildFile(file) == nullptr) throw std::invalid_argument(file.name() + ": is broken");
  }
  const auto* file = pool.FindFileByName(proto);
  if (file == nullptr) throw std::invalid_argument(proto + ": is not in " + descriptors);
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: rapideye-generate DESCRIPTORS PROTO FOLDER\n";
    return 2;
  }
  try {
    google::protobuf::DescriptorPool pool;
    for (const auto& [path, text] : rapideye::generate::Generate(*Load(argv[1], argv[2], pool))) {
      const auto target = std::filesystem::path(argv[3]) / path;
      std::filesystem::create_directories(target.parent_path());
      if (!(std::ofstream(target) << text).flush()) {
        throw std::invalid_argument(target.string() + ": cannot be written");
      }
    }
  } catch (const std::exception& error) {
    std::cerr << "rapideye-generate: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
