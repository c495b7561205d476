# Tetrion with the gem grpc: `ruby -I gen cookbook.rb HOST:PORT`; see docs/languages.md.
require 'google/protobuf/well_known_types'
require 'google/rpc/error_details_pb'
require 'google/rpc/status_pb'
require 'tetrion/v1/environment_service_services_pb'
require 'tetrion/v1/evaluation_service_services_pb'

include Tetrion::V1

MAX_WORD = 2**64 - 1
SMALL = Rules.new(width: 6, height: 8)
BCTS8 = FeatureSelection.new(feature_set: 'bcts8')

def mix(z)
  z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MAX_WORD
  z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MAX_WORD
  z ^ z >> 31
end

def word(seed, tag, n)
  g = 0x9E3779B97F4A7C15
  mix((mix((seed + (tag + 1) * g) & MAX_WORD) + (n + 1) * g) & MAX_WORD)
end

# Array#sum compensates rounding errors, which the server does not.
def add(numbers)
  numbers.reduce(0.0) { |sum, number| sum + number }
end

# Lines and pieces of each policy, a row of weights, in the games of all seeds; and the last progress.
def evaluate(policies, rules, num_seeds, max_pieces)
  weights = Weights.new(features: BCTS8, weights: Tensor.new(shape: [policies.size, 8], values: policies.flatten))
  request = EvaluatePoliciesRequest.new(
    rules: rules,
    policies: [Policy.new(weights: weights)],
    seeding: Seeding.new(drawn: DrawnSeeds.new(seed: 1, count: num_seeds)),
    max_pieces: max_pieces,
    include_results: true
  )
  lines = [0] * policies.size
  pieces = [0] * policies.size
  progress = nil
  EVALUATOR.evaluate_policies(request).each do |message|
    progress = message.progress || progress
    next unless (games = message.results)

    columns = [games.policy_indices.data.unpack('l<*'), games.lines.data.unpack('q<*'), games.pieces.data.unpack('q<*')]
    columns.transpose.each do |policy, cleared, landed|
      lines[policy] += cleared
      pieces[policy] += landed
    end
  end
  [lines, pieces, progress]
end

SERVER = EnvironmentService::Stub.new(ARGV[0], :this_channel_is_insecure)
EVALUATOR = EvaluationService::Stub.new(ARGV[0], :this_channel_is_insecure)
puts "rules version: #{SERVER.get_server_info(GetServerInfoRequest.new).rules_version}"

# A game of the controller bcts: the placement with the largest sum of weight times feature, the first of equals.
puts "computed pieces: #{(0...20).map { |n| 'IOTZSJL'[word(42, 0, n) * 7 >> 64] }.join}"
bcts = SERVER.get_policy(GetPolicyRequest.new(name: 'bcts')).policy.weights.weights.data.unpack('E*')
config = SessionConfig.new(
  rules: SMALL,
  seeding: Seeding.new(seeds: Seeds.new(seeds: [42])),
  observation_fields: FieldNames.new(names: ['current']),
  info_fields: FieldNames.new(names: %w[pieces lines]),
  features: BCTS8,
  max_episode_steps: 60
)
session = SERVER.create_session(CreateSessionRequest.new(config: config)).session.name
answer = SERVER.reset(ResetRequest.new(session: session))
dealt = ''
loop do
  dealt += 'IOTZSJL'[answer.observations[0].data.unpack1('c')]
  placements = SERVER.enumerate_placements(EnumeratePlacementsRequest.new(session_envs: SessionEnvs.new(session: session)))
  scores = placements.features.data.unpack('e*').each_slice(8).map do |features|
    add(bcts.zip(features).map { |weight, feature| weight * feature })
  end
  best = placements.actions.data.unpack('l<*')[scores.index(scores.max)]
  answer = SERVER.step(StepRequest.new(session: session, actions: Tensor.new(values: [best])))
  break if (answer.terminated.data + answer.truncated.data).include?("\x01")
