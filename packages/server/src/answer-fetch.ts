import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type Clock,
  forwardSource,
  type ResourceSource,
  type Status,
  StatusCode,
  type Topic,
  type Watcher,
} from "@xdstp/core";
import { createScheduler, type ServerContext, type StreamEvent } from "@xdstp/protocol/server";
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";
import { createSotwServer } from "@xdstp/transport-sotw/server";

import type { AnswerLine } from "./answer-line.ts";

/** One Fetch. */
interface FetchCall {
  /** The type of the service. */
  readonly typeUrl: string;
  readonly request: DiscoveryRequest;
  /** Aborts when the client has disconnected, or the server is closing. */
  readonly signal: AbortSignal;
  /**
   * The queue in which the call waits until its response may be created, and the principal of the
   * call.
   */
  readonly line: AnswerLine;
  readonly who: string;
}

const notKnown: Status = {
  code: StatusCode.UNAVAILABLE,
  message: "not every requested resource is known yet",
};
const done: Status = { code: StatusCode.OK, message: "" };

/**
 * The version of a state without resources, as SotW streams write it: a sum over nothing (S-VER-7).
 */
const EMPTY_VERSION = "0";

/**
 * Answers one Fetch with the first response that a SotW stream of a client without resources would
 * get, once all of it is settled (S-REST-9).
 *
 * It waits for at most `limits.settleMs`, then sends the settled part, if there is one. But a
 * client that sends a version of a full-state type would delete the other resources, so it gets
 * UNAVAILABLE (S-STREAM-9).
 * @returns `undefined` if the signal has aborted
 */
export async function answerFetch(
  context: ServerContext,
  { typeUrl, request, signal, line, who }: FetchCall,
): Promise<DiscoveryResponse | Status | undefined> {
  const stream = openOnce(context, typeUrl);
  try {
    stream.ask(request);
    const settled = await whenSettled(stream.topics, {
      clock: context.clock,
      atMostMs: context.limits.settleMs,
      signal,
    });
    if (settled === "aborted") return undefined;
    const full = context.source.descriptor(typeUrl)?.fullStateInSotw === true;
    if (settled === "late" && full && request.versionInfo !== "") return notKnown;
    const answer = await line.run(who, signal, async () => {
      const response = responseOf(stream, settled, typeUrl, context);
      if (stream.sentBytes() >= BYTES_PER_TURN) await nextLoopTurn();
      return response;
    });
    return signal.aborted ? undefined : answer;
  } finally {
    stream.end();
  }
}

/** A SotW stream in memory, which sends only on request. */
interface OneAnswer {
  /** The requested topics. */
  readonly topics: readonly Topic[];
  ask(request: DiscoveryRequest): void;
  /** Returns the status with which the state machine ended the stream, if it did. */
  closed(): Status | undefined;
  /** Returns the messages that are sent now. */
  answer(): readonly Uint8Array[];
  /** Returns true if one resource, or the whole state, is too large for one message. */
  tooLarge(): boolean;
  /** Returns the number of bytes that were sent. */
  sentBytes(): number;
  end(): void;
}

function openOnce(context: ServerContext, typeUrl: string): OneAnswer {
  const topics: Topic[] = [];
  const sent: Uint8Array[] = [];
  let closed: Status | undefined;
  let unsent = 0;
  let turn: (() => void) | undefined;
  const emit = (event: StreamEvent): void => {
    if (event.kind !== "not-sent") return;
    unsent += event.resources.length;
    context.emit?.(event);
  };
  const own: ServerContext = {
    ...context,
    source: recordingSource(context.source, (topic) => {
      topics.push(topic);
    }),
    scheduler: createScheduler({
      later: (callback) => {
        turn = callback;
      },
    }),
    limits: { ...context.limits, responseBytes: context.limits.fullStateBytes },
    emit,
  };
  const stream = createSotwServer(own).open(
    { peer: "", typeUrl },
    {
      send(message) {
        sent.push(message.bytes);
        return true;
      },
      close(status) {
        closed = status;
      },
    },
  );
  return {
    topics,
    ask(request) {
      stream.onMessage(toBinary(DiscoveryRequestSchema, asFirst(request)));
    },
    closed: () => closed,
    answer() {
      turn?.();
      return sent;
    },
    tooLarge: () => sent.length > 1 || (sent.length === 0 && unsent > 0),
    sentBytes: () => sent.reduce((sum, { length }) => sum + length, 0),
    end() {
      stream.onClosed(done);
    },
  };
}

