// A session: environments that step together, their observations as typed arrays by name.
//
// Holds the name and the specs, and nothing of the games: these are on the server.

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";

import type { CallOptions } from "./call.js";
import {
  type EnvironmentService,
  type PositionsSchema,
  RenderFormat,
  type ResetRequestSchema,
  type Session as SessionMessage,
} from "./gen/tetrion/v1/environment_service_pb.js";
import { DataType, type Tensor, type TensorSpec } from "./gen/tetrion/v1/tensor_pb.js";
import { type PlacementOptions, type Placements, placementsOf, placementsRequest } from "./placements.js";
import { type TypedArray, elementsOf, tensor } from "./tensors.js";

/** Observations by name, one row for each environment of the call; those that the session asked for. */
export interface Observations {
  /** `[B, height, width]`: 1 where a cell is full; row 0 is the lowest. */
  readonly board?: Uint8Array;
  /** `[B, height]`: an integer a row, bit c is column c; 32 bits where the width is above 16. */
  readonly board_bits?: Uint16Array | Uint32Array;
  /** `[B]`: the current piece in I O T Z S J L, or -1. */
  readonly current?: Int8Array;
  /** `[B, preview]`: the next pieces. */
  readonly queue?: Int8Array;
  /** `[B]`, with `hold`: the piece that is held, or -1. */
  readonly held?: Int8Array;
  /** `[B, width]`: the height of each column. */
  readonly heights?: Uint8Array;
  /** `[B, F]`: the features of the last landing. */
  readonly features?: Float32Array;
  /** `[B, height, width]`: 1 in the cells of the falling piece. */
  readonly falling?: Uint8Array;
  /** `[B, 4, 2]`: row and column of its cells. */
  readonly falling_cells?: Int8Array;
  /** `[B, 8]`, where keys steer the piece of modern Tetris: what its cells do not say, in the order of the protocol's description. */
  readonly piece_state?: Uint8Array;
  /** `[B, delay + 1]`, with `garbage`: the lines that wait, by the piece with which they may rise, the current one first. */
  readonly garbage?: Uint8Array;
}

/** Infos by name, each of shape `[B]`; those that the session asked for. They count since the episode began. */
export interface Infos {
  /** Lines cleared. */
  readonly lines?: BigUint64Array;
  /** Pieces landed. */
  readonly pieces?: BigUint64Array;
  /** Steps taken. */
  readonly length?: BigUint64Array;
  /** Sum of the rewards. */
  readonly episode_return?: Float64Array;
  /** The episode seed; given to `reset` it replays the episode. */
  readonly seed?: BigUint64Array;
  /** 1 where the last action did not exist. */
  readonly invalid_action?: Uint8Array;
  /** How many did not exist. */
  readonly invalid_actions?: BigUint64Array;
  /** The row in which the last piece came to rest, or -1. */
  readonly landing_row?: Int8Array;
  /** What the last landing counted as, where the rules tell spins apart: 0 no spin, 1 mini, 2 full. */
  readonly spin?: Uint8Array;
  /** Lines sent, with `clear_points` or `attack`; the next two likewise. */
  readonly attack?: BigUint64Array;
  /** How many of the last pieces cleared lines, one after the other. */
  readonly combo?: Uint16Array;
  /** 1 where the last clear was of four lines or by a spin. */
  readonly back_to_back?: Uint8Array;
  /** Rows of garbage that have risen, with `garbage`. */
  readonly garbage_rows?: BigUint64Array;
}

/** What a session shows when episodes begin. */
export interface FirstStep {
  readonly observations: Observations;
  readonly infos: Infos;
  /** `[B, A]`: 1 for each action that exists, if the session asked for a mask. */
  readonly actionMask: Uint8Array | undefined;
  /** The session's sequence number. */
  readonly sequence: bigint;
}

/** What a session shows after a step. */
export interface Step extends FirstStep {
  /** `[B]`: points of this step. */
  readonly rewards: Float32Array;
  /** `[B]`: 1 where the rules ended the episode. */
  readonly terminated: Uint8Array;
  /** `[B]`: 1 where a limit cut it. */
  readonly truncated: Uint8Array;
  /** In SAME_STEP mode the end of the episodes that ended: their rows of this answer, `[K]`, and their last state. */
  readonly final: { readonly rows: readonly number[]; readonly observations: Observations; readonly infos: Infos } | undefined;
}

