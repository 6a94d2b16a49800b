import type { Clock } from "@xdstp/core";
import type { SeededRandom } from "@xdstp/testing";

import type { FederationServer } from "../../src/index.ts";
import type { Change } from "./deeds.ts";
import type { Content } from "./names.ts";

/** A server with a store, and the faults that may happen to it. */
export interface Supply extends FederationServer {
  /** Its resources, by `type name`. */
  readonly store: ReadonlyMap<string, Stored>;
  /** The subscriptions, as `type name`. */
  readonly wanted: readonly string[];
  /** True while a client is connected. */
  readonly isOpen: boolean;
  /**
   * True if the server can report a missing name only by not sending it: then an alternative may be
   * in use.
   */
  readonly isSilentOfMissing: boolean;
  put(changes: readonly Change[]): void;
  turn(state: "up" | "down" | "silent"): void;
  /** Ends the stream and begins the next one. */
  cut(): void;
  /** Stops the server. */
  end(): void;
}

/** One name of a store. */
export interface Stored {
  readonly typeUrl: string;
  readonly name: string;
  readonly content: Content;
  /** Increases with each change of the name at this server. */
  readonly version: string;
}

/** The parameters of a supply. */
export interface SupplyHost {
  readonly clock: Clock;
  readonly random: SeededRandom;
  /** Called before the client is notified. `undefined`: the name has no content. */
  readonly onTold: (typeUrl: string, name: string, content: Content | undefined) => void;
}

/** Creates the servers of a world. */
export type CreateSupply = (index: number, host: SupplyHost) => Supply;
