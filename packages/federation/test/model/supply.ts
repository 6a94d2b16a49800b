import type { Clock } from "@xdstp/core";
import type { SeededRandom } from "@xdstp/testing";

import type { FederationServer } from "../../src/index.ts";
import type { Change } from "./deeds.ts";
import type { Content } from "./names.ts";

/** A server with a store, and what may befall it. */
export interface Supply extends FederationServer {
  /** What it has, by `type name`. */
  readonly store: ReadonlyMap<string, Stored>;
  /** What is wanted of it, as `type name`. */
  readonly wanted: readonly string[];
  /** A client end is there. */
  readonly isOpen: boolean;
  /** It cannot say of a name that it does not exist but by silence: then an alternative may be in use. */
  readonly isSilentOfMissing: boolean;
  put(changes: readonly Change[]): void;
  turn(state: "up" | "down" | "silent"): void;
  /** Its stream ends, and the next one begins. */
  cut(): void;
  /** Nothing of it goes on. */
  end(): void;
}

/** One name of a store. */
export interface Stored {
  readonly typeUrl: string;
  readonly name: string;
  readonly content: Content;
  /** Counts up with each change of the name, at this server. */
  readonly version: string;
}

/** What a supply is made of. */
export interface SupplyHost {
  readonly clock: Clock;
  readonly random: SeededRandom;
  /** Called before the client hears of it. undefined: nothing is there. */
  readonly onTold: (typeUrl: string, name: string, content: Content | undefined) => void;
}

/** Makes the servers of a world. */
export type CreateSupply = (index: number, host: SupplyHost) => Supply;
