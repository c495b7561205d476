# Tetrion from R by gRPC-Web, with RProtoBuf and curl: `Rscript cookbook.R HOST:PORT`; see docs/languages.md.
suppressMessages(library(RProtoBuf))

address <- commandArgs(trailingOnly = TRUE)[1]
readProtoFiles2(c("tetrion/v1/environment_service.proto", "tetrion/v1/evaluation_service.proto",
                  "google/rpc/error_details.proto"), protoPath = "proto")
message_of <- function(type, ...) new(P(paste0("tetrion.v1.", type)), ...)

# Makes a call and returns its answers. A frame is a byte of flags, four of length, and a message; the last one, with the
# flag 128, has the trailers as lines. A call that is refused at once has its trailers among the headers.
call <- function(service, method, ...) {
  message <- serialize(message_of(paste0(method, "Request"), ...), NULL)
  handle <- curl::new_handle()
  curl::handle_setopt(handle, postfields = c(as.raw(0), writeBin(length(message), raw(), endian = "big"), message))
  curl::handle_setheaders(handle, "content-type" = "application/grpc-web+proto")
  response <- curl::curl_fetch_memory(sprintf("http://%s/tetrion.v1.%s/%s", address, service, method), handle)
  trailers <- curl::parse_headers(response$headers)
  answers <- list()
  content <- response$content
  while (length(content) > 0) {
    size <- readBin(content[2:5], "integer", endian = "big")
    payload <- content[seq_len(size) + 5]
    if (content[1] == 128) {
      trailers <- strsplit(rawToChar(payload), "\r\n")[[1]]
    } else {
      answers <- c(answers, read(P(paste0("tetrion.v1.", method, "Response")), payload))
    }
    content <- content[-seq_len(size + 5)]
  }
  trailer <- function(name) sub("^[^:]*: *", "", grep(paste0("^", name, ":"), trailers, value = TRUE))
  if (trailer("grpc-status") != "0") {
    details <- trailer("grpc-status-details-bin")
    padding <- strrep("=", -nchar(details) %% 4) # which gRPC leaves out
    status <- read(P("google.rpc.Status"), jsonlite::base64_dec(paste0(details, padding)))
    stop(structure(list(message = status$message, status = status), class = c("refusal", "error", "condition")))
  }
  answers
}
server <- function(method, ...) call("EnvironmentService", method, ...)[[1]]

# The elements of a tensor of integers, or of floating-point numbers, of `size` bytes.
integers <- function(tensor, size) readBin(tensor$data, "integer", length(tensor$data) / size, size, endian = "little")
doubles <- function(tensor, size) readBin(tensor$data, "double", length(tensor$data) / size, size, endian = "little")

# R has no integers of 64 bits: a word is a list of four limbs of 16 bits, the lowest first. Limbs can be vectors.
hex <- function(digits) as.list(rev(as.numeric(strtoi(substring(digits, c(1, 5, 9, 13), c(4, 8, 12, 16)), 16))))
small_word <- function(number) list(number %% 65536, number %/% 65536, 0, 0)
carry <- function(x) {
  for (i in 1:3) x[[i + 1]] <- x[[i + 1]] + x[[i]] %/% 65536
  lapply(x, `%%`, 65536)
}
plus <- function(x, y) carry(Map(`+`, x, y))
xor_words <- function(x, y) lapply(Map(bitwXor, x, y), as.numeric)
times <- function(x, y) {
  product <- list(0, 0, 0, 0)
  for (i in 1:4) for (j in 1:(5 - i)) product[[i + j - 1]] <- product[[i + j - 1]] + x[[i]] * y[[j]]
  carry(product)
}
shift_right <- function(x, bits) {
  unit <- 2^(bits %% 16)
  x <- c(x, 0, 0, 0)
  lapply(1:4 + bits %/% 16, function(i) x[[i]] %/% unit + x[[i + 1]] %% unit * (65536 / unit))
}
mix <- function(z) {
  z <- times(xor_words(z, shift_right(z, 30)), hex("BF58476D1CE4E5B9"))
  z <- times(xor_words(z, shift_right(z, 27)), hex("94D049BB133111EB"))
  xor_words(z, shift_right(z, 31))
}
word <- function(seed, tag, n) {
  g <- hex("9E3779B97F4A7C15")
  mix(plus(mix(plus(seed, times(small_word(tag + 1), g))), times(small_word(n + 1), g)))
}
below <- function(x, m) Reduce(function(high, limb) (limb * m + high) %/% 65536, x, 0)
decimal <- function(x) {
  x <- unlist(x)
  digits <- ""
  while (any(x > 0)) {
    rest <- 0
    for (i in 4:1) {
      dividend <- rest * 65536 + x[i]
      x[i] <- dividend %/% 10
      rest <- dividend %% 10
    }
    digits <- paste0(rest, digits)
  }
  digits
}

