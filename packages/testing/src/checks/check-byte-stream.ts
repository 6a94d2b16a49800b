import { type ByteStream, type ByteStreamHandler, StatusCode } from "@xdstp/core";
import { byteStreamCases, type ByteStreamPlace, GREETING } from "./byte-stream-cases.ts";
import {
  bindCase,
  type CaseOf,
  type CheckOptions,
  type ContractCase,
  createWaiter,
  demand,
  type Steps,
} from "./contract-case.ts";
import { type CallEvents, difference, type RecordedCall, recordCall } from "./recorded-call.ts";

/** A wire with both of its ends: a server that accepts calls, and a client that opens them. */
export interface TestedWire extends Steps {
  /** Opens a call to the server. */
  open(handler: ByteStreamHandler): ByteStream;
  /**
   * Breaks the connection of all open calls, as a lost network does. Absent: what happens then is
   * not checked.
   */
  cut?(): void;
  /** Stops the server and the client. Absent: there is nothing to stop. */
  close?(): void | Promise<void>;
}

/** Creates a wire whose server answers each call with `accept`. */
export type MakeWire = (
  accept: (out: ByteStream) => ByteStreamHandler,
) => TestedWire | Promise<TestedWire>;

/** Options of {@link checkByteStream}. */
export interface ByteStreamCheckOptions extends CheckOptions {
  /** The length of the largest message, in bytes. Default: 1 MiB. */
  readonly largeBytes?: number;
  /**
   * The bytes that a wire must not accept without asking the sender to wait, while nothing is
   * read. Default: 32 MiB.
   */
  readonly unreadBytes?: number;
}

/**
 * Returns the cases that each implementation of `ByteStream` must pass, on both of its ends:
 * order, back-pressure, end and error exactly once, large messages, many calls at once.
 *
 * @param make - Creates a new wire for each case
 */
export function checkByteStream(
  make: MakeWire,
  options: ByteStreamCheckOptions = {},
): readonly ContractCase[] {
  return byteStreamCases().map((each) => bindCase(each, (check) => runCase(make, options, check)));
}

const CANCELLED = { code: StatusCode.CANCELLED, message: "the case is over" };

async function runCase(
  make: MakeWire,
  options: ByteStreamCheckOptions,
  check: CaseOf<ByteStreamPlace>["check"],
): Promise<string | undefined> {
  const calls: RecordedCall[] = [];
  const served: RecordedCall[] = [];
  const serving: { events: CallEvents; onCall?: ((out: ByteStream) => void) | undefined } = {
    events: {},
  };
  const notify = (): void => {
    waiter.notify();
  };
  const wire = await make((out) => {
    const call = recordCall(notify, serving.events);
    call.begin(out);
    calls.push(call);
    served.push(call);
    serving.onCall?.(out);
    return call.handler;
  });
  const waiter = createWaiter(wire, options);
  const open = (events?: CallEvents): RecordedCall => {
    const call = recordCall(notify, events);
    calls.push(call);
    call.begin(wire.open(call.handler));
    return call;
  };
  const place: ByteStreamPlace = {
    cut: wire.cut && (() => wire.cut?.()),
    waiter,
    largeBytes: options.largeBytes ?? 1 << 20,
    unreadBytes: options.unreadBytes ?? 32 << 20,
    served,
    serve: (events, onCall) => {
      serving.events = events;
      serving.onCall = onCall;
    },
    open,
    join: async (events) => {
      const client = open(events);
      const before = served.length;
      client.stream.send(GREETING);
      await waiter.until(
        () => (served[before]?.messages.length ?? 0) > 0,
        "the first message of the client reaches the server",
      );
      const server = served[before];
      demand(server !== undefined, "the server was not called");
      server.stream.send(GREETING);
      await waiter.until(
        () => client.messages.length > 0,
        "the first message of the server reaches the client",
      );
      return { client, server };
    },
    arrived: async (call, sent) => {
      const wanted = [GREETING, ...sent];
      await waiter.until(
        () => call.messages.length >= wanted.length || call.closed !== undefined,
        "all messages arrive",
        () => difference(call.messages, wanted) ?? "",
      );
      const wrong = difference(call.messages, wanted);
      demand(wrong === undefined, wrong ?? "");
    },
    over: (call) =>
      waiter.until(
        () => call.closed !== undefined,
        "onClosed is called on each side once the call has ended",
      ),
  };
  try {
    const skipped = await check(place);
    for (const call of calls) if (call.closed === undefined) call.stream.close(CANCELLED);
    for (const call of calls) await place.over(call);
    return skipped;
  } finally {
    await wire.close?.();
    // A call of the handler that comes too late comes at the latest now.
    await new Promise((resolve) => setTimeout(resolve));
    const violation = calls.flatMap(({ violations }) => violations)[0];
    // eslint-disable-next-line no-unsafe-finally -- a violation explains why the case failed
    if (violation !== undefined) throw new Error(violation);
  }
}
