import type { DnsQueries } from "@xdstp/bootstrap";
import type { Clock } from "@xdstp/core";

/** An output for text. */
export interface TextOutput {
  /** Writes the text at once or queues it. An output that writes at once throws an error; one that queues passes the error to `done`. */
  write(text: string, done?: (error?: Error | null) => void): unknown;
  /** The number of queued bytes. Absent: the output does not queue. */
  readonly writableLength?: number;
  /** true: the output is closed for writing. Absent: it is never closed. */
  readonly destroyed?: boolean;
}

/** The environment of a command, replaceable so that tests need no process. */
export interface CliIo {
  /** The output of results and of the log. */
  readonly stdout: TextOutput;
  /** The output of errors. */
  readonly stderr: TextOutput;
  /** The environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory that relative paths start from. */
  readonly cwd: string;
  /** Returns the current size of the terminal of stdout, or `undefined` if stdout is not a terminal. */
  terminal():
    | {
        /** Characters in a line. */
        readonly columns: number;
        /** Lines. */
        readonly rows: number;
      }
    | undefined;
  /** Returns true if stderr is a terminal, so a person has started the command. A server that was started without a terminal goes on when the reader of its log ends. */
  readonly interactive: boolean;
  /** Calls the listener for each signal to stop: a signal of the system, or SIGPIPE if the reader of stdout has ended. Returns a function that removes the listener. */
  onSignal(listener: (signal: "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE") => void): () => void;
  /** The time for timers and for output. */
  readonly clock: Clock;
  /** The version of Node, like `process.versions.node`. */
  readonly nodeVersion: string;
  /** The DNS queries of `--dns`. Absent: the DNS servers of the machine are used. */
  readonly dns?: DnsQueries;
}

/** The size of a terminal, in characters. */
export type TerminalSize = NonNullable<ReturnType<CliIo["terminal"]>>;

/** The reason why a command stops. */
export type StopSignal = Parameters<Parameters<CliIo["onSignal"]>[0]>[0];