# `sum` adds in 80 bits, so it can differ from the server's sums of doubles.
add <- function(numbers) Reduce(`+`, numbers, 0)

# Lines and pieces of each policy, a row of a matrix, in the games of all seeds; and the last progress.
evaluate <- function(policies, rules, num_seeds, max_pieces) {
  weights <- message_of("Tensor", shape = dim(policies), values = as.vector(t(policies)))
  policy <- message_of("Policy", weights = message_of("Weights", features = bcts8, weights = weights))
  seeding <- message_of("Seeding", drawn = message_of("DrawnSeeds", seed = 1, count = num_seeds))
  answers <- call("EvaluationService", "EvaluatePolicies", rules = rules, policies = list(policy), seeding = seeding,
                  max_pieces = max_pieces, include_results = TRUE)
  lines <- pieces <- numeric(nrow(policies))
  for (answer in answers) {
    if (answer$has("progress")) progress <- answer$progress
    if (!answer$has("results")) next
    rows <- integers(answer$results$policy_indices, 4) + 1
    for (game in seq_along(rows)) {
      lines[rows[game]] <- lines[rows[game]] + integers(answer$results$lines, 8)[game]
      pieces[rows[game]] <- pieces[rows[game]] + integers(answer$results$pieces, 8)[game]
    }
  }
  list(lines = lines, pieces = pieces, progress = progress)
}

letters_of <- function(numbers) paste(strsplit("IOTZSJL", "")[[1]][numbers + 1], collapse = "")
fields <- function(...) message_of("FieldNames", names = c(...))
small <- message_of("Rules", width = 6, height = 8)
bcts8 <- message_of("FeatureSelection", feature_set = "bcts8")
cat(sprintf("rules version: %s\n", server("GetServerInfo")$rules_version))

# A game of the controller bcts: the placement with the largest sum of weight times feature, the first of equals.
cat(sprintf("computed pieces: %s\n", letters_of(below(word(small_word(42), 0, 0:19), 7))))
bcts <- doubles(server("GetPolicy", name = "bcts")$policy$weights$weights, 8)
config <- message_of("SessionConfig", rules = small, features = bcts8, max_episode_steps = 60,
                     seeding = message_of("Seeding", seeds = message_of("Seeds", seeds = 42)),
                     observation_fields = fields("current"), info_fields = fields("pieces", "lines"))
session <- server("CreateSession", config = config)$session$name
answer <- server("Reset", session = session)
dealt <- c()
repeat {
  dealt <- c(dealt, integers(answer$observations[[1]], 1))
  placements <- server("EnumeratePlacements", session_envs = message_of("SessionEnvs", session = session))
  features <- matrix(doubles(placements$features, 4), ncol = 8, byrow = TRUE)
  scores <- add(lapply(1:8, function(column) bcts[column] * features[, column]))
  best <- integers(placements$actions, 4)[which.max(scores)]
  answer <- server("Step", session = session, actions = message_of("Tensor", values = best))
  if (any(c(answer$terminated$data, answer$truncated$data) == 1)) break
}
cat(sprintf("dealt pieces:    %s\n", letters_of(dealt[1:20])))
cat(sprintf("greedy game: %d pieces, %d lines\n", integers(answer$infos[[1]], 8), integers(answer$infos[[2]], 8)))
cat(server("Render", session = session, format = "RENDER_FORMAT_ASCII")$frames, sep = "\n")
invisible(server("DeleteSession", name = session))

