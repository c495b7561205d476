/// <reference lib="esnext.disposable" preserve="true" />

// A session: environments that step together, their observations as typed arrays by name.
//
// A session holds its name and the specs of its arrays. The games are on the server.

import { agree, column, columns } from "./answers.js";
import type { CallOptions, EnvOptions } from "./call.js";
import type { ActionDigits } from "./digits.js";
import { TetrionError, unreadable } from "./errors.js";
import {
  ActionMaskFormat,
  DataType,
  type FinalBatch,
  type Palette,
  type RenderFormat,
  RenderRequestSchema,
  ResetRequestSchema,
  RestoreStateRequestSchema,
  type Rules,
  type Session as SessionMessage,
  StepRequestSchema,
  type Tensor,
} from "./protocol.js";
import type { AnswerOf, Kind, Link, RequestOf } from "./link.js";
import { isLost } from "./patience.js";
import { PLACEMENT_OPTIONS, type PlacementOptions, type Placements, placementsOf, placementsRequest, positionsOf } from "./placements.js";
import type { Plain, Positions } from "./plain.js";
import { type Call, callOptions, envIdsOf, fieldsOf, int32s, isTexts } from "./requests.js";
import { type DrawnSeeds, seedingOf } from "./seeding.js";
import { tensor } from "./tensors.js";

/**
 * Observations by name, one row per environment of the call. Fields that the session did not ask for are undefined. The keys are
 * data, the names that the protocol and every client use, and so in snake case.
 */
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
  /** `[B, delayPieces + 1]`, under rules with `garbage`: waiting lines, by the piece with which they may rise, the current piece first. */
  readonly garbage?: Uint8Array;
  /** `[B, 3]`, under rules with `clear_points` or `attack_table`: combo, difficult clears in succession, pieces landed. */
  readonly counts?: Int32Array;
}

/**
 * Infos by name, each of shape `[B]`, counted from the beginning of the episode. Infos that the session did not ask for are
 * undefined. The keys are data, as in `Observations`.
 */
export interface Infos {
  /** Cleared lines. */
  readonly lines?: Float64Array;
  /** Landed pieces. */
  readonly pieces?: Float64Array;
  /** Steps of the episode. */
  readonly steps?: Float64Array;
  /** Sum of the rewards. */
  readonly episode_return?: Float64Array;
  /** The episode seed. `reset` with this seed replays the episode. */
  readonly seed?: BigUint64Array;
  /** Why the episode has ended, a number of `EpisodeEnd`: 1, NOT_ENDED, until then. */
  readonly end?: Uint8Array;
  /** 1 if the last action did not exist. */
  readonly invalid_action?: Uint8Array;
  /** Number of actions that did not exist. */
  readonly invalid_actions?: Float64Array;
  /** The row in which the last piece came to rest, or -1. */
  readonly landing_row?: Int8Array;
  /** Kind of spin of the last landing, under rules with spins: 0 none, 1 mini, 2 full. */
  readonly spin?: Uint8Array;
  /** Lines sent, under rules with `clear_points` or `attack_table`. */
  readonly attack?: Float64Array;
  /** Number of pieces in a row that cleared lines, up to the last one, under rules with `clear_points` or `attack_table`. */
  readonly combo?: Int32Array;
  /** 1 if the last clear was of four lines or by a spin, under rules with `clear_points` or `attack_table`. */
  readonly back_to_back?: Uint8Array;
  /** Rows of garbage that have risen, under rules with `garbage`. */
  readonly garbage_rows?: Float64Array;
  /** Number of difficult clears in succession, up to the last clear, under rules with `clear_points` or `attack_table`. */
  readonly back_to_back_count?: Int32Array;
  /** Lines that left, after they cancelled waiting ones, under rules with `garbage`. */
  readonly sent?: Float64Array;
  /** Lines that arrived, to wait, under rules with `garbage`. */
  readonly received?: Float64Array;
  /** Waiting lines that were cancelled, under rules with `garbage`. */
  readonly cancelled?: Float64Array;
  /** Lines that broken back-to-back chains sent, under rules with `garbage`. */
  readonly surge?: Float64Array;
  /** 1 if the match was won, -1 if it was lost, else 0, under rules of two players. */
  readonly won?: Int8Array;
  /** Lines that the last placement is expected to cost against the best one, on playfields whose exact values are known. */
  readonly regret?: Float64Array;
}

