import type { Connection } from "@xdstp/testing";

import type { Value } from "../sim-server.ts";
import type { Fault } from "./standing.ts";
import type { RequestView, ResponseView } from "../wire-view.ts";

/** Looks on while a world runs. Each part is optional. */
export interface Invariant {
  /** A server has sent this. */
  onResponse?(connection: Connection, response: ResponseView): void;
  /** A server is about to read this. */
  onRequest?(connection: Connection, request: RequestView): void;
  /** A server has something else of these names. */
  onCommit?(server: string, values: readonly Value[]): void;
  /** A call has reached its server. */
  onOpen?(connection: Connection): void;
  /** Something befalls a connection, or ends that has befallen it. */
  onFault?(connection: Connection, fault: Fault): void;
  /** A step is over. */
  onStep?(): void;
  /** Between two steps; called every some seconds. */
  onLook?(): void;
  /** The faults have ended, and every client holds what its server has. */
  onRest?(): void;
}
