import type { XdsError } from "@xdstp/core";
import type { Validate } from "./decoder.ts";
import type { NameOptions } from "./name-options.ts";

/**
 * What is watched, as it changes: an async iterable of the newest state. What a slow reader has not taken when something newer comes, it never sees.
 * It is for one loop: two would share what comes, and the first to break ends both.
 */
export interface Watch<Update> extends AsyncIterable<Update, undefined>, AsyncDisposable {
  /** As it is requested: with the context parameters of the client. */
  readonly name: string;
  /** Ends it: a loop over it ends, nothing more is given or called, also if it had come before. The last watch of a name ends its subscription (C-SUB-10). */
  close(): void;
}

/** Options of a watch. */
export interface WatchOptions<T> extends NameOptions {
  /** In addition to what the descriptor demands. What it rejects is NACKed with its text, and the state before stays (C-ACK-5). What came before the watch began is checked too, and then only this watch is notified. It should not take long: it runs where responses are read. */
  readonly validate?: Validate<T>;
  /** Ends the watch: a loop over it throws the reason; calls just end. */
  readonly signal?: AbortSignal;
}

/** The two calls of gRPC (C-GRPC-8). The next one is made when the promise of the one before has settled; what a call throws ends the watch and surfaces as an unhandled rejection. */
export interface WatchCalls<T> {
  /** A value that is new; or, without a value, an error that says to stop using the one before. */
  onChanged?(snapshot: Snapshot<T>): void | Promise<void>;
  /** The cached resource stays valid, and may be out of date. undefined: it is not any more. */
  onAmbientError?(error: Snapshot<T>["error"]): void | Promise<void>;
}

/** The state of a name as the client knows it (C-GRPC-8). */
export interface Snapshot<T> {
  /** As it was requested. */
  readonly name: string;
  /** The resource. Absent: there is none, `error` says why; stop using what came before. */
  readonly value?: T;
  /** The version that the server gave, or a hash of the content where it gave none (S-VER-4). Empty where no resource exists. */
  readonly version: string;
  /** Next to a value: ambient, the value stays valid (the server is away, a newer state was rejected). Alone: why there is none. */
  readonly error?: XdsError;
}
