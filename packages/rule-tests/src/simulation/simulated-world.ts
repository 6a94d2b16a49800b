import type { FakeClock, Network } from "@xdstp/testing";

import type { Action } from "./action.ts";
import type { SimRelay } from "./relay/sim-relay.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimServer } from "./sim-server.ts";
import type { Violation } from "./violation.ts";
import type { WorldShape } from "./world-shape.ts";

/** Servers and clients in one network, and what has to hold of them. The same seed and deeds give the same world, whatever ran before in the process. */
export interface World {
  readonly clock: FakeClock;
  readonly network: Network;
  readonly shape: WorldShape;
  readonly servers: readonly SimServer[];
  /** Those that are relays: the first one of them is the second server. */
  readonly relays: readonly SimRelay[];
  /** undefined: it has left. */
  readonly clients: readonly (SimClient | undefined)[];
  /** Made so far. */
  readonly steps: number;
  /** What has not held; the world runs no further. */
  readonly violation: Violation | undefined;
  /** Does these one after the other, until an invariant does not hold. */
  run(actions: readonly Action[]): Promise<void>;
  close(): void;
}
