import type { RejectedVersion, RelayStatus } from "@xdstp/relay";
import type { XdsServer } from "@xdstp/server";
import type { CliEvent, Served } from "./cli-event.ts";
import type { CliIo } from "./cli-io.ts";
import type { ServedTls } from "./connect-commands.ts";
import type { Held } from "./held.ts";
import type { Endpoint } from "./parse-endpoint.ts";

/** Shows people or programs what happens. */
export interface Reporter {
  /** Shows one event. Must not throw. */
  event(shown: CliEvent): void;
  /** Nothing more will come: pending lines are written, and the terminal is restored. */
  close(): void;
}

/** The state that a reporter reads. */
export interface ReporterOptions {
  /** The command. */
  readonly from: "serve" | "relay";
  readonly what: Served;
  readonly address: Endpoint;
  readonly tls?: ServedTls | undefined;
  readonly cache: Held;
  readonly server: Pick<XdsServer, "status">;
  /** The servers upstream. Absent: the command has none. */
  readonly upstreams?: (() => RelayStatus["upstreams"]) | undefined;
  /** Absent: not counted. */
  readonly rejections?: (() => readonly RejectedVersion[]) | undefined;
  readonly json: boolean;
  /** Called for each number of lines of the log that cannot be written. */
  readonly onLinesLost?: (lines: number) => void;
  readonly io: CliIo;
}
