import type { RejectedVersion, RelayStatus } from "@xdstp/relay";
import type { XdsServer } from "@xdstp/server";
import type { Served } from "./cli-event.ts";
import { createCalmReporter } from "./calm-reporter.ts";
import type { CliIo } from "./cli-io.ts";
import type { Held } from "./host-server.ts";
import { isShown } from "./is-shown.ts";
import { createLineReporter } from "./line-reporter.ts";
import type { ServedTls } from "./connect-commands.ts";
import type { Endpoint } from "./parse-endpoint.ts";
import type { Reporter } from "./reporter.ts";
import { createTableReporter } from "./table-reporter.ts";

/** What a reporter may look at. */
export interface ReporterOptions {
  /** The command. */
  readonly from: "serve" | "relay";
  readonly what: Served;
  readonly address: Endpoint;
  readonly tls?: ServedTls | undefined;
  readonly cache: Held;
  readonly server: Pick<XdsServer, "status">;
  /** Absent: nothing is had from other servers. */
  readonly upstreams?: (() => RelayStatus["upstreams"]) | undefined;
  /** Absent: not counted. */
  readonly rejections?: (() => readonly RejectedVersion[]) | undefined;
  readonly json: boolean;
  /** Called for each number of lines of the log that cannot be written. */
  readonly onLinesLost?: (lines: number) => void;
  readonly io: CliIo;
}

/** A live table on a terminal; lines elsewhere, and with JSON. */
export function createReporter(options: ReporterOptions): Reporter {
  const {
    io,
    io: { stdout, clock },
    json,
    onLinesLost,
  } = options;
  const reporter = createCalmReporter(
    json || io.terminal() === undefined
      ? createLineReporter({ output: stdout, clock, json, onLinesLost })
      : createTableReporter(options),
    clock,
  );
  return {
    event: (shown) => {
      if (isShown(shown, json)) reporter.event(shown);
    },
    close: () => {
      reporter.close();
    },
  };
}
