import type { Clock, Status } from "@xdstp/core";
import type { HeldDifference } from "./held-state.ts";
import type { OpenStream } from "./observe-stream.ts";
import type { Recording } from "./recording.ts";

/** Events while the client's side of a recording is played. `stream` is that of the recording. */
export type ReplayClientEvent = { readonly stream: number } & (
  | { readonly kind: "request" | "response"; readonly type: string; readonly text: string }
  /** The server holds something else than it did. Told once for each name and state. */
  | { readonly kind: "difference"; readonly type: string; readonly difference: HeldDifference }
  /** The stream ended otherwise; undefined: it did not end. */
  | {
      readonly kind: "ended";
      readonly recorded: Status | undefined;
      readonly now: Status | undefined;
    }
);

/** What {@link replayClient} needs. */
export interface ReplayClientOptions {
  /** The recording whose client side is sent. */
  readonly recording: Recording;
  /** Opens a stream to the server of now, with the method of the recording. */
  readonly open: OpenStream;
  /** Milliseconds that the server gets for what the recording says it answered. Default: 5,000. */
  readonly answerMs?: number;
  /** Whether a SotW response of a type is all there is. Default: of none. */
  readonly isFullState?: (typeUrl: string) => boolean;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Ends it. */
  readonly signal?: AbortSignal;
  /** Told what happens. */
  readonly onEvent?: (event: ReplayClientEvent) => void;
}
