import { type Clock, type Timer, XdsError } from "@xdstp/core";

import { readEvent } from "./read-event.ts";
import { readEventStream, type StreamPart } from "./read-event-stream.ts";

/** Options of {@link listenToEvents}. */
export interface ListenOptions {
  readonly clock: Clock;
  /** Milliseconds without an event or a comment after which the stream counts as lost. */
  readonly silentMs: number;
  /** The maximum number of characters of an event. */
  readonly atMost: number;
  /** Called with each event of a known kind. */
  readonly onEvent: (event: ReadEvent) => void;
  /** Called with each comment. */
  readonly onComment: () => void;
  /** Called with the pause that the server asks for, in milliseconds. */
  readonly onRetry: (ms: number) => void;
  /**
   * Called once, when the stream is over. Nothing is called after it.
   * @param error - undefined: the server has ended the stream, after at least one part
   */
  readonly onEnd: (error: XdsError | undefined) => void;
}

/** An event that was read. */
export interface ReadEvent {
  /** Absent: no event had one. */
  readonly id: string | undefined;
  readonly read: NonNullable<ReturnType<typeof readEvent>>;
}

/** Reads an event stream until it ends, fails or is silent (B-HTTP-15). Returns a function that leaves it without a call. */
export function listenToEvents(
  url: string,
  body: ReadableStream<Uint8Array>,
  { clock, silentMs, atMost, onEvent, onComment, onRetry, onEnd }: ListenOptions,
): () => void {
  let isOver = false;
  let hasParts = false;
  const leave = (): void => {
    isOver = true;
    silence.cancel();
  };
  const end = (error: XdsError | undefined): void => {
    if (isOver) return;
    leave();
    onEnd(error);
  };
  const startSilence = (): Timer =>
    clock.after(silentMs, () => {
      end(new XdsError("UNAVAILABLE", `no event and no comment within ${silentMs} ms`));
    });
  let silence = startSilence();
  const take = (part: StreamPart): void => {
    if (isOver) return;
    silence.cancel();
    silence = startSilence();
    hasParts = true;
    if (part.kind === "comment") onComment();
    else if (part.kind === "retry") onRetry(part.ms);
    else takeEvent(part);
  };
  const takeEvent = (part: Extract<StreamPart, { readonly kind: "event" }>): void => {
    let read: ReturnType<typeof readEvent>;
    try {
      read = readEvent(url, part);
    } catch (error) {
      end(XdsError.from(error));
      return;
    }
    if (read !== undefined) onEvent({ id: part.id, read });
  };
  readEventStream(body, { atMost, onPart: take }).then(
    () => {
      end(hasParts ? undefined : new XdsError("UNAVAILABLE", "the event stream was empty"));
    },
    (error: unknown) => {
      end(XdsError.from(error));
    },
  );
  return leave;
}
