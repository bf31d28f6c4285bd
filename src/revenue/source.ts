/** Where an RPC's figures come from. */
import type { Read } from "../database/read.ts";
import type { NoteLag } from "./rollup-lag.ts";
import type { RollupMemory } from "./rollup-memory.ts";

export interface Source<Part> {
  /** The database. */
  readonly read: Read;
  /** What was read of the rollups. */
  readonly memory: RollupMemory<Part>;
  /** Is told which rollup each answer saw. */
  readonly noteLag: NoteLag;
}
