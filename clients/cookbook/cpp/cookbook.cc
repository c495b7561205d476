// Tetrion with gRPC C++: `./cookbook HOST:PORT`; see docs/languages.md.
#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "tetrion/v1/environment_service.grpc.pb.h"
#include "tetrion/v1/evaluation_service.grpc.pb.h"

namespace pb = tetrion::v1;
using Stub = pb::EnvironmentService::Stub;
using Row = std::array<double, 8>;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

std::uint64_t word(std::uint64_t seed, std::uint64_t tag, std::uint64_t n) {
  const std::uint64_t g = 0x9E3779B97F4A7C15;
  return mix(mix(seed + (tag + 1) * g) + (n + 1) * g);
}

// The elements of a tensor, copied to aligned memory. The machine must be little-endian, as tensors are.
template <typename T>
std::vector<T> elements(const pb::Tensor& tensor) {
  std::vector<T> elements(tensor.data().size() / sizeof(T));
  std::memcpy(elements.data(), tensor.data().data(), elements.size() * sizeof(T));
  return elements;
}

struct Refused : std::runtime_error {
  explicit Refused(const grpc::Status& status) : std::runtime_error(status.error_message()), status(status) {}
  grpc::Status status;
};

// Calls a method: `call(stub, &Stub::Step, request)` returns a StepResponse.
template <typename Request, typename Response>
Response call(Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
              const Request& request) {
  grpc::ClientContext context;
  Response response;
  if (auto status = (stub.*method)(&context, request, &response); !status.ok()) throw Refused(status);
  return response;
}

std::string create_session(Stub& stub, const pb::SessionConfig& config) {
  pb::CreateSessionRequest request;
  *request.mutable_config() = config;
  return call(stub, &Stub::CreateSession, request).session().name();
}

void delete_session(Stub& stub, const std::string& session) {
  pb::DeleteSessionRequest request;
  request.set_name(session);
  call(stub, &Stub::DeleteSession, request);
}

// A game of a controller: the placement with the largest sum of weight times feature, the first of equals.
void play_greedily(Stub& stub, const std::vector<double>& weights) {
  pb::SessionConfig config;
  config.mutable_rules()->set_width(6);
  config.mutable_rules()->set_height(8);
  config.mutable_seeding()->mutable_seeds()->add_seeds(42);
  config.mutable_observation_fields()->add_names("current");
  for (auto name : {"pieces", "lines"}) config.mutable_info_fields()->add_names(name);
  config.mutable_features()->set_feature_set("bcts8");
  config.set_max_episode_steps(60);
  pb::ResetRequest reset;
  reset.set_session(create_session(stub, config));
  auto current = call(stub, &Stub::Reset, reset).observations(0);
  std::string dealt;
  pb::StepResponse answer;
  do {
    dealt += "IOTZSJL"[elements<std::int8_t>(current)[0]];
    pb::EnumeratePlacementsRequest enumerate;
    enumerate.mutable_session_envs()->set_session(reset.session());
    const auto placements = call(stub, &Stub::EnumeratePlacements, enumerate);
    const auto features = elements<float>(placements.features());
    const auto actions = elements<std::int32_t>(placements.actions());
    std::size_t best = 0;
    double best_score = -std::numeric_limits<double>::infinity();
    for (std::size_t row = 0; row < actions.size(); row++) {
      double score = 0;
      for (std::size_t column = 0; column < 8; column++) score += weights[column] * features[8 * row + column];
      if (score > best_score) best = row, best_score = score;
    }
    pb::StepRequest step;
    step.set_session(reset.session());
    step.mutable_actions()->add_values(actions[best]);
    answer = call(stub, &Stub::Step, step);
    current = answer.observations(0);
  } while (!answer.terminated().data()[0] && !answer.truncated().data()[0]);
  std::printf("dealt pieces:    %s\n", dealt.substr(0, 20).c_str());
  const auto pieces = elements<std::int64_t>(answer.infos(0))[0], lines = elements<std::int64_t>(answer.infos(1))[0];
  std::printf("greedy game: %jd pieces, %jd lines\n", std::intmax_t{pieces}, std::intmax_t{lines});
  pb::RenderRequest render;
  render.set_session(reset.session());
  render.set_format(pb::RENDER_FORMAT_ASCII);
  std::puts(call(stub, &Stub::Render, render).frames(0).c_str());
  delete_session(stub, reset.session());
}

