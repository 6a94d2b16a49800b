import type { DnsQueries } from "@xdstp/bootstrap";
import type { Clock } from "@xdstp/core";

/** Where text goes. */
export interface TextOutput {
  /** Writes at once, or queues. Throws where an output that writes at once cannot; one that queues calls `done` with the error. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** Bytes that are queued. Absent: none ever are. */
  readonly writableLength?: number;
  /** Nothing can be written any more. Absent: it always can. */
  readonly destroyed?: boolean;
}

/** Everything the command has of the world around it, so that tests need no process. */
export interface CliIo {
  /** Where results and the log go. */
  readonly stdout: TextOutput;
  /** Where errors go. */
  readonly stderr: TextOutput;
  /** The variables of the environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Paths count from here. */
  readonly cwd: string;
  /** The size of the terminal behind stdout, asked again for each picture; undefined where there is none. */
  terminal():
    | {
        /** Characters in a line. */
        readonly columns: number;
        /** Lines. */
        readonly rows: number;
      }
    | undefined;
  /** Whether a person at a terminal has started the command: stderr is a terminal. A server without a terminal outlives the reader of its log. */
  readonly interactive: boolean;
  /** Calls the listener for each request to stop: a signal, or stdout without a reader (SIGPIPE). Returns a function that removes the listener. */
  onSignal(listener: (signal: "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE") => void): () => void;
  /** Time for timers and for what is shown. */
  readonly clock: Clock;
  /** As in `process.versions.node`. */
  readonly nodeVersion: string;
  /** Who is asked where `--dns` says so. Absent: the DNS servers of the machine. */
  readonly dns?: DnsQueries;
}

/** How much fits on a terminal, in characters. */
export type TerminalSize = NonNullable<ReturnType<CliIo["terminal"]>>;

/** Why a command stops. */
export type StopSignal = Parameters<Parameters<CliIo["onSignal"]>[0]>[0];
