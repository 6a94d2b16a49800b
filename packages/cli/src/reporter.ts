import type { RejectedVersion, UpstreamStatus } from "@xdstp/relay";
import type { XdsServer } from "@xdstp/server";
import type { CliEvent, Served } from "./cli-event.ts";
import type { CliIo } from "./cli-io.ts";
import type { Endpoint, ServedTls } from "./endpoint.ts";

/** Shows events to people or programs. */
export interface Reporter {
  /** Shows one event. Must not throw. */
  event(shown: CliEvent): void;
  /** Writes pending lines and restores the terminal. No event may follow. */
  close(): void;
}

/** The state that a reporter reads. */
export interface ReporterOptions {
  /** The name of the command. */
  readonly from: "serve" | "relay";
  readonly what: Served;
  readonly address: Endpoint;
  readonly tls?: ServedTls | undefined;
  readonly held: () => Held;
  readonly server: Pick<XdsServer, "status">;
  /** Returns the state of the servers upstream. Absent: the command has none. */
  readonly upstreams?: (() => readonly UpstreamStatus[]) | undefined;
  /** Returns the versions that clients have rejected. Absent: rejections are not counted. */
  readonly rejections?: (() => readonly RejectedVersion[]) | undefined;
  readonly json: boolean;
  /** Called with the number of lines of the log that could not be written. */
  readonly onLinesLost?: (lines: number) => void;
  readonly io: CliIo;
}

/** The size of the served content. */
export interface Held {
  /** true: the first good state is loaded (S-STREAM-9). */
  readonly ready: boolean;
  readonly revision: number;
  readonly resources: number;
}

/** Reports an event to the reporter. */
export type Tell = (shown: CliEvent) => void;

/** Creates a buffer for events that happen before there is a reporter. They are passed to the first reporter that enters. */
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

/** The importance of a line for an operator. */
export type Level = "good" | "info" | "warning" | "error";

/** One line for people. `text` is escaped and not cut. */
export interface ReportLine {
  readonly level: Level;
  /** One word that says what happened. */
  readonly label: string;
  readonly text: string;
}
