// Tetrion with grpc-go: `./cookbook HOST:PORT`; see docs/languages.md.
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"math"
	"math/bits"
	"os"
	"sort"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	pb "tetrion.dev/proto/tetrion/v1"
)

var (
	little = binary.LittleEndian
	small  = &pb.Rules{Width: 6, Height: 8}
	bcts8  = &pb.FeatureSelection{Kind: &pb.FeatureSelection_FeatureSet{FeatureSet: "bcts8"}}
)

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func word(seed, tag, n uint64) uint64 {
	const g = 0x9E3779B97F4A7C15
	return mix(mix(seed+(tag+1)*g) + (n+1)*g)
}

// must ends the program: a cookbook has no better use for an error.
func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func int64s(tensor *pb.Tensor) []int64 {
	numbers := make([]int64, len(tensor.Data)/8)
	for i := range numbers {
		numbers[i] = int64(little.Uint64(tensor.Data[8*i:]))
	}
	return numbers
}

func sum(tensor *pb.Tensor) (sum int64) {
	for _, number := range int64s(tensor) {
		sum += number
	}
	return sum
}

type client struct {
	pb.EnvironmentServiceClient
	pb.EvaluationServiceClient
	ctx context.Context
}

func (c client) create(config *pb.SessionConfig) string {
	return must(c.CreateSession(c.ctx, &pb.CreateSessionRequest{Config: config})).Session.Name
}

// playGreedily plays a game of a controller: the placement with the largest sum of weight times feature, the first of equals.
func (c client) playGreedily(weights []float64) {
	session := c.create(&pb.SessionConfig{
		Rules:             small,
		Seeding:           &pb.Seeding{Kind: &pb.Seeding_Seeds{Seeds: &pb.Seeds{Seeds: []uint64{42}}}},
		ObservationFields: &pb.FieldNames{Names: []string{"current"}},
		InfoFields:        &pb.FieldNames{Names: []string{"pieces", "lines"}},
		Features:          bcts8,
		MaxEpisodeSteps:   60,
	})
	current := must(c.Reset(c.ctx, &pb.ResetRequest{Session: session})).Observations[0].Data[0]
	dealt := ""
	for {
		dealt += string("IOTZSJL"[current])
		placements := must(c.EnumeratePlacements(c.ctx, &pb.EnumeratePlacementsRequest{
			Source: &pb.EnumeratePlacementsRequest_SessionEnvs{SessionEnvs: &pb.SessionEnvs{Session: session}},
		}))
		best, bestScore := -1, math.Inf(-1)
		for row := 0; row < len(placements.Actions.Data)/4; row++ {
			score := 0.0
			for column, weight := range weights {
				bits := little.Uint32(placements.Features.Data[4*(8*row+column):])
				// The conversion of a product keeps Go from fusing it with the sum, as it does on ARM.
				score += float64(weight * float64(math.Float32frombits(bits)))
			}
			if score > bestScore {
				best, bestScore = row, score
			}
		}
		action := float64(int32(little.Uint32(placements.Actions.Data[4*best:])))
		answer := must(c.Step(c.ctx, &pb.StepRequest{Session: session, Actions: &pb.Tensor{Values: []float64{action}}}))
		if answer.Terminated.Data[0]+answer.Truncated.Data[0] > 0 {
			fmt.Println("dealt pieces:   ", dealt[:20])
			fmt.Printf("greedy game: %d pieces, %d lines\n", sum(answer.Infos[0]), sum(answer.Infos[1]))
			break
		}
		current = answer.Observations[0].Data[0]
	}
	picture := must(c.Render(c.ctx, &pb.RenderRequest{Session: session, Format: pb.RenderFormat_RENDER_FORMAT_ASCII}))
	fmt.Println(picture.Frames[0])
	must(c.DeleteSession(c.ctx, &pb.DeleteSessionRequest{Name: session}))
}

// playManyGames steps 256 games: step n takes the n-th action that the mask allows, counting around.
func (c client) playManyGames() {
	const seed = math.MaxUint64 - 1
	session := c.create(&pb.SessionConfig{
		NumEnvs:           256,
		Rules:             small,
		Seeding:           &pb.Seeding{Kind: &pb.Seeding_Seed{Seed: seed}},
		ObservationFields: &pb.FieldNames{Names: []string{"board"}},
		InfoFields:        &pb.FieldNames{Names: []string{"pieces", "lines", "seed"}},
		ActionMaskFormat:  pb.ActionMaskFormat_ACTION_MASK_FORMAT_BYTES,
	})
	start := must(c.Reset(c.ctx, &pb.ResetRequest{Session: session}))
	fmt.Println("computed seed of environment 255:", word(seed, 1, 255))
	fmt.Println("reported seed of environment 255:", little.Uint64(start.Infos[2].Data[8*255:]))
	mask := start.ActionMask
	var answer *pb.StepResponse
	for step := 0; step < 30; step++ {
		width := int(mask.Shape[1])
		actions := make([]byte, 4*256)
		for env := 0; env < 256; env++ {
			var allowed []uint32
			for action, exists := range mask.Data[env*width : (env+1)*width] {
				if exists == 1 {
					allowed = append(allowed, uint32(action))
				}
			}
			little.PutUint32(actions[4*env:], allowed[step%len(allowed)])
		}
		tensor := &pb.Tensor{Dtype: pb.DataType_DATA_TYPE_INT32, Shape: []uint32{256}, Data: actions}
		answer = must(c.Step(c.ctx, &pb.StepRequest{Session: session, Actions: tensor}))
		mask = answer.ActionMask
	}
	checksum := 0
	for n, cell := range answer.Observations[0].Data {
		checksum += (n + 1) * int(cell)
	}
	fmt.Printf("256 environments: %d pieces, %d lines, checksum %d\n", sum(answer.Infos[0]), sum(answer.Infos[1]), checksum)
	must(c.DeleteSession(c.ctx, &pb.DeleteSessionRequest{Name: session}))
}

