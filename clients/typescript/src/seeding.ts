// Where pieces come from: seeds or explicit pieces, from options to the message `Seeding`.

import type { MessageInitShape } from "@bufbuild/protobuf";

import { invalid } from "./errors.js";
import { DrawnSeedsSchema, PieceSequencesSchema, SeedingSchema, SeedsSchema } from "./protocol.js";
import { checkArguments, checkMessage, fieldsOf } from "./requests.js";

/** Seeds drawn from one number: for each j below `count` the j-th one. They are not the numbers from `seed` on. */
export interface DrawnSeeds {
  /** Any number of 64 bits. */
  readonly seed: bigint;
  /** Number of seeds: in a session, the number of environments. */
  readonly count: number;
}

/** The message, of which at most one option says something. */
export type Seeding = MessageInitShape<typeof SeedingSchema>;

/** The kind of a seeding. */
type Kind = NonNullable<Seeding["kind"]>;

/** Options that say where pieces come from. */
interface SeedingOptions {
  readonly seed?: unknown;
  readonly seeds?: unknown;
  readonly envSeeds?: unknown;
  /** Whether `seeds` has a row per policy. */
  readonly perPolicy?: boolean;
  readonly pieceSequences?: unknown;
  readonly holeColumns?: unknown;
}

/** The field `seeding` of a request from its options, of which `name` has the seeds; none if no option says where pieces come from. */
export function seedingOf(options: SeedingOptions, name: "seeds" | "envSeeds"): { seeding?: Seeding } {
  const [first, second] = (["seed", name, "pieceSequences"] as const).filter((option) => options[option] !== undefined);
  if (second !== undefined) {
    throw invalid(second, `is given with ${first}, expected one of the two`);
  }
  if (options.holeColumns !== undefined && options.pieceSequences === undefined) {
    throw invalid("holeColumns", "is given without pieceSequences, expected both");
  }
  const seeds = options[name];
  switch (first) {
    case undefined:
      return {};
    case "seed":
      return { seeding: { kind: { case: "seed", value: fieldsOf(SeedingSchema, options, { seed: "seed" })["seed"] as bigint } } };
    case "pieceSequences": {
      const { holeColumns } = options;
      const holes = Array.isArray(holeColumns) ? holeColumns.map((columns: unknown) => ({ columns })) : holeColumns;
      const fields = { pieceSequences: "sequences", holeColumns: "holeColumns" };
      return { seeding: { kind: { case: "pieceSequences", value: fieldsOf(PieceSequencesSchema, { ...options, holeColumns: holes }, fields) } } };
    }
    default:
      return { seeding: { kind: Array.isArray(seeds) ? { case: "seeds", value: fieldsOf(SeedsSchema, options, { [name]: "seeds", perPolicy: "perPolicy" }) } : drawnOf(seeds, name) } };
  }
}

/** Drawn seeds, checked. */
function drawnOf(seeds: unknown, path: string): Kind {
  checkMessage(DrawnSeedsSchema, seeds, path);
  const { seed, count } = seeds as DrawnSeeds;
  checkArguments(DrawnSeedsSchema, { seed, count }, path);
  return { case: "drawn", value: { seed, count } };
}