end
puts "dealt pieces:    #{dealt[0, 20]}"
pieces, lines = answer.infos.map { |info| info.data.unpack1('q<') }
puts "greedy game: #{pieces} pieces, #{lines} lines"
puts SERVER.render(RenderRequest.new(session: session, format: :RENDER_FORMAT_ASCII)).frames[0]
SERVER.delete_session(DeleteSessionRequest.new(name: session))

# 256 games in one session. Step n takes the n-th action that the mask allows, counting around; ended games start again.
config = SessionConfig.new(
  num_envs: 256,
  rules: SMALL,
  seeding: Seeding.new(seed: MAX_WORD - 1),
  observation_fields: FieldNames.new(names: ['board']),
  info_fields: FieldNames.new(names: %w[pieces lines seed]),
  action_mask_format: :ACTION_MASK_FORMAT_BYTES
)
session = SERVER.create_session(CreateSessionRequest.new(config: config)).session.name
answer = SERVER.reset(ResetRequest.new(session: session))
puts "computed seed of environment 255: #{word(MAX_WORD - 1, 1, 255)}"
puts "reported seed of environment 255: #{answer.infos[2].data.unpack('Q<*')[255]}"
30.times do |step|
  actions = answer.action_mask.data.bytes.each_slice(answer.action_mask.shape[1]).map do |mask|
    allowed = mask.each_index.select { |action| mask[action] == 1 }
    allowed[step % allowed.size]
  end
  tensor = Tensor.new(dtype: :DATA_TYPE_INT32, shape: [256], data: actions.pack('l<*'))
  answer = SERVER.step(StepRequest.new(session: session, actions: tensor))
end
pieces, lines = answer.infos.map { |info| info.data.unpack('q<*').sum }
checksum = answer.observations[0].data.bytes.each.with_index(1).sum { |cell, n| n * cell }
puts "256 environments: #{pieces} pieces, #{lines} lines, checksum #{checksum}"
SERVER.delete_session(DeleteSessionRequest.new(name: session))

# Three policies on the same twenty seeds.
lines, pieces, progress = evaluate([bcts, bcts.map(&:-@), [0.0] * 8], Rules.new(width: 10, height: 10), 20, 500)
puts "evaluation: #{progress.games_done} of #{progress.num_games} games"
3.times { |row| puts "policy #{row}: #{lines[row]} lines, #{pieces[row]} pieces" }

# The cross-entropy method. Every sum has a fixed order, so its result is the same in every language.
mean = [0.0] * 8
std = [10.0] * 8
(1..5).each do |generation|
  draws = (0..).lazy.map { |n| (word(generation, 0, n) >> 11).fdiv(2**53) }.first(24 * 8 * 12)
  # Nearly normal, with nothing but additions: twelve uniform numbers minus 6.
  deviates = draws.each_slice(12).map { |uniform| add(uniform) - 6 }
  population = deviates.each_slice(8).map { |row| row.each_with_index.map { |z, column| mean[column] + std[column] * z } }
  lines, = evaluate(population, SMALL, 5, 200)
  elite = (0...24).sort_by { |row| [-lines[row], row] }.first(6)
  puts "generation #{generation}: best #{lines[elite[0]]} lines, elite #{elite.sum { |row| lines[row] }}"
  8.times do |column|
    mean[column] = add(elite.map { |row| population[row][column] }) / 6
    differences = elite.map { |row| population[row][column] - mean[column] }
    std[column] = Math.sqrt(add(differences.map { |difference| difference * difference }) / 6)
  end
end
puts "weights: #{mean.map { |weight| format('%.9f', weight) }.join(' ')}"

begin
  SERVER.create_session(CreateSessionRequest.new(config: SessionConfig.new(rules: Rules.new(width: 3))))
rescue GRPC::BadStatus => e
  details = Google::Rpc::Status.decode(e.metadata['grpc-status-details-bin']).details
  info = details.find { |detail| detail.is(Google::Rpc::ErrorInfo) }.unpack(Google::Rpc::ErrorInfo)
  bad_request = details.find { |detail| detail.is(Google::Rpc::BadRequest) }.unpack(Google::Rpc::BadRequest)
  puts "refused: #{e.code} #{info.reason} #{bad_request.field_violations[0].field}"
end
