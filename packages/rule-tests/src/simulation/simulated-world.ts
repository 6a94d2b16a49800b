import type { FakeClock, Network } from "@xdstp/testing";

import type { Action } from "./action.ts";
import type { SimRelay } from "./relay/sim-relay.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimServer } from "./sim-server.ts";
import type { Violation } from "./violation.ts";
import type { WorldShape } from "./world-shape.ts";

/** Servers and clients in one network, and the invariants that are checked. The same seed and actions give the same world, whatever ran before in the process. */
export interface World {
  readonly clock: FakeClock;
  readonly network: Network;
  readonly shape: WorldShape;
  readonly servers: readonly SimServer[];
  /** The servers that are relays. The first relay is the second server. */
  readonly relays: readonly SimRelay[];
  /** The clients. undefined: the client has disconnected for good. */
  readonly clients: readonly (SimClient | undefined)[];
  /** Number of steps so far. */
  readonly steps: number;
  /** The invariant that was violated. The world does not run any further after it. */
  readonly violation: Violation | undefined;
  /** Runs the actions in order until an invariant is violated. */
  run(actions: readonly Action[]): Promise<void>;
  close(): void;
}