// Step n takes the n-th action that the mask allows, counting around; ended games start again.
void play_many_games(Stub& stub) {
  const std::uint64_t seed = -2;  // 2^64 - 2
  pb::SessionConfig config;
  config.set_num_envs(256);
  config.mutable_rules()->set_width(6);
  config.mutable_rules()->set_height(8);
  config.mutable_seeding()->set_seed(seed);
  config.mutable_observation_fields()->add_names("board");
  for (auto name : {"pieces", "lines", "seed"}) config.mutable_info_fields()->add_names(name);
  config.set_action_mask_format(pb::ACTION_MASK_FORMAT_BYTES);
  pb::ResetRequest reset;
  reset.set_session(create_session(stub, config));
  const auto start = call(stub, &Stub::Reset, reset);
  std::printf("computed seed of environment 255: %ju\n", std::uintmax_t{word(seed, 1, 255)});
  std::printf("reported seed of environment 255: %ju\n", std::uintmax_t{elements<std::uint64_t>(start.infos(2))[255]});
  auto mask = start.action_mask();
  pb::StepResponse answer;
  for (std::size_t step = 0; step < 30; step++) {
    std::vector<std::int32_t> actions;
    const std::size_t width = mask.shape(1);
    for (std::size_t env = 0; env < 256; env++) {
      std::vector<std::int32_t> allowed;
      for (std::size_t action = 0; action < width; action++)
        if (mask.data()[env * width + action]) allowed.push_back(action);
      actions.push_back(allowed[step % allowed.size()]);
    }
    pb::StepRequest request;
    request.set_session(reset.session());
    request.mutable_actions()->set_dtype(pb::DATA_TYPE_INT32);
    request.mutable_actions()->add_shape(256);
    request.mutable_actions()->set_data(actions.data(), actions.size() * sizeof(std::int32_t));
    answer = call(stub, &Stub::Step, request);
    mask = answer.action_mask();
  }
  const auto pieces = elements<std::int64_t>(answer.infos(0)), lines = elements<std::int64_t>(answer.infos(1));
  const auto& board = answer.observations(0).data();
  std::intmax_t checksum = 0;
  for (std::size_t n = 0; n < board.size(); n++) checksum += (n + 1) * board[n];
  std::printf("256 environments: %jd pieces, %jd lines, checksum %jd\n",
              std::accumulate(pieces.begin(), pieces.end(), std::intmax_t{0}),
              std::accumulate(lines.begin(), lines.end(), std::intmax_t{0}), checksum);
  delete_session(stub, reset.session());
}

struct Games {
  std::vector<std::int64_t> lines, pieces;
  pb::EvaluationProgress progress;
};

// Lines and pieces of each policy, a row of weights, in the games of all seeds; and the last progress.
Games evaluate(pb::EvaluationService::Stub& stub, const std::vector<Row>& policies, const pb::Rules& rules,
               std::uint32_t num_seeds, std::uint64_t max_pieces) {
  pb::EvaluatePoliciesRequest request;
  *request.mutable_rules() = rules;
  auto& weights = *request.add_policies()->mutable_weights();
  weights.mutable_features()->set_feature_set("bcts8");
  weights.mutable_weights()->add_shape(policies.size());
  weights.mutable_weights()->add_shape(8);
  for (const Row& row : policies)
    for (double weight : row) weights.mutable_weights()->add_values(weight);
  request.mutable_seeding()->mutable_drawn()->set_seed(1);
  request.mutable_seeding()->mutable_drawn()->set_count(num_seeds);
  request.set_max_pieces(max_pieces);
  request.set_include_results(true);
  grpc::ClientContext context;
  const auto stream = stub.EvaluatePolicies(&context, request);
  Games games{std::vector<std::int64_t>(policies.size()), std::vector<std::int64_t>(policies.size()), {}};
  for (pb::EvaluatePoliciesResponse message; stream->Read(&message);) {
    if (message.has_progress()) games.progress = message.progress();
    const auto indices = elements<std::int32_t>(message.results().policy_indices());
    const auto lines = elements<std::int64_t>(message.results().lines());
    const auto pieces = elements<std::int64_t>(message.results().pieces());
    for (std::size_t game = 0; game < indices.size(); game++) {
      games.lines[indices[game]] += lines[game];
      games.pieces[indices[game]] += pieces[game];
    }
  }
  if (const auto status = stream->Finish(); !status.ok()) throw Refused(status);
  return games;
}

