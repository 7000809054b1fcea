#!/usr/bin/python3
"""The layering check refuses what it must: each violation has a lawful twin."""

import json
import os
import subprocess
import tempfile
import unittest

import layering

CONFIG = layering.load()


def problems(path, *lines):
    return layering.include_problems({path: "\n".join(lines) + "\n"}, CONFIG)


class Includes(unittest.TestCase):
    def refused(self, path, include, why):
        found = problems(path, "#include <vector>", f"#include {include}")
        self.assertEqual(len(found), 1, found)
        self.assertIn(f"{path}:2:", found[0])
        self.assertIn(why, found[0])

    def accepted(self, path, include):
        self.assertEqual(problems(path, f"#include {include}"), [])

    def test_arrows_point_one_way(self):
        self.refused("classifier/a.cc", '"proto/wire/messages.h"', "may not use proto/wire")
        self.accepted("proto/wire/a.cc", '"proto/v1/evidence.h"')
        self.refused("coordinator/core/a.h", '"coordinator/server/web.h"', "may not use coordinator/server")
        self.refused("coordinator/store/a.h", '"coordinator/server/web.h"', "may not use coordinator/server")
        self.refused("coordinator/server/a.h", '"coordinator/daemon/a.h"', "may not use coordinator/daemon")
        self.refused("digest/a.h", '"coordinator/cli/a.h"', "may not use coordinator/cli")
        self.accepted("coordinator/server/a.h", '"coordinator/core/core.h"')
        self.refused("agent/core/a.cc", '"agent/sources/runtime/fetch.h"', "may not use")
        self.refused("agent/sources/nic/state.h", '"agent/core/effects.h"', "may not use")
        self.accepted("agent/daemon/a.cc", '"agent/sources/runtime/parse.h"')
        self.refused("agent/daemon/main.cc", '"coordinator/core/core.h"', "may not use coordinator/core")
        self.refused("digest/render.cc", '"tests/testbed/job.h"', "may not use tests")
        self.accepted("tests/e2e/a.cc", '"coordinator/core/core.h"')

    def test_libraries_are_allowed_one_by_one(self):
        self.refused("classifier/a.cc", '"nlohmann/json.hpp"', "may not use that library")
        self.accepted("digest/a.cc", '"nlohmann/json.hpp"')
        self.refused("proto/wire/a.cc", "<grpcpp/grpcpp.h>", "may not use that library")
        self.accepted("proto/transport/a.cc", "<grpcpp/grpcpp.h>")
        self.refused("coordinator/core/a.cc", '"v1/agent.pb.h"', "may not use v1")
        self.accepted("coordinator/core/a.cc", '"proto/v1/evidence.h"')
        self.refused("proto/v1/evidence.h", '"v1/capture.pb.h"', "may not use v1")
        self.accepted("proto/wire/a.cc", '"v1/agent.pb.h"')

    def test_pure_code_has_no_world(self):
        for header in ("thread", "mutex", "chrono", "random", "fstream", "iostream"):
            self.refused("classifier/a.cc", f"<{header}>", "impure header")
            self.accepted("coordinator/daemon/a.cc", f"<{header}>")
        self.refused("digest/a.cc", "<unistd.h>", "C or POSIX")
        self.refused("digest/a.cc", "<sys/socket.h>", "C or POSIX")
        self.refused("agent/core/a.h", '"absl/time/clock.h"', "impure library")
        self.accepted("agent/core/a.h", '"absl/time/time.h"')
        self.refused("agent/core/a.h", "<spdlog/spdlog.h>", "may not use that library")

    def test_only_fetch_does_input_and_output(self):
        self.refused("agent/sources/process/parse.cc", "<fcntl.h>", "C or POSIX")
        self.accepted("agent/sources/process/fetch.cc", "<fcntl.h>")

    def test_what_the_kernel_sends_is_data(self):
        for header in ("linux/inet_diag.h", "sys/socket.h", "sys/syscall.h"):
            self.accepted("agent/sources/tcp/parse.cc", f"<{header}>")
            self.refused("agent/core/a.cc", f"<{header}>", "C or POSIX")
        self.refused("agent/sources/tcp/parse.cc", "<linux/fs.h>", "C or POSIX")
        self.refused("agent/sources/tcp/parse.cc", "<sys/stat.h>", "C or POSIX")

    def test_only_readers_and_writers_of_captures_open_files(self):
        self.refused("proto/wire/messages.cc", "<fstream>", "impure header")
        self.accepted("proto/capture/capture_reader.cc", "<fstream>")
        self.refused("agent/core/a.cc", '"proto/capture/capture_reader.h"', "may not use")
        self.accepted("coordinator/cli/a.cc", '"proto/capture/capture_reader.h"')

    def test_unit_tests_may_bring_the_world(self):
        self.accepted("classifier/a_test.cc", '"gtest/gtest.h"')
        self.accepted("classifier/a_test.cc", "<fstream>")
        self.refused("classifier/a.cc", '"gtest/gtest.h"', "may not use that library")
        self.refused("classifier/a_test.cc", '"coordinator/core/core.h"', "may not use")

    def test_every_file_and_every_include_is_accounted_for(self):
        self.assertIn("no layer claims it", problems("surprise/a.cc")[0])
        self.refused("digest/a.cc", '"neighbour.h"', "not a path from the root")

    def test_commented_includes_are_none(self):
        self.assertEqual(problems("classifier/a.cc", "// #include <thread>"), [])

    def test_a_rule_names_a_folder(self):
        def found(files):
            return layering.rule_problems({"layer": [{"files": files}]}, {"agent/core"}.__contains__)
        self.assertEqual(found("agent/core"), [])
        self.assertEqual(found("agent/sources/*/fetch*"), [])
        self.assertIn("agent/core/limits.h is no folder", found("agent/core/limits.h")[0])
        self.assertIn("is no folder", found("coordinator/removal/journal*")[0])


