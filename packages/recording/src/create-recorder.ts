import { systemClock, type Clock } from "@xdstp/core";

import { describeRequest, describeResponse } from "./describe-message.ts";
import type { StreamObserver } from "./observe-stream.ts";
import type { RecordedEvent, Variant } from "./recording.ts";
import { redactResponse, type HidePayload } from "./redact-response.ts";

/** Writes down what passes on streams. */
export interface Recorder {
  /** An observer for one more stream, for `observeStream`. `server`: whom it asks. */
  observe(server: string): StreamObserver;
}

/** A recorder of the streams of one client. Times count from here. */
export function createRecorder({
  variant,
  write,
  hide,
  clock = systemClock,
}: {
  /** The variant of the streams. */
  readonly variant: Variant;
  /** Told each event as it happens; see `formatEvent` for a line of it. The bytes are a copy. */
  readonly write: (event: RecordedEvent) => void;
  /** Returns the part of a payload that may be recorded, such as `withoutSecrets` of `@xdstp/protos/envoy`. Default: all of it. */
  readonly hide?: HidePayload;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
}): Recorder {
  const start = clock.now();
  let streams = 0;
  return {
    observe(server) {
      const stream = ++streams;
      const at = (): { readonly at: number; readonly stream: number } => ({
        at: clock.now() - start,
        stream,
      });
      write({ ...at(), kind: "open", server });
      return {
        sent: (message) => {
          write({
            ...at(),
            kind: "request",
            ...describeRequest(variant, message),
            bytes: Uint8Array.from(message),
          });
        },
        received(message) {
          const bytes = hide === undefined ? message : redactResponse(variant, message, hide);
          write({
            ...at(),
            kind: "response",
            ...describeResponse(variant, bytes),
            bytes: Uint8Array.from(bytes),
          });
        },
        closed: (status, own) => {
          write({ ...at(), kind: "end", by: own ? "client" : "server", status });
        },
      };
    },
  };
}
