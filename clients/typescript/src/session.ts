// A session: environments that step together, their observations as typed arrays by name.
//
// A session holds its name and the specs of its arrays. The games are on the server.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";

import { agree, column, columns } from "./answers.js";
import type { CallOptions } from "./call.js";
import { unreadable } from "./errors.js";
import {
  type EnvironmentService,
  type FinalBatch,
  type PositionsSchema,
  RenderFormat,
  ResetRequestSchema,
  type Session as SessionMessage,
} from "./gen/tetrion/v1/environment_service_pb.js";
import type { Rules } from "./gen/tetrion/v1/rules_pb.js";
import { DataType, type Tensor } from "./gen/tetrion/v1/tensor_pb.js";
import { PLACEMENT_OPTIONS, type PlacementOptions, type Placements, placementsOf, placementsRequest } from "./placements.js";
import { callOptions, checkMessage, envIdsOf, int32s } from "./requests.js";
import { tensor } from "./tensors.js";

/** Observations by name, one row per environment of the call. Fields that the session did not ask for are undefined. */
export interface Observations {
  /** `[B, height, width]`: 1 where a cell is full; row 0 is the lowest. */
  readonly board?: Uint8Array;
  /** `[B, height]`: one integer per row; bit c is column c. 32 bits if the width is above 16. */
  readonly board_bits?: Uint16Array | Uint32Array;
  /** `[B]`: the current piece in I O T Z S J L, or -1. */
  readonly current?: Int8Array;
  /** `[B, preview]`: the next pieces. */
  readonly queue?: Int8Array;
  /** `[B]`, under rules with `hold`: the held piece, or -1. */
  readonly held?: Int8Array;
  /** `[B, width]`: the height of each column. */
  readonly heights?: Uint8Array;
  /** `[B, F]`: the features of the last landing. */
  readonly features?: Float32Array;
  /** `[B, height, width]`: 1 in the cells of the falling piece. */
  readonly falling?: Uint8Array;
  /** `[B, 4, 2]`: row and column of the falling piece's cells. */
  readonly falling_cells?: Int8Array;
  /** `[B, 8]`, if keys steer the pieces of modern Tetris: state of the piece besides its cells, in the order that the protocol lists. */
  readonly piece_state?: Uint8Array;
  /** `[B, delay + 1]`, under rules with `garbage`: waiting lines, by the piece with which they may rise, the current piece first. */
  readonly garbage?: Uint8Array;
}

/** Infos by name, each of shape `[B]`, counted from the beginning of the episode. Infos that the session did not ask for are undefined. */
export interface Infos {
  /** Cleared lines. */
  readonly lines?: BigUint64Array;
  /** Landed pieces. */
  readonly pieces?: BigUint64Array;
  /** Steps of the episode. */
  readonly length?: BigUint64Array;
  /** Sum of the rewards. */
  readonly episode_return?: Float64Array;
  /** The episode seed. `reset` with this seed replays the episode. */
  readonly seed?: BigUint64Array;
  /** 1 if the last action did not exist. */
  readonly invalid_action?: Uint8Array;
  /** Number of actions that did not exist. */
  readonly invalid_actions?: BigUint64Array;
  /** The row in which the last piece came to rest, or -1. */
  readonly landing_row?: Int8Array;
  /** Kind of spin of the last landing, under rules with spins: 0 none, 1 mini, 2 full. */
  readonly spin?: Uint8Array;
  /** Lines sent, under rules with `clear_points` or `attack`. */
  readonly attack?: BigUint64Array;
  /** Number of pieces in a row that cleared lines, up to the last one, under rules with `clear_points` or `attack`. */
  readonly combo?: Uint16Array;
  /** 1 if the last clear was of four lines or by a spin, under rules with `clear_points` or `attack`. */
  readonly back_to_back?: Uint8Array;
  /** Rows of garbage that have risen, under rules with `garbage`. */
  readonly garbage_rows?: BigUint64Array;
}

/** Answer of `reset` and `restore`: the state of the environments before their next step. */
export interface FirstStep {
  readonly observations: Observations;
  readonly infos: Infos;
  /** `[B, A]`: 1 for each action that exists, if the session asked for a mask. */
  readonly actionMask: Uint8Array | undefined;
  /** The session's sequence number. */
  readonly sequence: bigint;
}

/** Answer of `step`. */
export interface Step extends FirstStep {
  /** `[B]`: points of this step. */
  readonly rewards: Float32Array;
  /** `[B]`: 1 if the rules ended the episode. */
  readonly terminated: Uint8Array;
  /** `[B]`: 1 if a limit cut the episode. */
  readonly truncated: Uint8Array;
  /** In SAME_STEP mode, the final states of the episodes that ended, and the rows of this answer that they belong to, `[K]`. */
  readonly final: { readonly rows: readonly number[]; readonly observations: Observations; readonly infos: Infos } | undefined;
}

/** Environments that a server keeps for a caller. */
export class Session {
  /** `sessions/ID`. */
  readonly name: string;
  /** The rules, with every field. */
  readonly rules: Rules;
  /** Number of environments: N. */
  readonly numEnvs: number;

