// Tetrion from Kotlin with the stubs of grpc-java: `java -cp ... CookbookKt HOST:PORT`; see docs/languages.md.
import com.google.protobuf.ByteString
import com.google.rpc.BadRequest
import com.google.rpc.ErrorInfo
import dev.tetrion.v1.*
import io.grpc.ManagedChannelBuilder
import io.grpc.StatusRuntimeException
import io.grpc.protobuf.StatusProto
import java.nio.ByteBuffer
import java.nio.ByteOrder
import kotlin.math.sqrt

const val LETTERS = "IOTZSJL"
val small: Rules = Rules.newBuilder().setWidth(6).setHeight(8).build()
val bcts8: FeatureSelection = FeatureSelection.newBuilder().setFeatureSet("bcts8").build()

fun mix(word: ULong): ULong {
    var z = word
    z = (z xor (z shr 30)) * 0xBF58476D1CE4E5B9u
    z = (z xor (z shr 27)) * 0x94D049BB133111EBu
    return z xor (z shr 31)
}

fun word(seed: ULong, tag: ULong, n: ULong): ULong {
    val g = 0x9E3779B97F4A7C15u
    return mix(mix(seed + (tag + 1u) * g) + (n + 1u) * g)
}

/** The upper half of a product of 128 bits, for a small second factor. */
fun below(word: ULong, m: ULong): Int = (((word shr 32) * m + ((word and 0xFFFFFFFFu) * m shr 32)) shr 32).toInt()

fun bytes(tensor: Tensor): ByteBuffer = tensor.data.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN)

fun longs(tensor: Tensor): LongArray = bytes(tensor).asLongBuffer().let { LongArray(it.remaining()).apply(it::get) }

fun names(vararg names: String): FieldNames = FieldNames.newBuilder().addAllNames(names.asList()).build()

class Games(val lines: LongArray, val pieces: LongArray, val progress: EvaluationProgress)

class Tetrion(target: String) : AutoCloseable {
    private val channel = ManagedChannelBuilder.forTarget(target).usePlaintext().build()
    private val server = EnvironmentServiceGrpc.newBlockingStub(channel)
    private val evaluator = EvaluationServiceGrpc.newBlockingStub(channel)

    override fun close() {
        channel.shutdown()
    }

    fun rulesVersion(): String = server.getServerInfo(GetServerInfoRequest.getDefaultInstance()).rulesVersion

    fun weights(controller: String): List<Double> {
        val policy = server.getPolicy(GetPolicyRequest.newBuilder().setName(controller).build()).policy
        val weights = bytes(policy.weights.weights).asDoubleBuffer()
        return List(weights.remaining()) { weights.get(it) }
    }

    fun createSession(fill: SessionConfig.Builder.() -> Unit): String {
        val config = SessionConfig.newBuilder().apply(fill)
        return server.createSession(CreateSessionRequest.newBuilder().setConfig(config).build()).session.name
    }

    fun reset(session: String): ResetResponse = server.reset(ResetRequest.newBuilder().setSession(session).build())

    private fun step(session: String, fill: Tensor.Builder.() -> Unit): StepResponse =
        server.step(StepRequest.newBuilder().setSession(session).setActions(Tensor.newBuilder().apply(fill)).build())

    private fun delete(session: String) {
        server.deleteSession(DeleteSessionRequest.newBuilder().setName(session).build())
    }

    /** A game of a controller: the placement with the largest sum of weight times feature, the first of equals. */
    fun playGreedily(weights: List<Double>) {
        val session = createSession {
            setRules(small).setFeatures(bcts8).setMaxEpisodeSteps(60)
            seedingBuilder.seedsBuilder.addSeeds(42)
            setObservationFields(names("current")).setInfoFields(names("pieces", "lines"))
        }
        var current = reset(session).getObservations(0)
        val dealt = StringBuilder()
        while (true) {
            dealt.append(LETTERS[bytes(current).get().toInt()])
            val placements = server.enumeratePlacements(
                EnumeratePlacementsRequest.newBuilder().apply { sessionEnvsBuilder.session = session }.build(),
            )
            val features = bytes(placements.features).asFloatBuffer()
            val actions = bytes(placements.actions).asIntBuffer()
            val scores = List(actions.remaining()) { row ->
                weights.foldIndexed(0.0) { column, sum, weight -> sum + weight * features.get(8 * row + column) }
            }
            val best = actions.get(scores.indices.maxBy { scores[it] })
            val answer = step(session) { addValues(best.toDouble()) }
            current = answer.getObservations(0)
            if (bytes(answer.terminated).get() + bytes(answer.truncated).get() > 0) {
                println("dealt pieces:    ${dealt.take(20)}")
                println("greedy game: ${longs(answer.getInfos(0))[0]} pieces, ${longs(answer.getInfos(1))[0]} lines")
                break
            }
        }
        val render = RenderRequest.newBuilder().setSession(session).setFormat(RenderFormat.RENDER_FORMAT_ASCII)
        println(server.render(render.build()).getFrames(0))
        delete(session)
    }

