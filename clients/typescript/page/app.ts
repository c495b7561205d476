// State that all views share: the server, its description, and the controllers that the user has changed.

import { create, toBinary } from "@bufbuild/protobuf";

import type { Client, Policy, Session, SessionOptions } from "../src/index.js";
import { TetrionError, elementsOf } from "../src/index.js";
import type { Choices, Reader } from "./address.js";
import type { Field } from "./field.js";
import { type Chosen, namesSpots, presetOf } from "./rules.js";
import { type Weighing, wayOf, weightsOf } from "./weighing.js";
import { DataType, DeleteSessionRequestSchema, EnvironmentService, type Expectation, type GetCatalogResponse, type GetPolicyResponse, type GetServerInfoResponse, type PolicyInfo } from "../src/protocol.js";

/** A view of the page. */
export interface View {
  readonly root: HTMLElement;
  /** Called when the view appears. */
  enter(): void;
  /** Called when the view disappears. */
  leave(): void;
  /** Choices of the view, for the address. */
  choices?(): Choices;
  /** Called when a new view replaces this one: ends its sessions. */
  close?(): void;
}

/** Lifetime of a session of the page without calls, in seconds. Views keep snapshots to continue in another session. */
const TTL = 60;

/** The server and the state that all views share. */
export class App {
  private readonly catalogs = new Map<number, Promise<GetCatalogResponse>>();
  private readonly policies = new Map<string, Promise<GetPolicyResponse>>();
  /** Names of the page's open sessions. */
  readonly own = new Set<string>();
  /** Controllers with changed weights, by side of the race. The view `evaluate` offers them too. */
  readonly edited = new Map<string, Weighing>();
  /** A position for the next game of the view `play`: a snapshot and a playfield in colours per side. */
  given: readonly { readonly state: Uint8Array; readonly field: Field }[] | undefined;

  constructor(
    readonly client: Client,
    readonly info: GetServerInfoResponse,
    readonly catalog: GetCatalogResponse,
    /** Headers for requests without the client, such as `authorization`. */
    readonly credentials: Record<string, string>,
    private readonly say: (text: string | undefined) => void,
    /** Updates the address. Views call it when a choice changes. */
    readonly changed: () => void = () => undefined,
    /** Shows a problem of the address until a choice changes. */
    readonly misread: (text: string) => void = () => undefined,
  ) {
    this.catalogs.set(10, Promise.resolve(catalog));
  }

  /** Creates a session of this page for a game with this name. It ends with the page, or a minute after its last call. */
  async session(label: string, options: SessionOptions): Promise<Session> {
    const session = await this.client.createSession({ ...options, label, interactive: true, ttl: TTL });
    this.own.add(session.name);
    return session;
  }

  /** Ends a session of this page in the background. A session that has already ended is no error. */
  end(session: Session | undefined): void {
    if (session !== undefined) {
      this.own.delete(session.name);
      void session.close().catch(() => undefined);
    }
  }

  /** Ends all sessions of the page when it is closed, so that they are not listed as sessions of learners. */
  endAll(): void {
    for (const name of this.own) {
      // A gRPC-Web message: one byte of flags, four bytes of length, and the request. With `keepalive` it is sent even if the page is gone.
      const request = toBinary(DeleteSessionRequestSchema, create(DeleteSessionRequestSchema, { name, allowMissing: true }));
      const body = Uint8Array.of(0, 0, 0, request.length >> 8, request.length & 255, ...request);
      const headers = { ...this.credentials, "content-type": "application/grpc-web+proto", "x-grpc-web": "1" };
      void fetch(`/${EnvironmentService.typeName}/DeleteSession`, { method: "POST", keepalive: true, headers, body }).catch(() => undefined);
    }
    this.own.clear();
  }

  /** Controllers that can play at this width. */
  controllers(width: number): PolicyInfo[] {
    return controllersOf(this.catalog).filter((controller) => controller.width === 0 || controller.width === width);
  }

  /** How a controller weighs the pieces to come; undefined if it is greedy. */
  expectation(name: string): Expectation | undefined {
    const method = this.catalog.policies.find((policy) => policy.name === name)?.search?.method;
    return method?.case === "expectation" ? method.value : undefined;
  }

