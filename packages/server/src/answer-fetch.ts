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
  /** The client has disconnected, or the server is closing. */
  readonly signal: AbortSignal;
  /** Where it waits until its answer may be made, and who waits. */
  readonly line: AnswerLine;
  readonly who: string;
}

const notKnown: Status = {
  code: StatusCode.UNAVAILABLE,
  message: "not every requested resource is known yet",
};
const done: Status = { code: StatusCode.OK, message: "" };

/** The version of a state without resources, as SotW streams write it: a sum over nothing (S-VER-7). */
const EMPTY_VERSION = "0";

/**
 * Answers one Fetch: what a SotW stream that holds nothing would get first, once all of it is settled (S-REST-9).
 *
 * It waits `limits.settleMs` at most. Then what is settled goes out, if that is not nothing; but a client that holds a version of a
 * full-state type would take the rest for deleted, and gets UNAVAILABLE (S-STREAM-9).
 * @returns undefined: aborted
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
  /** How the state machine ended the stream, if it did. */
  closed(): Status | undefined;
  /** What goes out as of now. */
  answer(): readonly Uint8Array[];
  /** A state, or all of what there is to say, is too large for one message. */
  tooLarge(): boolean;
  /** Bytes of what went out. */
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

/** The request as of a client that holds nothing: the state comes whole whatever version it names (S-REST-9). */
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

/** Up to this number of bytes are copied or encoded before others get a turn. */
export const BYTES_PER_TURN: number = 1 << 20;

/** Lets everything else that is due go first. */
export async function nextLoopTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}

/** How a wait ended. */
type Settled = "settled" | "late" | "aborted";

/** What a wait is bounded by. */
interface WaitLimits {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly atMostMs: number;
  readonly signal: AbortSignal;
}

/** Waits until every topic is settled, for a time at most. Leaves no watcher, timer or listener behind. */
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