/**
 * Returns the request as a client without resources would send it: then the response has the whole
 * state, whatever version the request has (S-REST-9).
 */
function asFirst({
  node,
  resourceNames,
  resourceLocators,
  typeUrl,
}: DiscoveryRequest): DiscoveryRequest {
  return create(DiscoveryRequestSchema, {
    resourceNames,
    resourceLocators,
    typeUrl,
    ...(node === undefined ? {} : { node }),
  });
}

function responseOf(
  stream: OneAnswer,
  settled: Settled,
  typeUrl: string,
  { limits, controlPlane }: ServerContext,
): DiscoveryResponse | Status {
  const [only] = stream.answer();
  const status = stream.closed();
  if (status !== undefined) return status;
  if (stream.tooLarge())
    return {
      code: StatusCode.RESOURCE_EXHAUSTED,
      message: `the state is larger than ${limits.fullStateBytes} bytes: ask for fewer names`,
    };
  if (only !== undefined) return fromBinary(DiscoveryResponseSchema, only);
  if (settled === "late") return notKnown;
  const identified = controlPlane === "" ? {} : { controlPlane: { identifier: controlPlane } };
  return create(DiscoveryResponseSchema, { versionInfo: EMPTY_VERSION, typeUrl, ...identified });
}

/** Returns the same source, which records each topic that is requested from it. */
function recordingSource(source: ResourceSource, onTopic: (topic: Topic) => void): ResourceSource {
  return forwardSource(source, {
    topic(typeUrl, interest) {
      const topic = source.topic(typeUrl, interest);
      onTopic(topic);
      return topic;
    },
  });
}

/** The maximum number of bytes that are copied or encoded before other work gets a turn. */
export const BYTES_PER_TURN: number = 1 << 20;

/** Resolves in a later turn of the event loop, after all other work that is due. */
export async function nextLoopTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

/** The result of a wait. */
type Settled = "settled" | "late" | "aborted";

/** The limits of a wait. */
interface WaitLimits {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly atMostMs: number;
  readonly signal: AbortSignal;
}

/**
 * Waits until every topic is settled, up to a maximum time. Leaves no watcher, timer or listener
 * behind.
 */
export async function whenSettled(topics: readonly Topic[], limits: WaitLimits): Promise<Settled> {
  if (limits.signal.aborted) return "aborted";
  const open = topics.filter((topic) => !topic.settled);
  return open.length === 0
    ? "settled"
    : new Promise((resolve) => {
        wait(open, limits, resolve);
      });
}

function wait(
  topics: readonly Topic[],
  { clock, atMostMs, signal }: WaitLimits,
  resolve: (settled: Settled) => void,
): void {
  const open = new Set(topics);
  const end = (settled: Settled): void => {
    for (const topic of topics) topic.unwatch(watcher);
    signal.removeEventListener("abort", onAbort);
    timer.cancel();
    resolve(settled);
  };
  const watcher: Watcher = {
    wake(topic) {
      if (topic.settled && open.delete(topic) && open.size === 0) end("settled");
    },
  };
  const onAbort = (): void => {
    end("aborted");
  };
  const timer = clock.after(atMostMs, () => {
    end("late");
  });
  signal.addEventListener("abort", onAbort);
  for (const topic of topics) topic.watch(watcher);
}