  /** The policy of a controller. With a preview that is too short for its search it is greedy. */
  policy(name: string, preview: number): Policy {
    return this.lacksPreview(name, preview) ? { name, search: { greedy: {} } } : { name };
  }

  /** Whether a controller is greedy because the preview is too short for its search. */
  lacksPreview(name: string, preview: number): boolean {
    const expectation = this.expectation(name);
    return expectation !== undefined && !wayOf(expectation, preview).weighs;
  }

  /**
   * The controller that looks furthest with this preview, among those made for the preset's kind of moves: under every preset it
   * plays best. Undefined if all are greedy.
   */
  strongest({ preset, width, preview }: Pick<Chosen, "preset" | "width" | "preview">): string | undefined {
    const isModern = (name: string) => {
      const rules = presetOf(this, name);
      return rules !== undefined && namesSpots(rules);
    };
    const depth = ({ name }: PolicyInfo) => (this.lacksPreview(name, preview) ? 0 : this.expectation(name)?.pieces ?? 0);
    const known = this.controllers(width).filter(({ rulesPreset }) => isModern(rulesPreset) === isModern(preset));
    const furthest = known.reduce<PolicyInfo | undefined>((best, other) => (best !== undefined && depth(best) >= depth(other) ? best : other), undefined);
    return furthest === undefined || depth(furthest) === 0 ? undefined : furthest.name;
  }

  /** A controller with its features at this width. */
  async weighing(name: string, width: number): Promise<Weighing> {
    const { featureSets } = await once(this.catalogs, width, () => this.client.catalog({ width }));
    const { info: controller, policy } = await once(this.policies, name, () => this.client.getPolicy(name));
    const set = featureSets.find((set) => set.name === controller?.featureSet);
    if (controller === undefined || set === undefined || policy?.kind.case !== "weights") {
      throw new TypeError(`the server has no controller ${name}`);
    }
    const original = [...elementsOf(policy.kind.value.weights, DataType.FLOAT64)];
    return {
      name,
      set: set.name,
      columns: set.columns,
      original,
      weights: [...original],
      avoids: controller.terminalValue !== 2,
      expectation: this.expectation(name),
      source: controller.source,
    };
  }

  /** Weights of a controller in an address; undefined if absent or refused. */
  weightsIn(address: Reader, choice: string, name: string): number[] | undefined {
    const { featureSet } = this.catalog.policies.find((policy) => policy.name === name)!;
    // Sets whose number of features depends on the width have no controllers of other widths than 10.
    const { columns } = this.catalog.featureSets.find((set) => set.name === featureSet)!;
    return address.parsed(choice, (text) => weightsOf(text, columns.length, this.info.limits!.models!.maxWeight));
  }

  /** Shows a failure at the top of the page, or hides it if there is no problem. */
  notice(problem: unknown): void {
    this.say(problem === undefined ? undefined : inWords(problem));
  }
}

/** The answer to a question that is asked only once, unless it fails. */
function once<Key, Answer>(answers: Map<Key, Promise<Answer>>, key: Key, ask: () => Promise<Answer>): Promise<Answer> {
  let answer = answers.get(key);
  if (answer === undefined) {
    answer = ask();
    answers.set(key, answer);
    answer.catch(() => answers.delete(key));
  }
  return answer;
}

/** The policies of a server that score placements. */
export function controllersOf(catalog: GetCatalogResponse): PolicyInfo[] {
  return catalog.policies.filter(({ search }) => search !== undefined);
}

/** A failure in words. */
export function inWords(problem: unknown): string {
  if (problem instanceof TetrionError) {
    return problem.codeName === "UNAVAILABLE" || problem.reason === "" ? `The server does not answer: ${problem.rawMessage}` : `${problem.rawMessage} (${problem.reason})`;
  }
  return problem instanceof Error ? problem.message : String(problem);
}

/** Whether a call failed because the session has expired or its server was restarted. */
export function isGone(problem: unknown): boolean {
  return problem instanceof TetrionError && (problem.reason === "SESSION_NOT_FOUND" || problem.reason === "SESSION_EXPIRED");
}

/** Whether a call failed because no server answered, so that trying again may help. */
export function isSilence(problem: unknown): boolean {
  return problem instanceof TetrionError && problem.reason === "" && problem.codeName !== "CANCELED";
}