/** Environments that a server keeps for a caller. */
export class Session {
  /** `sessions/ID`. */
  readonly name: string;

  constructor(
    private readonly calls: Client<typeof EnvironmentService>,
    /** What the server says of it, every default filled in. */
    readonly description: SessionMessage,
  ) {
    this.name = description.name;
  }

  /** N. */
  get numEnvs(): number {
    return this.description.config?.numEnvs ?? 1;
  }

  /** Begins episodes, in all environments or in those of `envIds`. */
  async reset(request: Omit<MessageInitShape<typeof ResetRequestSchema>, "session" | "$typeName"> = {}, options?: CallOptions): Promise<FirstStep> {
    return this.first(await this.calls.reset({ ...request, session: this.name }, options));
  }

  /** Does one action in each environment, or in each of `envIds`, in their order. */
  async step(actions: Int32Array | readonly number[], envIds: readonly number[] = [], options?: CallOptions): Promise<Step> {
    const numbers = actions instanceof Int32Array ? actions : Int32Array.from(actions);
    const request = { session: this.name, actions: tensor(numbers), envIds: [...envIds] };
    const answer = await this.calls.step(request, options);
    const { finalBatch } = answer;
    return {
      ...this.first(answer),
      rewards: elementsOf(answer.rewards, DataType.FLOAT32),
      terminated: elementsOf(answer.terminated, DataType.BOOL),
      truncated: elementsOf(answer.truncated, DataType.BOOL),
      final: finalBatch && { rows: finalBatch.rows, observations: this.observations(finalBatch.observations), infos: this.infos(finalBatch.infos) },
    };
  }

  /** Every placement of the current pieces, and what it leads to. */
  async placements(options: PlacementOptions = {}, envIds: readonly number[] = []): Promise<Placements> {
    const { signal } = options;
    const request = placementsRequest({ case: "sessionEnvs", value: { session: this.name, envIds: [...envIds] } }, options);
    return placementsOf(await this.calls.enumeratePlacements(request, signal && { signal }));
  }

  /** A snapshot of each environment: everything that decides its future. */
  async save(envIds: readonly number[] = [], options?: CallOptions): Promise<Uint8Array[]> {
    return (await this.calls.saveState({ session: this.name, envIds: [...envIds] }, options)).states;
  }

  /** Puts environments into positions: `{states}` of `save`, or `{drawings: [{rows, piece}]}`. */
  async restore(positions: MessageInitShape<typeof PositionsSchema>, envIds: readonly number[] = [], options?: CallOptions): Promise<FirstStep> {
    return this.first(await this.calls.restoreState({ session: this.name, positions, envIds: [...envIds] }, options));
  }

  /** The playfields as text. */
  async render(format = RenderFormat.ASCII, envIds: readonly number[] = [], options?: CallOptions): Promise<string[]> {
    return (await this.calls.render({ session: this.name, format, envIds: [...envIds] }, options)).frames;
  }

  /** Ends the session; one that has ended already is no error. */
  async delete(options?: CallOptions): Promise<void> {
    await this.calls.deleteSession({ name: this.name, allowMissing: true }, options);
  }

  private first(answer: { observations: Tensor[]; infos: Tensor[]; actionMask?: Tensor | undefined; sequence: bigint }): FirstStep {
    const actionMask = answer.actionMask && elementsOf(answer.actionMask, DataType.BOOL);
    return { observations: this.observations(answer.observations), infos: this.infos(answer.infos), actionMask, sequence: answer.sequence };
  }

  private observations(tensors: Tensor[]): Observations {
    return named(this.description.observationSpecs, tensors);
  }

  private infos(tensors: Tensor[]): Infos {
    return named(this.description.infoSpecs, tensors);
  }
}

/** Tensors carry no names: they come in the order of the specs. */
function named(specs: TensorSpec[], tensors: Tensor[]): Record<string, TypedArray> {
  if (specs.length !== tensors.length) {
    throw new TypeError(`expected ${specs.length} tensors, found ${tensors.length}`);
  }
  return Object.fromEntries(specs.map(({ name, dtype }, at) => [name, elementsOf(tensors[at], dtype as never)]));
}
