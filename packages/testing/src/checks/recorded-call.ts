import type { ByteStream, ByteStreamHandler, Message, Status } from "@xdstp/core";

/** One side of a call, as a case sees it. */
export interface RecordedCall {
  /** The handler that the wire calls. */
  readonly handler: ByteStreamHandler;
  /** Begins recording; until then the wire must not call the handler. */
  begin(stream: ByteStream): void;
  /** The stream of this side. */
  readonly stream: ByteStream;
  /** Copies of the messages that arrived. */
  readonly messages: readonly Uint8Array[];
  /** The number of calls of `onDrained`, `onOpened` and `onEnd`. */
  readonly drained: number;
  readonly opened: number;
  readonly ended: number;
  /** The status with which the call ended. `undefined` while it is open. */
  readonly closed: Status | undefined;
  /** The breaches of the contract by the wire, as texts. */
  readonly violations: readonly string[];
  pause(): void;
  resume(): void;
}

/** The reactions of a case to the events of a call. */
export interface CallEvents {
  onMessage?(call: RecordedCall, message: Uint8Array): void;
  onDrained?(call: RecordedCall): void;
}

/**
 * Creates one side of a call. It records what the wire does, and each breach of the contract of
 * handlers: calls before the stream exists, after the end, or while reading is paused.
 */
export function recordCall(onEvent: () => void, events: CallEvents = {}): RecordedCall {
  const messages: Uint8Array[] = [];
  const violations: string[] = [];
  const seen = { drained: 0, opened: 0, ended: 0, paused: false };
  let stream: ByteStream | undefined;
  let closed: Status | undefined;
  const note = (what: string): void => {
    if (stream === undefined) violations.push(`${what} was called before the stream was returned`);
    if (closed !== undefined) violations.push(`${what} was called after onClosed`);
  };
  const call: RecordedCall = {
    handler: {
      onMessage: (bytes) => {
        note("onMessage");
        if (seen.ended > 0) violations.push("onMessage was called after onEnd");
        if (seen.paused) violations.push("onMessage was called between pause and resume");
        const copy = Uint8Array.from(bytes);
        messages.push(copy);
        events.onMessage?.(call, copy);
        onEvent();
      },
      onOpened: () => {
        note("onOpened");
        seen.opened++;
        if (messages.length > 0) violations.push("onOpened was called after a message");
        onEvent();
      },
      onDrained: () => {
        note("onDrained");
        seen.drained++;
        events.onDrained?.(call);
        onEvent();
      },
      onEnd: () => {
        note("onEnd");
        seen.ended++;
        if (seen.ended > 1) violations.push("onEnd was called twice");
        // A server answers the end of the client; for the client the call is over then.
        stream?.close({ code: 0, message: "" });
        onEvent();
      },
      onClosed: (status) => {
        note("onClosed");
        closed ??= status;
        onEvent();
      },
    },
    begin: (given) => {
      stream = given;
    },
    get stream() {
      if (stream === undefined) throw new Error("the call has no stream yet");
      return stream;
    },
    messages,
    get drained() {
      return seen.drained;
    },
    get opened() {
      return seen.opened;
    },
    get ended() {
      return seen.ended;
    },
    get closed() {
      return closed;
    },
    violations,
    pause: () => {
      seen.paused = true;
      call.stream.pause?.();
    },
    resume: () => {
      seen.paused = false;
      call.stream.resume?.();
    },
  };
  return call;
}

/** Creates message number `index` of a case, with the envelope of gRPC. */
export function numberedMessage(index: number, length: number): Message {
  const enveloped = new Uint8Array(5 + length);
  new DataView(enveloped.buffer).setUint32(1, length);
  const bytes = enveloped.subarray(5);
  for (let at = 0; at < length; at++) bytes[at] = (index + at) & 0xff;
  return { bytes, enveloped };
}

/** Returns what is wrong with received messages, compared with those that were sent. */
export function difference(
  received: readonly Uint8Array[],
  sent: readonly Message[],
): string | undefined {
  for (const [index, { bytes }] of sent.entries()) {
    const found = received[index];
    if (found === undefined)
      return `${String(received.length)} of ${String(sent.length)} messages arrived`;
    if (found.length !== bytes.length || found.some((byte, at) => byte !== bytes[at]))
      return `message ${String(index)} of ${String(bytes.length)} bytes arrived as other ${String(found.length)} bytes`;
  }
  return received.length > sent.length
    ? `${String(received.length)} messages arrived, ${String(sent.length)} were sent`
    : undefined;
}