# 256 games in one session. Step n takes the n-th action that the mask allows, counting around; ended games start again.
last <- hex("FFFFFFFFFFFFFFFE")
config <- message_of("SessionConfig", num_envs = 256, rules = small, action_mask_format = "ACTION_MASK_FORMAT_BYTES",
                     seeding = message_of("Seeding", seed = decimal(last)),
                     observation_fields = fields("board"), info_fields = fields("pieces", "lines", "seed"))
session <- server("CreateSession", config = config)$session$name
answer <- server("Reset", session = session)
limbs <- readBin(answer$infos[[3]]$data, "integer", 4 * 256, 2, signed = FALSE, endian = "little")
cat(sprintf("computed seed of environment 255: %s\n", decimal(word(last, 1, 255))))
cat(sprintf("reported seed of environment 255: %s\n", decimal(limbs[1:4 + 4 * 255])))
for (step in 0:29) {
  masks <- matrix(answer$action_mask$data == 1, nrow = 256, byrow = TRUE)
  actions <- apply(masks, 1, function(mask) which(mask)[step %% sum(mask) + 1] - 1)
  data <- writeBin(as.integer(actions), raw(), endian = "little")
  tensor <- message_of("Tensor", dtype = "DATA_TYPE_INT32", shape = 256, data = data)
  answer <- server("Step", session = session, actions = tensor)
}
board <- as.integer(answer$observations[[1]]$data)
cat(sprintf("256 environments: %.0f pieces, %.0f lines, checksum %.0f\n", sum(integers(answer$infos[[1]], 8)),
            sum(integers(answer$infos[[2]], 8)), sum(seq_along(board) * board)))
invisible(server("DeleteSession", name = session))

# Three policies on the same twenty seeds.
games <- evaluate(rbind(bcts, -bcts, 0), message_of("Rules", width = 10, height = 10), 20, 500)
cat(sprintf("evaluation: %.0f of %.0f games\n", games$progress$games_done, games$progress$num_games))
cat(sprintf("policy %d: %.0f lines, %.0f pieces\n", 0:2, games$lines, games$pieces), sep = "")

# The cross-entropy method. Every sum has a fixed order, so its result is the same in every language.
mean <- rep(0, 8)
std <- rep(10, 8)
for (generation in 1:5) {
  words <- shift_right(word(small_word(generation), 0, 0:(24 * 8 * 12 - 1)), 11)
  uniform <- add(Map(`*`, words, 65536^(0:3))) / 2^53
  # Nearly normal, with nothing but additions: twelve uniform numbers minus 6.
  deviates <- matrix(apply(matrix(uniform, nrow = 12), 2, add) - 6, ncol = 8, byrow = TRUE)
  population <- sweep(sweep(deviates, 2, std, `*`), 2, mean, `+`)
  lines <- evaluate(population, small, 5, 200)$lines
  elite <- order(-lines)[1:6]
  cat(sprintf("generation %d: best %.0f lines, elite %.0f\n", generation, lines[elite[1]], sum(lines[elite])))
  mean <- apply(population[elite, ], 2, add) / 6
  std <- sqrt(apply(sweep(population[elite, ], 2, mean)^2, 2, add) / 6)
}
cat(sprintf("weights: %s\n", paste(sprintf("%.9f", mean), collapse = " ")))

tryCatch(
  server("CreateSession", config = message_of("SessionConfig", rules = message_of("Rules", width = 3))),
  refusal = function(refusal) {
    find <- function(name) {
      is_it <- function(detail) endsWith(detail$type_url, name)
      read(P(name), Find(is_it, as.list(refusal$status$details))$value)
    }
    field <- find("google.rpc.BadRequest")$field_violations[[1]]$field
    cat(sprintf("refused: %d %s %s\n", refusal$status$code, find("google.rpc.ErrorInfo")$reason, field))
  }
)