  /** @throws TetrionError if the description lacks a field that the server fills in. */
  constructor(
    private readonly calls: Client<typeof EnvironmentService>,
    /** The server's description of the session, with every default filled in. */
    readonly description: SessionMessage,
  ) {
    const { name, config } = description;
    if (name === "" || config?.rules === undefined || config.numEnvs === undefined) {
      throw unreadable("it has a session without a name, rules or a number of environments");
    }
    this.name = name;
    this.rules = config.rules;
    this.numEnvs = config.numEnvs;
  }

  /** Begins episodes, in all environments or in the ones that `envIds` lists. */
  async reset(request: Omit<MessageInitShape<typeof ResetRequestSchema>, "session" | "$typeName"> = {}, options?: CallOptions): Promise<FirstStep> {
    checkMessage(ResetRequestSchema, request);
    const { envIds } = request;
    return this.first(await this.calls.reset({ ...request, ...envIdsOf(envIds), session: this.name }, callOptions(options)), this.rowsOf(envIds));
  }

  /** Takes one action in each environment, or in each that `envIds` lists, in that order. */
  async step(actions: Int32Array | readonly number[], envIds?: readonly number[], options?: CallOptions): Promise<Step> {
    const request = { ...envIdsOf(envIds), session: this.name, actions: tensor(int32s("actions", actions)) };
    const answer = await this.calls.step(request, callOptions(options));
    const rows = this.rowsOf(envIds);
    return {
      ...this.first(answer, rows),
      rewards: column("rewards", answer.rewards, [DataType.FLOAT32], [rows]),
      terminated: column("terminated", answer.terminated, [DataType.BOOL], [rows]),
      truncated: column("truncated", answer.truncated, [DataType.BOOL], [rows]),
      final: answer.finalBatch && this.final(answer.finalBatch, rows),
    };
  }

  /** Every placement of the current pieces, with its results. */
  async placements(options: PlacementOptions = {}, envIds?: readonly number[]): Promise<Placements> {
    const call = callOptions(options, PLACEMENT_OPTIONS);
    const request = placementsRequest({ case: "sessionEnvs", value: { session: this.name, ...envIdsOf(envIds) } }, options);
    const answer = await this.calls.enumeratePlacements(request, call);
    return placementsOf(answer, this.rowsOf(envIds), options);
  }

  /** A snapshot of each environment: everything that decides its future. */
  async save(envIds?: readonly number[], options?: CallOptions): Promise<Uint8Array[]> {
    const { states } = await this.calls.saveState({ ...envIdsOf(envIds), session: this.name }, callOptions(options));
    agree("number of snapshots", states.length, this.rowsOf(envIds));
    return states;
  }

  /** Puts environments into positions: `{states}` of `save`, or `{drawings: [{rows, piece}]}`. */
  async restore(positions: MessageInitShape<typeof PositionsSchema>, envIds?: readonly number[], options?: CallOptions): Promise<FirstStep> {
    const answer = await this.calls.restoreState({ ...envIdsOf(envIds), session: this.name, positions }, callOptions(options));
    return this.first(answer, this.rowsOf(envIds));
  }

  /** The playfields as text. */
  async render(format = RenderFormat.ASCII, envIds?: readonly number[], options?: CallOptions): Promise<string[]> {
    const { frames } = await this.calls.render({ ...envIdsOf(envIds), session: this.name, format }, callOptions(options));
    agree("number of frames", frames.length, this.rowsOf(envIds));
    return frames;
  }

  /** Ends the session. A session that has already ended is no error. */
  async delete(options?: CallOptions): Promise<void> {
    await this.calls.deleteSession({ name: this.name, allowMissing: true }, callOptions(options));
  }

  /** Number of environments of a call: B. */
  private rowsOf(envIds: readonly number[] | undefined): number {
    return envIds?.length ?? this.numEnvs;
  }

  private first(answer: { observations: Tensor[]; infos: Tensor[]; actionMask?: Tensor | undefined; sequence: bigint }, rows: number): FirstStep {
    const observations = this.observations(answer.observations, rows);
    const infos = this.infos(answer.infos, rows);
    const { config, actionSpec } = this.description;
    const actionMask = config?.actionMask ? column("action_mask", answer.actionMask, [DataType.BOOL], [rows, (actionSpec?.high ?? -1) + 1]) : undefined;
    return { observations, infos, actionMask, sequence: answer.sequence };
  }

  private final({ rows: ended, observations, infos }: FinalBatch, rows: number): Step["final"] {
    if (ended.some((row, at) => row >= rows || (at > 0 && row <= ended[at - 1]!))) {
      throw unreadable("the rows of final_batch do not ascend within those of the call");
    }
    return { rows: ended, observations: this.observations(observations, ended.length), infos: this.infos(infos, ended.length) };
  }

  private observations(tensors: Tensor[], rows: number): Observations {
    return columns(this.description.observationSpecs, tensors, rows);
  }

  private infos(tensors: Tensor[], rows: number): Infos {
    return columns(this.description.infoSpecs, tensors, rows);
  }
}