// evaluate returns lines and pieces of each policy, a row of weights, in the games of all seeds; and the last progress.
func (c client) evaluate(policies [][8]float64, rules *pb.Rules, numSeeds uint32, maxPieces uint64) (
	lines, pieces []int64, progress *pb.EvaluationProgress,
) {
	weights := &pb.Tensor{Shape: []uint32{uint32(len(policies)), 8}}
	for _, row := range policies {
		weights.Values = append(weights.Values, row[:]...)
	}
	stream := must(c.EvaluatePolicies(c.ctx, &pb.EvaluatePoliciesRequest{
		Rules:          rules,
		Policies:       []*pb.Policy{{Kind: &pb.Policy_Weights{Weights: &pb.Weights{Features: bcts8, Weights: weights}}}},
		Seeding:        &pb.Seeding{Kind: &pb.Seeding_Drawn{Drawn: &pb.DrawnSeeds{Seed: 1, Count: numSeeds}}},
		MaxPieces:      maxPieces,
		IncludeResults: true,
	}))
	lines, pieces = make([]int64, len(policies)), make([]int64, len(policies))
	for {
		message, err := stream.Recv()
		if err == io.EOF {
			return lines, pieces, progress
		}
		switch event := must(message, err).Event.(type) {
		case *pb.EvaluatePoliciesResponse_Progress:
			progress = event.Progress
		case *pb.EvaluatePoliciesResponse_Results:
			ofLines, ofPieces := int64s(event.Results.Lines), int64s(event.Results.Pieces)
			for game := range ofLines {
				policy := little.Uint32(event.Results.PolicyIndices.Data[4*game:])
				lines[policy] += ofLines[game]
				pieces[policy] += ofPieces[game]
			}
		}
	}
}

// search is the cross-entropy method. Every sum has a fixed order, so its result is the same in every language.
func (c client) search() {
	var mean, std [8]float64
	for column := range std {
		std[column] = 10
	}
	for generation := uint64(1); generation <= 5; generation++ {
		draws := uint64(0)
		population := make([][8]float64, 24)
		for row := range population {
			for column := range mean {
				deviate := 0.0 // nearly normal, with nothing but additions: twelve uniform numbers minus 6
				for n := 0; n < 12; n++ {
					deviate += float64(word(generation, 0, draws)>>11) / (1 << 53)
					draws++
				}
				population[row][column] = mean[column] + float64(std[column]*(deviate-6))
			}
		}
		lines, _, _ := c.evaluate(population, small, 5, 200)
		elite := make([]int, 24)
		for row := range elite {
			elite[row] = row
		}
		sort.SliceStable(elite, func(i, j int) bool { return lines[elite[i]] > lines[elite[j]] })
		elite = elite[:6]
		total := int64(0)
		for _, row := range elite {
			total += lines[row]
		}
		fmt.Printf("generation %d: best %d lines, elite %d\n", generation, lines[elite[0]], total)
		for column := range mean {
			total, squares := 0.0, 0.0
			for _, row := range elite {
				total += population[row][column]
			}
			mean[column] = total / 6
			for _, row := range elite {
				difference := population[row][column] - mean[column]
				squares += float64(difference * difference)
			}
			std[column] = math.Sqrt(squares / 6)
		}
	}
	fmt.Print("weights:")
	for _, weight := range mean {
		fmt.Printf(" %.9f", weight)
	}
	fmt.Println()
}

func main() {
	connection := must(grpc.Dial(os.Args[1], grpc.WithInsecure()))
	defer connection.Close()
	c := client{pb.NewEnvironmentServiceClient(connection), pb.NewEvaluationServiceClient(connection), context.Background()}
	fmt.Println("rules version:", must(c.GetServerInfo(c.ctx, &pb.GetServerInfoRequest{})).RulesVersion)
	pieces := ""
	for n := uint64(0); n < 20; n++ {
		high, _ := bits.Mul64(word(42, 0, n), 7)
		pieces += string("IOTZSJL"[high])
	}
	fmt.Println("computed pieces:", pieces)
	policy := must(c.GetPolicy(c.ctx, &pb.GetPolicyRequest{Name: "bcts"})).Policy
	var bcts, opposite [8]float64
	for column := range bcts {
		bcts[column] = math.Float64frombits(little.Uint64(policy.GetWeights().Weights.Data[8*column:]))
		opposite[column] = -bcts[column]
	}
	c.playGreedily(bcts[:])
	c.playManyGames()

	lines, landed, progress := c.evaluate([][8]float64{bcts, opposite, {}}, &pb.Rules{Width: 10, Height: 10}, 20, 500)
	fmt.Printf("evaluation: %d of %d games\n", progress.GamesDone, progress.NumGames)
	for row := range lines {
		fmt.Printf("policy %d: %d lines, %d pieces\n", row, lines[row], landed[row])
	}
	c.search()

	_, err := c.CreateSession(c.ctx, &pb.CreateSessionRequest{Config: &pb.SessionConfig{Rules: &pb.Rules{Width: 3}}})
	refused := status.Convert(err)
	reason, field := "", ""
	for _, detail := range refused.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			reason = detail.Reason
		case *errdetails.BadRequest:
			field = detail.FieldViolations[0].Field
		}
	}
	fmt.Println("refused:", int(refused.Code()), reason, field)
}
