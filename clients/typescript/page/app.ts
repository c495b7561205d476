// What all views share: the server, what it said of itself, and what a person has chosen for the whole page.

import { create, toBinary } from "@bufbuild/protobuf";

import type { Server, Session } from "../src/index.js";
import { TetrionError } from "../src/index.js";
import type { Choices } from "./address.js";
import { type Controller, DeleteSessionRequestSchema, EnvironmentService, type Expectation, type ExpectationTerms, type Feature, FeatureStage, type GetServerInfoResponse } from "../src/protocol.js";

/** A linear controller at some width: what it weighs, and how much. */
export interface Weighing {
  readonly name: string;
  readonly set: string;
  /** The features by name. */
  readonly columns: readonly string[];
  /** As published. */
  readonly original: readonly number[];
  /** As they are now; sliders change them. */
  readonly weights: number[];
  /** Which features are of the landing, and not of the playfield that it leaves. */
  readonly landing: readonly boolean[];
  /** Whether a placement that ends the game is avoided whatever its features say. */
  readonly avoids: boolean;
  /** How it weighs the pieces to come, if it does. */
  readonly expectation: Expecting | undefined;
  /** Who published it. */
  readonly source: string;
}

/** The message `Expectation`, with every field. */
export interface Expecting {
  readonly pieces: number;
  readonly placements: number;
  readonly lostPiece: number;
  readonly discount: number;
  readonly terms: ExpectationTerms;
  readonly caution: number;
}

/** A view of the page. */
export interface View {
  readonly root: HTMLElement;
  /** It is on the screen now. */
  enter(): void;
  /** It is not any more. */
  leave(): void;
  /** What is chosen in it, for the address. */
  choices?(): Choices;
  /** Another one takes its place: its sessions can end. */
  close?(): void;
}

/** Seconds that a session of the page lives without calls. Views keep what they need to go on in another one. */
const TTL = 60;

/** The page's knowledge of the server. */
export class App {
  private readonly infos = new Map<number, Promise<GetServerInfoResponse>>();
  /** The names of the sessions that this page has made and not ended. */
  readonly own = new Set<string>();
  /** Controllers with weights that a person has changed, by view and side; `evaluate` plays them too. */
  readonly edited = new Map<string, Weighing>();

  constructor(
    readonly server: Server,
    readonly info: GetServerInfoResponse,
    /** What a plain request must carry. */
    readonly credentials: Record<string, string>,
    private readonly say: (text: string | undefined) => void,
    /** To be called when something else is chosen in a view: the address follows. */
    readonly changed: () => void = () => undefined,
    /** Says what is wrong with the address, until something else is chosen. */
    readonly misread: (text: string) => void = () => undefined,
  ) {
    this.infos.set(10, Promise.resolve(info));
  }

  /** A session of this page. It ends with the page, or a minute after its last call. */
  async session(config: Parameters<Server["session"]>[0]): Promise<Session> {
    const session = await this.server.session(config, { ttl: TTL });
    this.own.add(session.name);
    return session;
  }

  /** Ends a session of this page; nobody waits for it, and one that is gone already is fine. */
  end(session: Session | undefined): void {
    if (session !== undefined) {
      this.own.delete(session.name);
      void session.delete().catch(() => undefined);
    }
  }

  /** The page is closed: its sessions end, so that nobody takes them for those of learners. */
  endAll(): void {
    for (const name of this.own) {
      // A message of gRPC-Web: a byte of flags, four of the length, and the request. `keepalive` has it outlive the page.
      const request = toBinary(DeleteSessionRequestSchema, create(DeleteSessionRequestSchema, { name, allowMissing: true }));
      const body = Uint8Array.of(0, 0, 0, request.length >> 8, request.length & 255, ...request);
      const headers = { ...this.credentials, "content-type": "application/grpc-web+proto", "x-grpc-web": "1" };
      void fetch(`/${EnvironmentService.typeName}/DeleteSession`, { method: "POST", keepalive: true, headers, body }).catch(() => undefined);
    }
    this.own.clear();
  }

  /** The names of the controllers that play at this width, with the preset they were made for. */
  controllers(width: number): Controller[] {
    return this.info.controllers.filter((controller) => controller.width === 0 || controller.width === width);
  }

  /** How a controller weighs the pieces to come, if it does. */
  expectation(name: string): Expecting | undefined {
    const { expectation } = this.info.controllers.find((controller) => controller.name === name) ?? {};
    return expectation && filled(expectation);
  }

  /** A controller with the names of its features at this width. */
  async weighing(name: string, width: number): Promise<Weighing> {
    let asked = this.infos.get(width);
    if (asked === undefined) {
      asked = this.server.info(width);
      this.infos.set(width, asked);
      asked.catch(() => this.infos.delete(width));
    }
    const info = await asked;
    const controller = info.controllers.find((controller) => controller.name === name);
    const set = info.featureSets.find((set) => set.name === controller?.featureSet);
    if (controller === undefined || set === undefined) {
      throw new TypeError(`the server has no controller ${name}`);
    }
    return {
      name,
      set: set.name,
      columns: set.columns,
      original: controller.weights,
      weights: [...controller.weights],
      landing: ofLanding(info.features, set.columns),
      avoids: controller.terminal !== 2,
      expectation: this.expectation(name),
      source: controller.source,
    };
  }

  /** Says what went wrong, or that nothing is wrong any more. */
  notice(problem: unknown): void {
    this.say(problem === undefined ? undefined : inWords(problem));
  }
}

/** Which columns are features of the landing; those of a family are named after it, `clears[4]`. */
export function ofLanding(features: readonly Feature[], columns: readonly string[]): boolean[] {
  const landings = new Set(features.filter(({ stage }) => stage === FeatureStage.LANDING).map(({ name }) => name));
  return columns.map((column) => landings.has(column.replace(/\[\d+\]$/, "")));
}

/** An expectation of the server's list, which has every field. */
function filled({ pieces = 1, placements = 8, lostPiece = -100, discount = 1, terms, caution = 0 }: Expectation): Expecting {
  return { pieces, placements, lostPiece, discount, terms, caution };
}

/** A failure in words. */
export function inWords(problem: unknown): string {
  if (problem instanceof TetrionError) {
    return problem.codeName === "UNAVAILABLE" || problem.reason === "" ? `The server does not answer: ${problem.rawMessage}` : `${problem.rawMessage} (${problem.reason})`;
  }
  return problem instanceof Error ? problem.message : String(problem);
}

/** Whether a session is gone: its lease has run out, or its server was restarted. */
export function isGone(problem: unknown): boolean {
  return problem instanceof TetrionError && (problem.reason === "SESSION_NOT_FOUND" || problem.reason === "SESSION_EXPIRED");
}

/** Whether trying again may help: no server has answered. */
export function isSilence(problem: unknown): boolean {
  return problem instanceof TetrionError && problem.reason === "" && problem.codeName !== "CANCELED";
}