/** Answer of `reset` and `restoreState`: the state of the environments before their next step. */
export interface FirstStep {
  readonly observations: Observations;
  readonly infos: Infos;
  /** `[B, A]`: 1 for each action that exists, if the session asked for a mask. */
  readonly actionMask: Uint8Array | undefined;
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

/** Options of `reset`. */
export interface ResetOptions extends EnvOptions {
  /** One seed per environment of the call; each starts episode 0 of its seed. Without seeds each environment starts its next episode. */
  readonly seeds?: readonly bigint[] | DrawnSeeds | undefined;
  /** Explicit pieces instead of seeds: a string of the letters IOTZSJL per environment of the call, or one for all. */
  readonly pieceSequences?: readonly string[] | undefined;
  /** With `pieceSequences` and under rules with garbage: the columns of the holes, in the order in which lines get them, a list per string. */
  readonly holeColumns?: readonly (readonly number[])[] | undefined;
  /** Starts mirrored matches, under rules of two players: each side has the holes of the other, until the next `reset`. */
  readonly swapSides?: boolean | undefined;
}

/** Options of `restoreState`. */
export interface RestoreStateOptions extends EnvOptions {
  /** Deals other pieces from here on, drawn from this number. Without it forks of one snapshot see the same pieces. */
  readonly reseed?: bigint | undefined;
}

/** Options of `render`. */
export interface RenderOptions extends EnvOptions {
  /** Format of the drawings: `ascii` (the default), `lab`, `leiden`, `ansi` or `letters`, or for language models one of `prompt_...`. */
  readonly format?: Exclude<Plain<RenderFormat>, "rgb" | RenderFormat.RGB> | undefined;
  /** Colors of `ansi`: `usual` (the default) or `color_blind`. A session with `keepColors` shows them. */
  readonly palette?: Plain<Palette> | undefined;
}

/** Calls on the environments of a session. */
export abstract class EnvCalls {
  /** The rules, with every field. */
  readonly rules: Rules;
  /** Number of environments: N. */
  readonly numEnvs: number;
  /** The digits of an action, for `decodeAction` and `encodeAction`. */
  readonly actionDigits: ActionDigits;

  /** @throws TetrionError if the description lacks a field that the server fills in, or if its digits make other actions. */
  protected constructor(
    /** The server's description of the session, with every default filled in. */
    readonly description: SessionMessage,
  ) {
    const { name, config } = description;
    if (name === "" || config?.rules === undefined || config.numEnvs === 0) {
      throw unreadable("it has a session without a name, rules or a number of environments");
    }
    this.rules = config.rules;
    this.numEnvs = config.numEnvs;
    this.actionDigits = description.actionDigits;
    agree("number of actions", this.actionDigits.reduce((product, { size }) => product * size, 1), (description.actionSpec?.high ?? -1) + 1);
  }

  /** Sends a request and waits for its answer. */
  protected abstract call<K extends Kind>(kind: K, request: RequestOf<K>, call: Call): Promise<AnswerOf<K>>;

  /** Starts new episodes. */
  async reset(options: ResetOptions = {}): Promise<FirstStep> {
    const call = callOptions(options, ["envIds", "seeds", "pieceSequences", "holeColumns", "swapSides"]);
    const request = { ...fieldsOf(ResetRequestSchema, options, { swapSides: "swapSides" }), ...seedingOf(options, "seeds"), ...envIdsOf(options.envIds) };
    return this.first(await this.call("reset", request, call), this.rowsOf(options));
  }

  /** Takes one action in each environment: numbers, or names of actions as in `render({ format: "prompt_actions" })`. */
  async step(actions: Int32Array | readonly number[] | readonly string[], options: EnvOptions = {}): Promise<Step> {
    const call = callOptions(options, ["envIds"]);
    const named = isTexts(actions) ? fieldsOf(StepRequestSchema, { actions: [...actions] }, { actions: "textActions" }) : { actions: tensor(int32s("actions", actions, "an array of integers, or of names")) };
    const request = { ...envIdsOf(options.envIds), ...named };
    const answer = await this.call("step", request, call);
    const rows = this.rowsOf(options);
    return {
      ...this.first(answer, rows),
      rewards: column("rewards", answer.rewards, [DataType.FLOAT32], [rows]),
      terminated: column("terminated", answer.terminated, [DataType.BOOL], [rows]),
      truncated: column("truncated", answer.truncated, [DataType.BOOL], [rows]),
      final: answer.finalBatch && this.final(answer.finalBatch, rows),
    };
  }

