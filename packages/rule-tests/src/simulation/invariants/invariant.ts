import type { Connection } from "@xdstp/testing";

import type { RequestView, ResponseView } from "../wire-view.ts";

/** Looks on while a world runs. Each part is optional. */
export interface Invariant {
  /** A server has sent this. */
  onResponse?(connection: Connection, response: ResponseView): void;
  /** A server is about to read this. */
  onRequest?(connection: Connection, request: RequestView): void;
  /** Something of these types has been committed on a server. */
  onCommit?(server: string, typeUrls: ReadonlySet<string>): void;
  /** A step is over. */
  onStep?(): void;
  /** Between two steps; called now and then. */
  onLook?(): void;
  /** The faults have ended, and every client holds what its server has. */
  onRest?(): void;
}