    /** Step n takes the n-th action that the mask allows, counting around; ended games start again. */
    fun playManyGames() {
        val seed = ULong.MAX_VALUE - 1u
        val session = createSession {
            setNumEnvs(256).setRules(small)
            seedingBuilder.seed = seed.toLong()
            setObservationFields(names("board")).setInfoFields(names("pieces", "lines", "seed"))
            actionMaskFormat = ActionMaskFormat.ACTION_MASK_FORMAT_BYTES
        }
        val start = reset(session)
        println("computed seed of environment 255: ${word(seed, 1u, 255u)}")
        println("reported seed of environment 255: ${longs(start.getInfos(2))[255].toULong()}")
        var mask = start.actionMask
        lateinit var answer: StepResponse
        for (step in 0 until 30) {
            val actions = ByteBuffer.allocate(4 * 256).order(ByteOrder.LITTLE_ENDIAN)
            for (row in mask.data.toByteArray().asIterable().chunked(mask.getShape(1))) {
                val allowed = row.indices.filter { row[it] != 0.toByte() }
                actions.putInt(allowed[step % allowed.size])
            }
            answer = step(session) {
                setDtype(DataType.DATA_TYPE_INT32).addShape(256).setData(ByteString.copyFrom(actions.flip()))
            }
            mask = answer.actionMask
        }
        val (pieces, lines) = answer.infosList.map { longs(it).sum() }
        val checksum = answer.getObservations(0).data.foldIndexed(0L) { n, sum, cell -> sum + (n + 1) * cell }
        println("256 environments: $pieces pieces, $lines lines, checksum $checksum")
        delete(session)
    }

    /** Lines and pieces of each policy, a row of weights, in the games of all seeds; and the last progress. */
    fun evaluate(policies: List<List<Double>>, rules: Rules, numSeeds: Int, maxPieces: Long): Games {
        val request = EvaluatePoliciesRequest.newBuilder().setRules(rules).setMaxPieces(maxPieces).setIncludeResults(true)
        val weights = request.addPoliciesBuilder().weightsBuilder.setFeatures(bcts8).weightsBuilder
        weights.addShape(policies.size).addShape(8).addAllValues(policies.flatten())
        request.seedingBuilder.drawnBuilder.setSeed(1).setCount(numSeeds)
        val (lines, pieces) = List(2) { LongArray(policies.size) }
        var progress = EvaluationProgress.getDefaultInstance()
        for (message in evaluator.evaluatePolicies(request.build())) {
            if (message.hasProgress()) progress = message.progress
            val indices = bytes(message.results.policyIndices).asIntBuffer()
            val (ofLines, ofPieces) = listOf(message.results.lines, message.results.pieces).map(::longs)
            for (game in ofLines.indices) {
                lines[indices.get(game)] += ofLines[game]
                pieces[indices.get(game)] += ofPieces[game]
            }
        }
        return Games(lines, pieces, progress)
    }

    /** The cross-entropy method. Every sum has a fixed order, so its result is the same in every language. */
    fun search() {
        val mean = DoubleArray(8)
        val std = DoubleArray(8) { 10.0 }
        for (generation in 1..5) {
            var draws = 0uL
            // Nearly normal, with nothing but additions: twelve uniform numbers minus 6.
            fun deviate() = List(12) { (word(generation.toULong(), 0u, draws++) shr 11).toDouble() / (1L shl 53) }.sum() - 6
            val population = List(24) { List(8) { column -> mean[column] + std[column] * deviate() } }
            val lines = evaluate(population, small, 5, 200).lines
            val elite = lines.indices.sortedByDescending { lines[it] }.take(6)
            println("generation $generation: best ${lines[elite[0]]} lines, elite ${elite.sumOf { lines[it] }}")
            for (column in 0 until 8) {
                mean[column] = elite.sumOf { population[it][column] } / 6
                val differences = elite.map { population[it][column] - mean[column] }
                std[column] = sqrt(differences.sumOf { it * it } / 6)
            }
        }
        println("weights: " + mean.joinToString(" ") { "%.9f".format(it) })
    }
}

fun main(arguments: Array<String>): Unit = Tetrion(arguments[0]).use { tetrion ->
    println("rules version: ${tetrion.rulesVersion()}")
    println("computed pieces: " + List(20) { LETTERS[below(word(42u, 0u, it.toULong()), 7u)] }.joinToString(""))
    val bcts = tetrion.weights("bcts")
    tetrion.playGreedily(bcts)
    tetrion.playManyGames()

    val rules = Rules.newBuilder().setWidth(10).setHeight(10).build()
    val games = tetrion.evaluate(listOf(bcts, bcts.map { -it }, List(8) { 0.0 }), rules, 20, 500)
    println("evaluation: ${games.progress.gamesDone} of ${games.progress.numGames} games")
    for (row in 0 until 3) println("policy $row: ${games.lines[row]} lines, ${games.pieces[row]} pieces")
    tetrion.search()

    try {
        tetrion.createSession { rulesBuilder.width = 3 }
    } catch (error: StatusRuntimeException) {
        val details = StatusProto.fromThrowable(error)!!.detailsList
        val reason = details.first { it.`is`(ErrorInfo::class.java) }.unpack(ErrorInfo::class.java).reason
        val violations = details.first { it.`is`(BadRequest::class.java) }.unpack(BadRequest::class.java).fieldViolationsList
        println("refused: ${error.status.code.value()} $reason ${violations[0].field}")
    }
}