IMPURE = {
    "clock": 'extern "C" long time(long*); long f() { return time(nullptr); }',
    "thread": 'extern "C" int pthread_mutex_lock(void*); int f() { return pthread_mutex_lock(nullptr); }',
    "socket": 'extern "C" int socket(int, int, int); int f() { return socket(1, 1, 0); }',
    "randomness": "namespace std { struct random_device { unsigned operator()(); }; }\n"
                  "unsigned f() { return std::random_device()(); }",
    "log": "namespace spdlog { void info(const char*); } void f() { spdlog::info(nullptr); }",
    "file": 'extern "C" void* fopen64(const char*, const char*); void* f() { return fopen64("a", "r"); }',
    "environment": 'extern "C" char* getenv(const char*); char* f() { return getenv("A"); }',
    "sleep": 'extern "C" int usleep(unsigned); int f() { return usleep(1); }',
    "process": 'extern "C" int fork(); int f() { return fork(); }',
}
ABSL_NOW = ("namespace absl { inline namespace lts_20220623 { struct Time { long t; }; Time Now(); } }\n"
            "long f() { return absl::Now().t; }")
PURE = ('#include <string>\n#include <vector>\nextern "C" double fabs(double);\n'
        "std::string f(std::vector<double>& v) { v.push_back(v.size()); return std::to_string(fabs(v[0])); }")


class Symbols(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = os.path.realpath(folder.name)
        self.build = os.path.join(self.root, "build", "dev")
        os.makedirs(self.build)
        os.makedirs(os.path.join(self.root, "classifier"))
        os.makedirs(os.path.join(self.root, "coordinator"))

    def check(self, path, code, compiled=True):
        """What the check says of a tree in which this is the only file."""
        source, output = os.path.join(self.root, path), "a.o"
        os.makedirs(os.path.dirname(source), exist_ok=True)
        with open(source, "w", encoding="utf-8") as file:
            file.write(code)
        entries = []
        if compiled:
            command = ["g++", "-std=c++20", "-O1", "-o", output, "-c", source]
            subprocess.run(command, check=True, cwd=self.build)
            entries = [{"directory": self.build, "file": source, "command": " ".join(command)}]
        with open(os.path.join(self.build, "compile_commands.json"), "w", encoding="utf-8") as file:
            json.dump(entries, file)
        return layering.check_symbols(self.root, self.build)[0]

    def test_each_kind_is_refused_in_pure_code(self):
        for kind, code in IMPURE.items():
            with self.subTest(kind):
                found = self.check("classifier/a.cc", code)
                self.assertEqual(len(found), 1, found)
                self.assertIn(f"({kind})", found[0])

    def test_what_the_build_generates_is_held_to_its_layer(self):
        path = "build/dev/generated/proto/v1/evidence.cc"
        self.assertIn("proto/v1/evidence.cc: pure code needs", self.check(path, IMPURE["clock"])[0])
        self.assertEqual(self.check(path, PURE), [])

    def test_of_a_library_for_sockets_only_the_parsing_is_pure(self):
        code = 'extern "C" %s; void f() { %s(nullptr); }'
        self.assertEqual(self.check("classifier/a.cc", code % ("void mnl_nlmsg_size(void*)", "mnl_nlmsg_size")), [])
        found = self.check("classifier/a.cc", code % ("void mnl_socket_close(void*)", "mnl_socket_close"))
        self.assertIn("(socket)", found[0])

    def test_the_same_is_accepted_in_a_shell(self):
        self.assertEqual(self.check("coordinator/a.cc", IMPURE["clock"]), [])

    def test_namespaced_symbols_are_seen_through_versions(self):
        self.assertIn("absl::lts_20220623::Now()", self.check("classifier/a.cc", ABSL_NOW)[0])

    def test_ordinary_code_is_accepted(self):
        self.assertEqual(self.check("classifier/a.cc", PURE), [])

    def test_a_file_that_nobody_compiles_is_not_passed_over(self):
        self.assertIn("no target compiles it", self.check("classifier/a.cc", PURE, compiled=False)[0])


if __name__ == "__main__":
    unittest.main()
