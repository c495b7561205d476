// Tetrion with grpc-java: `java -cp ... Cookbook HOST:PORT`; see docs/languages.md.
import com.google.protobuf.ByteString;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import dev.tetrion.v1.*;
import io.grpc.ManagedChannelBuilder;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public final class Cookbook {
    static final Rules SMALL = Rules.newBuilder().setWidth(6).setHeight(8).build();
    static final FeatureSelection BCTS8 = FeatureSelection.newBuilder().setFeatureSet("bcts8").build();
    static EnvironmentServiceGrpc.EnvironmentServiceBlockingStub server;
    static EvaluationServiceGrpc.EvaluationServiceBlockingStub evaluator;

    static long mix(long z) {
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    static long word(long seed, long tag, long n) {
        long g = 0x9E3779B97F4A7C15L;
        return mix(mix(seed + (tag + 1) * g) + (n + 1) * g);
    }

    /** The letter of piece n: the upper half of a product of 128 bits. Java 18 has Math.unsignedMultiplyHigh. */
    static char piece(long seed, int n) {
        long word = word(seed, 0, n);
        return "IOTZSJL".charAt((int) (Math.multiplyHigh(word, 7) + ((word >> 63) & 7)));
    }

    static ByteBuffer bytes(Tensor tensor) {
        return tensor.getData().asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
    }

    static String createSession(SessionConfig.Builder config) {
        return server.createSession(CreateSessionRequest.newBuilder().setConfig(config).build()).getSession().getName();
    }

    static FieldNames names(String... names) {
        return FieldNames.newBuilder().addAllNames(Arrays.asList(names)).build();
    }

    record Games(long[] lines, long[] pieces, EvaluationProgress progress) {}

    /** Lines and pieces of each policy, a row of weights, in the games of all seeds; and the last progress. */
    static Games evaluate(double[][] policies, Rules rules, int numSeeds, int maxPieces) {
        var weights = Tensor.newBuilder().addShape(policies.length).addShape(8);
        for (var row : policies) for (var weight : row) weights.addValues(weight);
        var request = EvaluatePoliciesRequest.newBuilder().setRules(rules)
                .addPolicies(Policy.newBuilder().setWeights(Weights.newBuilder().setFeatures(BCTS8).setWeights(weights)))
                .setSeeding(Seeding.newBuilder().setDrawn(DrawnSeeds.newBuilder().setSeed(1).setCount(numSeeds)))
                .setMaxPieces(maxPieces).setIncludeResults(true).build();
        long[] lines = new long[policies.length], pieces = new long[policies.length];
        var progress = EvaluationProgress.getDefaultInstance();
        for (var messages = evaluator.evaluatePolicies(request); messages.hasNext(); ) {
            var message = messages.next();
            if (message.hasProgress()) progress = message.getProgress();
            if (!message.hasResults()) continue;
            var ofLines = bytes(message.getResults().getLines()).asLongBuffer();
            var ofPieces = bytes(message.getResults().getPieces()).asLongBuffer();
            for (var games = bytes(message.getResults().getPolicyIndices()).asIntBuffer(); games.hasRemaining(); ) {
                int policy = games.get();
                lines[policy] += ofLines.get();
                pieces[policy] += ofPieces.get();
            }
        }
        return new Games(lines, pieces, progress);
    }

    /** A game of a controller: the placement with the largest sum of weight times feature, the first of equals. */
    static void playGreedily(double[] weights) {
        var session = createSession(SessionConfig.newBuilder().setRules(SMALL).setFeatures(BCTS8).setMaxEpisodeSteps(60)
                .setSeeding(Seeding.newBuilder().setSeeds(Seeds.newBuilder().addSeeds(42)))
                .setObservationFields(names("current")).setInfoFields(names("pieces", "lines")));
        var current = server.reset(ResetRequest.newBuilder().setSession(session).build()).getObservations(0);
        var dealt = new StringBuilder();
        StepResponse answer;
        do {
            dealt.append("IOTZSJL".charAt(bytes(current).get()));
            var placements = server.enumeratePlacements(EnumeratePlacementsRequest.newBuilder()
                    .setSessionEnvs(SessionEnvs.newBuilder().setSession(session)).build());
            var features = bytes(placements.getFeatures()).asFloatBuffer();
            double best = -1, bestScore = Double.NEGATIVE_INFINITY;
            for (var actions = bytes(placements.getActions()).asIntBuffer(); actions.hasRemaining(); ) {
                int action = actions.get();
                double score = 0;
                for (var weight : weights) score += weight * features.get();
                if (score > bestScore) {
                    best = action;
                    bestScore = score;
                }
            }
            answer = server.step(StepRequest.newBuilder().setSession(session)
                    .setActions(Tensor.newBuilder().addValues(best)).build());
            current = answer.getObservations(0);
        } while (bytes(answer.getTerminated()).get() + bytes(answer.getTruncated()).get() == 0);
        System.out.println("dealt pieces:    " + dealt.substring(0, 20));
        System.out.printf("greedy game: %d pieces, %d lines%n",
                bytes(answer.getInfos(0)).getLong(), bytes(answer.getInfos(1)).getLong());
        System.out.println(server.render(RenderRequest.newBuilder()
                .setSession(session).setFormat(RenderFormat.RENDER_FORMAT_ASCII).build()).getFrames(0));
        server.deleteSession(DeleteSessionRequest.newBuilder().setName(session).build());
    }

    /** Step n takes the n-th action that the mask allows, counting around; ended games start again. */
    static void playManyGames() {
        long seed = -2; // unsigned, 2^64 - 2
        var session = createSession(SessionConfig.newBuilder().setNumEnvs(256).setRules(SMALL)
                .setSeeding(Seeding.newBuilder().setSeed(seed))
                .setObservationFields(names("board")).setInfoFields(names("pieces", "lines", "seed"))
                .setActionMaskFormat(ActionMaskFormat.ACTION_MASK_FORMAT_BYTES));
        var start = server.reset(ResetRequest.newBuilder().setSession(session).build());
        long reported = bytes(start.getInfos(2)).getLong(8 * 255);
        System.out.println("computed seed of environment 255: " + Long.toUnsignedString(word(seed, 1, 255)));
        System.out.println("reported seed of environment 255: " + Long.toUnsignedString(reported));
        var mask = start.getActionMask();
        StepResponse answer = null;
        for (int step = 0; step < 30; step++) {
            int width = mask.getShape(1);
            var actions = ByteBuffer.allocate(4 * 256).order(ByteOrder.LITTLE_ENDIAN);
            for (int env = 0; env < 256; env++) {
                var row = mask.getData().substring(env * width, (env + 1) * width);
                var allowed = IntStream.range(0, width).filter(action -> row.byteAt(action) != 0).toArray();
                actions.putInt(allowed[step % allowed.length]);
            }
            answer = server.step(StepRequest.newBuilder().setSession(session).setActions(Tensor.newBuilder()
                    .setDtype(DataType.DATA_TYPE_INT32).addShape(256).setData(ByteString.copyFrom(actions.flip()))).build());
            mask = answer.getActionMask();
        }
        long pieces = 0, lines = 0, checksum = 0;
        var ofPieces = bytes(answer.getInfos(0)).asLongBuffer();
        var ofLines = bytes(answer.getInfos(1)).asLongBuffer();
        for (int env = 0; env < 256; env++) {
            pieces += ofPieces.get();
            lines += ofLines.get();
        }
        var board = bytes(answer.getObservations(0));
        for (int n = 1; board.hasRemaining(); n++) checksum += n * board.get();
        System.out.printf("256 environments: %d pieces, %d lines, checksum %d%n", pieces, lines, checksum);
        server.deleteSession(DeleteSessionRequest.newBuilder().setName(session).build());
    }

    static int draws;

    /** A number that is nearly normal, with nothing but additions: twelve uniform numbers minus 6. */
    static double deviate(int generation) {
        double total = 0;
        for (int n = 0; n < 12; n++) total += (word(generation, 0, draws++) >>> 11) * 0x1p-53;
        return total - 6;
    }

    /** The cross-entropy method. Every sum has a fixed order, so its result is the same in every language. */
    static void search() {
        double[] mean = new double[8], std = new double[8];
        Arrays.fill(std, 10);
        for (int generation = 1; generation <= 5; generation++) {
            draws = 0;
            var population = new double[24][8];
            for (var row : population)
                for (int column = 0; column < 8; column++) row[column] = mean[column] + std[column] * deviate(generation);
            var lines = evaluate(population, SMALL, 5, 200).lines;
            var elite = IntStream.range(0, 24).boxed().sorted(Comparator.comparing(row -> -lines[row])).limit(6).toList();
            long sum = elite.stream().mapToLong(row -> lines[row]).sum();
            System.out.printf("generation %d: best %d lines, elite %d%n", generation, lines[elite.get(0)], sum);
            for (int column = 0; column < 8; column++) {
                double total = 0, squares = 0;
                for (int row : elite) total += population[row][column];
                mean[column] = total / 6;
                for (int row : elite) {
                    double difference = population[row][column] - mean[column];
                    squares += difference * difference;
                }
                std[column] = Math.sqrt(squares / 6);
            }
        }
        System.out.println("weights: "
                + Arrays.stream(mean).mapToObj(weight -> String.format("%.9f", weight)).collect(Collectors.joining(" ")));
    }

    public static void main(String[] arguments) throws Exception {
        var channel = ManagedChannelBuilder.forTarget(arguments[0]).usePlaintext().build();
        server = EnvironmentServiceGrpc.newBlockingStub(channel);
        evaluator = EvaluationServiceGrpc.newBlockingStub(channel);
        System.out.println("rules version: " + server.getServerInfo(GetServerInfoRequest.getDefaultInstance()).getRulesVersion());
        var pieces = IntStream.range(0, 20).mapToObj(n -> "" + piece(42, n)).collect(Collectors.joining());
        System.out.println("computed pieces: " + pieces);
        var policy = server.getPolicy(GetPolicyRequest.newBuilder().setName("bcts").build()).getPolicy();
        var bcts = new double[8];
        bytes(policy.getWeights().getWeights()).asDoubleBuffer().get(bcts);
        playGreedily(bcts);
        playManyGames();

        var opposite = Arrays.stream(bcts).map(weight -> -weight).toArray();
        var rules = Rules.newBuilder().setWidth(10).setHeight(10).build();
        var games = evaluate(new double[][] {bcts, opposite, new double[8]}, rules, 20, 500);
        System.out.printf("evaluation: %d of %d games%n", games.progress.getGamesDone(), games.progress.getNumGames());
        for (int row = 0; row < 3; row++)
            System.out.printf("policy %d: %d lines, %d pieces%n", row, games.lines[row], games.pieces[row]);
        search();

        try {
            createSession(SessionConfig.newBuilder().setRules(Rules.newBuilder().setWidth(3)));
        } catch (StatusRuntimeException error) {
            var reason = "";
            var field = "";
            for (var detail : StatusProto.fromThrowable(error).getDetailsList()) {
                if (detail.is(ErrorInfo.class)) reason = detail.unpack(ErrorInfo.class).getReason();
                if (detail.is(BadRequest.class)) field = detail.unpack(BadRequest.class).getFieldViolations(0).getField();
            }
            System.out.printf("refused: %d %s %s%n", error.getStatus().getCode().value(), reason, field);
        }
        channel.shutdown();
    }
}