  /** Lists every placement of the current pieces, with its results. */
  async enumeratePlacements(options: PlacementOptions & EnvOptions = {}): Promise<Placements> {
    const call = callOptions(options, ["envIds", ...PLACEMENT_OPTIONS]);
    const request = placementsRequest({ case: "sessionEnvs", value: envIdsOf(options.envIds) }, options);
    return placementsOf(await this.call("enumeratePlacements", request, call), this.rowsOf(options), options);
  }

  /** Takes a snapshot of each environment: everything that decides its future. */
  async saveState(options: EnvOptions = {}): Promise<Uint8Array[]> {
    const call = callOptions(options, ["envIds"]);
    const { states } = await this.call("saveState", envIdsOf(options.envIds), call);
    agree("number of snapshots", states.length, this.rowsOf(options));
    return states;
  }

  /**
   * Puts environments into positions: `{ snapshots }` of `saveState`, or `{ drawings: [{ rows, piece }] }`. One position per environment
   * of the call, or one for all of them.
   */
  async restoreState(positions: Positions, options: RestoreStateOptions = {}): Promise<FirstStep> {
    const call = callOptions(options, ["envIds", "reseed"]);
    const request = { ...fieldsOf(RestoreStateRequestSchema, options, { reseed: "reseed" }), ...envIdsOf(options.envIds), positions: positionsOf(positions) };
    return this.first(await this.call("restoreState", request, call), this.rowsOf(options));
  }

  /** Number of environments of a call: B. */
  protected rowsOf({ envIds }: EnvOptions): number {
    return envIds?.length ?? this.numEnvs;
  }

  private first(answer: { observations: Tensor[]; infos: Tensor[]; actionMask?: Tensor | undefined }, rows: number): FirstStep {
    const observations = this.observations(answer.observations, rows);
    const infos = this.infos(answer.infos, rows);
    return { observations, infos, actionMask: this.mask(answer.actionMask, rows) };
  }

  /** Masks as bytes, whatever their form in answers is. */
  private mask(mask: Tensor | undefined, rows: number): Uint8Array | undefined {
    const { config, actionSpec } = this.description;
    const numActions = (actionSpec?.high ?? -1) + 1;
    if (config?.actionMaskFormat !== ActionMaskFormat.BITS) {
      return config?.actionMaskFormat === ActionMaskFormat.BYTES ? column("action_mask", mask, [DataType.BOOL], [rows, numActions]) : undefined;
    }
    const rowBytes = Math.ceil(numActions / 8);
    const bits = column("action_mask", mask, [DataType.UINT8], [rows, rowBytes]);
    const bytes = new Uint8Array(rows * numActions);
    for (let row = 0, at = 0; row < rows; row++) {
      for (let action = 0; action < numActions; action++, at++) {
        bytes[at] = (bits[row * rowBytes + (action >> 3)]! >> (action & 7)) & 1;
      }
    }
    return bytes;
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

/** The link of a session, for its streams. */
export function linkOf(session: Session): Link {
  return session["link"];
}

/** Environments that a server keeps for a client. Calls run one after the other, in the order in which they were made. */
export class Session extends EnvCalls {
  /** `sessions/ID`. */
  readonly name: string;

  /** Use `createSession` or `getSession` of a client instead. */
  constructor(
    private readonly link: Link,
    description: SessionMessage,
  ) {
    super(description);
    this.name = description.name;
  }

  /** Number of the last call that changed the session. */
  get sequenceNumber(): bigint {
    return this.link.sequenceNumber;
  }

  protected async call<K extends Kind>(kind: K, request: RequestOf<K>, call: Call): Promise<AnswerOf<K>> {
    return await this.link.call(kind, request, call);
  }

  /** Draws the playfields as text. */
  async render(options: RenderOptions = {}): Promise<string[]> {
    const call = callOptions(options, ["envIds", "format", "palette"]);
    const { format = "ascii", palette = "usual", envIds } = options;
    const named = { format: "format", palette: "palette" };
    const request = { ...fieldsOf(RenderRequestSchema, { format, palette }, named), ...envIdsOf(envIds) };
    const { frames } = await this.link.call("render", request, call);
    agree("number of frames", frames.length, this.rowsOf(options));
    return frames;
  }

  /** Ends the session. A session that has already ended is no error, and neither is a server that does not answer. */
  async close(options?: CallOptions): Promise<void> {
    const { environments, name } = this.link;
    try {
      await environments.deleteSession({ name, allowMissing: true }, this.link.options(callOptions(options)));
    } catch (thrown) {
      if (!isLost(TetrionError.of(thrown))) {
        throw thrown;
      }
    }
  }

  /** Ends the session, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