// The cross-entropy method. Every sum has a fixed order, so its result is the same in every language.
void search(pb::EvaluationService::Stub& stub) {
  pb::Rules rules;
  rules.set_width(6);
  rules.set_height(8);
  Row mean{}, std;
  std.fill(10);
  for (int generation = 1; generation <= 5; generation++) {
    std::uint64_t draws = 0;
    std::vector<Row> population(24);
    for (Row& row : population)
      for (std::size_t column = 0; column < 8; column++) {
        double deviate = 0;  // nearly normal, with nothing but additions: twelve uniform numbers minus 6
        for (int n = 0; n < 12; n++) deviate += (word(generation, 0, draws++) >> 11) * 0x1p-53;
        row[column] = mean[column] + std[column] * (deviate - 6);
      }
    const auto lines = evaluate(stub, population, rules, 5, 200).lines;
    std::vector<std::size_t> elite(24);
    std::iota(elite.begin(), elite.end(), 0);
    std::stable_sort(elite.begin(), elite.end(), [&](auto a, auto b) { return lines[a] > lines[b]; });
    elite.resize(6);
    std::intmax_t sum = 0;
    for (auto row : elite) sum += lines[row];
    std::printf("generation %d: best %jd lines, elite %jd\n", generation, std::intmax_t{lines[elite[0]]}, sum);
    for (std::size_t column = 0; column < 8; column++) {
      double total = 0, squares = 0;
      for (auto row : elite) total += population[row][column];
      mean[column] = total / 6;
      for (auto row : elite) {
        const double difference = population[row][column] - mean[column];
        squares += difference * difference;
      }
      std[column] = std::sqrt(squares / 6);
    }
  }
  std::printf("weights:");
  for (double weight : mean) std::printf(" %.9f", weight);
  std::puts("");
}

int main(int, char** arguments) {
  const auto channel = grpc::CreateChannel(arguments[1], grpc::InsecureChannelCredentials());
  const auto stub = pb::EnvironmentService::NewStub(channel);
  const auto evaluator = pb::EvaluationService::NewStub(channel);
  const auto info = call(*stub, &Stub::GetServerInfo, pb::GetServerInfoRequest());
  std::printf("rules version: %s\n", info.rules_version().c_str());
  std::string pieces;
  for (std::uint64_t n = 0; n < 20; n++) pieces += "IOTZSJL"[(unsigned __int128){word(42, 0, n)} * 7 >> 64];
  std::printf("computed pieces: %s\n", pieces.c_str());
  pb::GetPolicyRequest named;
  named.set_name("bcts");
  const auto bcts = elements<double>(call(*stub, &Stub::GetPolicy, named).policy().weights().weights());
  play_greedily(*stub, bcts);
  play_many_games(*stub);

  Row weights, opposite;
  std::copy(bcts.begin(), bcts.end(), weights.begin());
  std::transform(bcts.begin(), bcts.end(), opposite.begin(), std::negate<>());
  pb::Rules rules;
  rules.set_width(10);
  rules.set_height(10);
  const auto games = evaluate(*evaluator, {weights, opposite, Row{}}, rules, 20, 500);
  std::printf("evaluation: %ju of %ju games\n", std::uintmax_t{games.progress.games_done()},
              std::uintmax_t{games.progress.num_games()});
  for (std::size_t row = 0; row < 3; row++)
    std::printf("policy %zu: %jd lines, %jd pieces\n", row, std::intmax_t{games.lines[row]}, std::intmax_t{games.pieces[row]});
  search(*evaluator);

  try {
    pb::SessionConfig config;
    config.mutable_rules()->set_width(3);
    create_session(*stub, config);
  } catch (const Refused& refused) {
    google::rpc::Status details;
    google::rpc::ErrorInfo info;
    google::rpc::BadRequest bad_request;
    details.ParseFromString(refused.status.error_details());
    for (const auto& detail : details.details()) detail.UnpackTo(&info) || detail.UnpackTo(&bad_request);
    std::printf("refused: %d %s %s\n", refused.status.error_code(), info.reason().c_str(),
                bad_request.field_violations(0).field().c_str());
  }
}
