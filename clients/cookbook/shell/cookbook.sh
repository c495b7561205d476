# Tetrion with curl and protoc: `bash cookbook.sh HOST:PORT`; see docs/languages.md.
set -euo pipefail

address=$1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
files=(tetrion/v1/{environment,evaluation}_service.proto google/rpc/{status,error_details}.proto)
protoc -I proto --include_imports "--descriptor_set_out=$folder/set" "${files[@]}"
protos=("--descriptor_set_in=$folder/set" "${files[@]}") # read faster than the text

# Makes a call: request and answers are messages as text, several answers one after the other. A frame of gRPC is a byte of
# flags, four of length, the highest first, and a message.
call() { # SERVICE METHOD REQUEST
  local at=0 size
  protoc "--encode=tetrion.v1.$2Request" "${protos[@]}" <<<"$3" > "$folder/request"
  size=$(stat -c %s "$folder/request")
  {
    printf "$(printf '\\x%02x' 0 $((size >> 24)) $((size >> 16 & 255)) $((size >> 8 & 255)) $((size & 255)))"
    cat "$folder/request"
  } | curl --silent --http2-prior-knowledge --header 'content-type: application/grpc' --header 'te: trailers' \
    --data-binary @- --dump-header "$folder/headers" --output "$folder/answer" "http://$address/tetrion.v1.$1/$2"
  grep -q '^grpc-status: 0' "$folder/headers" || return
  while size=$(od -An -j$((at + 1)) -N4 -tu4 --endian=big "$folder/answer" 2> /dev/null) && [ -n "$size" ]; do
    dd "if=$folder/answer" iflag=skip_bytes,count_bytes skip=$((at + 5)) count=$((size)) status=none |
      protoc "--decode=tetrion.v1.$2Response" "${protos[@]}"
    at=$((at + 5 + size))
  done
}
server() { call EnvironmentService "$@"; }

# The elements of the tensors of a field, read from an answer on standard input, with so many per line. The type is od's.
elements() { # FIELD TYPE [ELEMENTS PER LINE]
  local data
  data=$(sed -n "/^ *$1 {/,/^ *}/s/^ *data: \"\(.*\)\"$/\1/p" | tr -d '\n')
  printf -- "${data//%/%%}" | od -An -v -t"$2" -w$((${2:1} * ${3:-1}))
}
nth() { # FIELD N: the n-th block of a repeated field
  awk -v "start=$1 {" -v "n=$2" '$0 == start { count++ } count == n { print }'
}

# Arithmetic of 64 bits in `word`. It has a sign here, so shifts to the right clear what they copy from it.
mix() {
  local z=$1
  z=$(((z ^ (z >> 30 & (1 << 34) - 1)) * 0xBF58476D1CE4E5B9))
  z=$(((z ^ (z >> 27 & (1 << 37) - 1)) * 0x94D049BB133111EB))
  word=$((z ^ (z >> 31 & (1 << 33) - 1)))
}
word_of() { # SEED TAG N
  mix $(($1 + ($2 + 1) * 0x9E3779B97F4A7C15))
  mix $((word + ($3 + 1) * 0x9E3779B97F4A7C15))
}
below() { # M: the upper half of the product of `word` and a small number
  index=$((((word >> 32 & 0xFFFFFFFF) * $1 + ((word & 0xFFFFFFFF) * $1 >> 32)) >> 32))
}

echo "rules version: $(server GetServerInfo '' | sed -n 's/^rules_version: "\(.*\)"/\1/p')"

# A game of the controller bcts: the placement with the largest sum of weight times feature, the first of equals.
letters=IOTZSJL pieces=
for n in {0..19}; do
  word_of 42 0 "$n"
  below 7
  pieces+=${letters:index:1}
