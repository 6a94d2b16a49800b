import type { RejectedVersion, UpstreamStatus } from "@xdstp/relay";
import type { XdsServer } from "@xdstp/server";
import type { CliEvent, Served } from "./cli-event.ts";
import type { CliIo } from "./cli-io.ts";
import type { Endpoint, ServedTls } from "./endpoint.ts";

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
  readonly held: () => Held;
  readonly server: Pick<XdsServer, "status">;
  /** The servers upstream. Absent: the command has none. */
  readonly upstreams?: (() => readonly UpstreamStatus[]) | undefined;
  /** Absent: not counted. */
  readonly rejections?: (() => readonly RejectedVersion[]) | undefined;
  readonly json: boolean;
  /** Called for each number of lines of the log that cannot be written. */
  readonly onLinesLost?: (lines: number) => void;
  readonly io: CliIo;
}

/** How much of it there is. */
export interface Held {
  /** The first good state is loaded (S-STREAM-9). */
  readonly ready: boolean;
  readonly revision: number;
  readonly resources: number;
}

/** Tells whoever shows it of an event. */
export type Tell = (shown: CliEvent) => void;

/** Events before the first reporter are kept, and shown when there is one. */
export function createStage(): { readonly tell: Tell; enter(reporter: Reporter): void } {
  let show: Tell | undefined;
  const early: CliEvent[] = [];
  return {
    tell(shown) {
      if (show === undefined) early.push(shown);
      else show(shown);
    },
    enter(reporter) {
      show = (shown) => {
        reporter.event(shown);
      };
      for (const shown of early.splice(0)) show(shown);
    },
  };
}

/** How much an operator should mind. */
export type Level = "good" | "info" | "warning" | "error";

/** One line for people. `text` is escaped, and as long as it is. */
export interface ReportLine {
  readonly level: Level;
  /** What happened, in one word. */
  readonly label: string;
  readonly text: string;
}
