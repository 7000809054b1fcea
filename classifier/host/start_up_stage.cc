#include "classifier/host/start_up_stage.h"

#include "absl/strings/str_cat.h"
#include "classifier/wording/phrases.h"

namespace rapideye::classifier {
namespace {

std::string DescribeHolder(const Obstacle& obstacle) {
  if (!obstacle.holder.has_value()) return "another process";
  const Process& holder = *obstacle.holder;
  std::string text = absl::StrCat(Quote(holder.command.value_or("process")), " (", holder.pid, ")");
  if (holder.user.has_value()) absl::StrAppend(&text, " of user ", Quote(*holder.user));
  if (holder.started_ms_ago.has_value()) {
    absl::StrAppend(&text, ", which has run for ", Span(*holder.started_ms_ago));
  }
  return text;
}

}  // namespace

StartUpStage StageOf(const StartUp& start_up) {
  if (start_up.launch_ms.has_value()) return StartUpStage::kLaunch;
  if (start_up.compilation_ms.has_value()) return StartUpStage::kCompilation;
  if (start_up.coordination_ms.has_value()) return StartUpStage::kCoordination;
  if (start_up.device_ms.has_value()) return StartUpStage::kDevice;
  if (start_up.process_ms.has_value()) return StartUpStage::kProcess;
  return StartUpStage::kAgent;
}

const char* StageName(StartUpStage stage) {
  switch (stage) {
    case StartUpStage::kAgent:
      return "with an agent, and no training process";
    case StartUpStage::kProcess:
      return "with a training process";
    case StartUpStage::kDevice:
      return "with its chips open";
    case StartUpStage::kCoordination:
      return "in the coordination service";
    case StartUpStage::kCompilation:
      return "at the first compilation, or past it";
    case StartUpStage::kLaunch:
      return "in the first launch";
  }
  return "";
}

std::string DescribeObstacle(const Obstacle& obstacle) {
  const std::string subject = Quote(obstacle.subject);
  std::string text;
  switch (obstacle.kind) {
    case ObstacleKind::kDeviceHeld:
      text = absl::StrCat(subject, " is held by ", DescribeHolder(obstacle));
      break;
    case ObstacleKind::kDeviceNotPermitted:
      text = absl::StrCat("its training process may not open ", subject);
      break;
    case ObstacleKind::kNoDriver:
      text = absl::StrCat("no kernel driver is bound to the TPU at ", subject);
      break;
    case ObstacleKind::kPortTaken:
      text = absl::StrCat("port ", subject, " is taken by ", DescribeHolder(obstacle));
      break;
    case ObstacleKind::kUnspecified:
      text = absl::StrCat("something is wrong with ", subject);
      break;
  }
  if (obstacle.detail.has_value()) absl::StrAppend(&text, ": ", Quote(*obstacle.detail));
  return text;
}

}  // namespace rapideye::classifier