done
echo "computed pieces: $pieces"
bcts=$(server GetPolicy 'name: "bcts"' | elements weights f8)
small='rules { width: 6 height: 8 }' bcts8='features { feature_set: "bcts8" }'
create() { server CreateSession "config { $1 }" | sed -n 's/^  name: "\(.*\)"/\1/p'; }
session=$(create "$small $bcts8 max_episode_steps: 60 seeding { seeds { seeds: 42 } }
  observation_fields { names: 'current' } info_fields { names: ['pieces', 'lines'] }")
answer=$(server Reset "session: '$session'")
dealt= ended=0
while [ "$ended" = 0 ]; do
  dealt+=${letters:$(elements observations d1 <<< "$answer"):1}
  placements=$(server EnumeratePlacements "session_envs { session: '$session' }")
  rows=$(paste <(elements actions d4 <<< "$placements") <(elements features f4 8 <<< "$placements"))
  best=$(awk -v "weights=$bcts" '
    BEGIN { split(weights, weight) }
    { score = 0; for (column = 1; column <= 8; column++) score += weight[column] * $(column + 1) }
    NR == 1 || score > largest { largest = score; best = $1 }
    END { print best }' <<< "$rows")
  answer=$(server Step "session: '$session' actions { values: $best }")
  ended=$(($(elements terminated u1 <<< "$answer") + $(elements truncated u1 <<< "$answer")))
done
echo "dealt pieces:    ${dealt:0:20}"
sum() { nth infos "$1" <<< "$answer" | elements infos d8 | awk '{ sum += $1 } END { print sum }'; }
echo "greedy game: $(sum 1) pieces, $(sum 2) lines"
printf "$(server Render "session: '$session' format: RENDER_FORMAT_ASCII" | sed -n 's/^frames: "\(.*\)"/\1/p')\n"
server DeleteSession "name: '$session'"

# 256 games in one session. Step n takes the n-th action that the mask allows, counting around; ended games start again.
session=$(create "num_envs: 256 $small seeding { seed: 18446744073709551614 } action_mask_format: ACTION_MASK_FORMAT_BYTES
  observation_fields { names: 'board' } info_fields { names: ['pieces', 'lines', 'seed'] }")
answer=$(server Reset "session: '$session'")
word_of -2 1 255
printf 'computed seed of environment 255: %u\n' "$word"
echo "reported seed of environment 255: $(nth infos 3 <<< "$answer" | elements infos u8 | tail -n 1 | tr -d ' ')"
for step in {0..29}; do
  actions=$(elements action_mask u1 24 <<< "$answer" | awk -v "step=$step" '
    { count = 0; for (action = 0; action < NF; action++) if ($(action + 1)) allowed[count++] = action }
    { print allowed[step % count] }' | paste -sd,)
  answer=$(server Step "session: '$session' actions { values: [$actions] }")
done
checksum=$(elements observations u1 <<< "$answer" | awk '{ sum += NR * $1 } END { print sum }')
echo "256 environments: $(sum 1) pieces, $(sum 2) lines, checksum $checksum"
server DeleteSession "name: '$session'"

# Plays rows of weights, numbers with commas between them, on all seeds. `games` has a line per row: its number, lines and
# pieces. `progress` is the last: the games that are done, and all games.
evaluate() { # WEIGHTS RULES SEEDS PIECES
  answer=$(call EvaluationService EvaluatePolicies "$2 policies { weights { $bcts8 weights { values: [$1] } } }
    seeding { drawn { seed: 1 count: $3 } } max_pieces: $4 include_results: true")
  progress=$(sed -n 's/^  \(games_done\|num_games\): //p' <<< "$answer" | tail -n 2 | paste -sd' ')
  results=$(awk '/^results/, /^}/' <<< "$answer")
  games=$(paste <(elements policy_indices d4 <<< "$results") <(elements lines d8 <<< "$results") \
    <(elements pieces d8 <<< "$results") | awk '{ lines[$1] += $2; pieces[$1] += $3 }
    END { for (row = 0; row in lines; row++) print row, lines[row], pieces[row] }')
}

# Three policies on the same twenty seeds.
opposite=$(awk '{ printf "%.17g\n", -$1 }' <<< "$bcts")
evaluate "$(echo $bcts $opposite 0 0 0 0 0 0 0 0 | tr ' ' ,)" 'rules { width: 10 height: 10 }' 20 500
echo "evaluation: ${progress/ / of } games"
awk '{ print "policy " $1 ": " $2 " lines, " $3 " pieces" }' <<< "$games"

# The cross-entropy method. Every sum has a fixed order, so its result is the same in every language. awk has the doubles.
mean='0 0 0 0 0 0 0 0' std='10 10 10 10 10 10 10 10'
for generation in {1..5}; do
  # A deviate is nearly normal, with nothing but additions: twelve uniform numbers minus 6.
  population=$(for ((n = 0; n < 24 * 8 * 12; n++)); do
    word_of "$generation" 0 "$n"
    echo $((word >> 11 & (1 << 53) - 1))
  done | paste -d' ' - - - - - - - - - - - - | awk -v "mean=$mean" -v "std=$std" '
    BEGIN { split(mean, means); split(std, stds) }
    { deviate = 0; for (n = 1; n <= 12; n++) deviate += $n / 2^53 }
    { column = (NR - 1) % 8 + 1; printf "%.17g\n", means[column] + stds[column] * (deviate - 6) }')
  evaluate "$(paste -sd, <<< "$population")" "$small" 5 200
  elite=$(sort -k2,2nr -k1,1n <<< "$games" | sed -n 1,6p)
  awk -v "generation=$generation" 'NR == 1 { best = $2 } { sum += $2 }
    END { print "generation " generation ": best " best " lines, elite " sum }' <<< "$elite"
  { read -r mean; read -r std; } < <(awk -v "elite=$(awk '{ print $1 }' <<< "$elite")" '
    BEGIN { split(elite, rows) }
    { weights[NR - 1] = $1 }
    END {
      for (column = 0; column < 8; column++) {
        total = squares = 0
        for (n = 1; n <= 6; n++) total += weights[8 * rows[n] + column]
        mean = total / 6
        for (n = 1; n <= 6; n++) squares += (weights[8 * rows[n] + column] - mean) * (weights[8 * rows[n] + column] - mean)
        means = means sprintf("%.17g ", mean)
        stds = stds sprintf("%.17g ", sqrt(squares / 6))
      }
      print means
      print stds
    }' <<< "$population")
done
printf 'weights:'
printf ' %.9f' $mean
echo

# What a refusal says to programs: a google.rpc.Status in the trailers, in base64 without its padding.
create 'rules { width: 3 }' || true
details=$(sed -n 's/^grpc-status-details-bin: //p' "$folder/headers" | tr -d '\r')
while ((${#details} % 4)); do details+='='; done
status=$(base64 -d <<< "$details" | protoc --decode=google.rpc.Status "${protos[@]}")
find() { # TYPE FIELD: of the detail with this type
  local value
  value=$(sed -n "/type_url: .*$1\"/ { n; s/^ *value: \"\(.*\)\"$/\1/p }" <<< "$status")
  printf -- "${value//%/%%}" | protoc "--decode=google.rpc.$1" "${protos[@]}" | sed -n "s/^ *$2: \"\(.*\)\"/\1/p"
}
echo "refused: $(sed -n 's/^code: //p' <<< "$status") $(find ErrorInfo reason) $(find BadRequest field)"
