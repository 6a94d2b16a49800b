import { type ByteStream, type Message, StatusCode } from "@xdstp/core";
import { type CaseOf, demand, type Waiter } from "./contract-case.ts";
import { type CallEvents, numberedMessage, type RecordedCall } from "./recorded-call.ts";

/** The objects that a case gets. */
export interface ByteStreamPlace {
  /** Breaks all connections. Absent: the wire has no such test. */
  readonly cut: (() => void) | undefined;
  readonly waiter: Waiter;
  readonly largeBytes: number;
  readonly unreadBytes: number;
  /** The server's side of the calls, in the order in which they arrived. */
  readonly served: readonly RecordedCall[];
  /** Replaces what the server does with calls that arrive later. */
  readonly serve: (events: CallEvents, onCall?: (out: ByteStream) => void) => void;
  /** Opens a call. */
  readonly open: (events?: CallEvents) => RecordedCall;
  /** Opens a call, and resolves when one message has arrived on each side. */
  readonly join: (
    events?: CallEvents,
  ) => Promise<{ readonly client: RecordedCall; readonly server: RecordedCall }>;
  /** Resolves when all messages have arrived, after those that `join` sent. */
  readonly arrived: (call: RecordedCall, sent: readonly Message[]) => Promise<void>;
  /** Resolves when the call of this side is over. */
  readonly over: (call: RecordedCall) => Promise<void>;
}

type ByteStreamCase = CaseOf<ByteStreamPlace>;

/** The message that opens each call of `join`. */
export const GREETING: Message = numberedMessage(200, 8);
const OK = { code: StatusCode.OK, message: "" };

/** Lengths around those at which WebSocket, HTTP/2 and buffers of Node change their form. */
const LENGTHS = [0, 1, 5, 125, 126, 127, 16_383, 16_384, 16_385, 65_535, 65_536, 70_000];

/** Returns messages of different content and the same length. */
function messagesOf(count: number, length: number, first = 0): readonly Message[] {
  return Array.from({ length: count }, (_, index) => numberedMessage(first + index, length));
}

const cases: readonly ByteStreamCase[] = [
  {
    name: "messages of all lengths arrive whole and in order, in both directions",
    rules: ["B-STREAM-12"],
    check: async ({ join, arrived }) => {
      const { client, server } = await join();
      const sent = Array.from({ length: 120 }, (_, index) =>
        numberedMessage(index, LENGTHS[index % LENGTHS.length] ?? 0),
      );
      for (const message of sent) {
        client.stream.send(message);
        server.stream.send(message);
      }
      await Promise.all([arrived(server, sent), arrived(client, sent)]);
      return undefined;
    },
  },
  {
    name: "a large message arrives whole, in both directions",
    rules: ["S-SIZE-5"],
    check: async ({ join, arrived, largeBytes }) => {
      const { client, server } = await join();
      const sent = [numberedMessage(1, largeBytes), numberedMessage(2, 3)];
      for (const message of sent) {
        client.stream.send(message);
        server.stream.send(message);
      }
      await Promise.all([arrived(server, sent), arrived(client, sent)]);
      return undefined;
    },
  },
  {
    name: "a message that several calls share is not changed",
    rules: [],
    check: async ({ join, arrived }) => {
      const shared = numberedMessage(7, 1_000);
      const before = Uint8Array.from(shared.enveloped);
      const calls = [await join(), await join(), await join()];
      for (const { server, client } of calls) {
        server.stream.send(shared);
        client.stream.send(shared);
      }
      for (const { server, client } of calls) {
        await arrived(client, [shared]);
        await arrived(server, [shared]);
      }
      demand(
        shared.enveloped.every((byte, at) => byte === before[at]),
        "the wire has written to the bytes of a message that it was given",
      );
      return undefined;
    },
  },
  {
    name: "the handler of a new call is not called before the stream is returned",
    rules: [],
    check: async ({ open, over, serve, served, waiter }) => {
      // Both sides act as early as they can; the recorder notes calls that come too early.
      serve({}, (out) => {
        out.send(GREETING);
        out.close({ code: StatusCode.UNAVAILABLE, message: "not ready" });
      });
      const call = open();
      call.stream.send(GREETING);
      await over(call);
      demand(
        call.closed?.code === StatusCode.UNAVAILABLE,
        `the server rejected the call with UNAVAILABLE (14), the client received ${String(call.closed?.code)}`,
      );
      await waiter.until(
        () => served.every(({ closed }) => closed !== undefined),
        "onClosed is called for a call that the server closes before it returns its handler",
      );
      return undefined;
    },
  },
  {
    name: "a call that is closed before it is established ends once",
    rules: [],
    check: async ({ open, over, served, waiter }) => {
      const call = open();
      call.stream.send(GREETING);
      call.stream.close({ code: StatusCode.CANCELLED, message: "no longer needed" });
      call.stream.close(OK);
      await over(call);
      await waiter.until(
        () => served.every(({ closed }) => closed !== undefined),
        "the server side of a call that its client has cancelled ends",
      );
      return undefined;
    },
  },
  {
    name: "onOpened is called once, before any message, if the call began as opening",
    rules: [],
    check: async ({ open, waiter }) => {
      const client = open();
      const isOpening = (): boolean => client.stream.opening ?? false;
      const began = isOpening();
      client.stream.send(GREETING);
      if (!began) return "the peer is reached as soon as the stream exists";
      await waiter.until(() => client.opened > 0, "onOpened is called");
      demand(!isOpening(), "opening is still true when onOpened is called");
      demand(client.opened === 1, "onOpened was called twice");
      return undefined;
    },
  },
  {
    name: "the messages before an end of the client arrive, then the server sees one end",
    rules: ["C-STREAM-14"],
    check: async ({ join, arrived, over }) => {
      const { client, server } = await join();
      const sent = messagesOf(50, 3_000);
      for (const message of sent) client.stream.send(message);
      client.stream.close(OK);
      await Promise.all([over(server), over(client)]);
      await arrived(server, sent);
      demand(
        server.closed?.code === StatusCode.OK,
        `the client ended the call with OK, and the server received the code ${String(server.closed?.code)}`,
      );
      return undefined;
    },
  },
  {
    name: "the messages before an end of the server arrive, then the status of the server",
    rules: ["S-STREAM-13"],
    check: async ({ join, arrived, over }) => {
      for (const status of [
        OK,
        { code: StatusCode.UNAVAILABLE, message: "100 % besch\u00e4ftigt" },
      ]) {
        const { client, server } = await join();
        const sent = messagesOf(50, 3_000);
        for (const message of sent) server.stream.send(message);
        server.stream.close(status);
        await Promise.all([over(client), over(server)]);
        await arrived(client, sent);
        const { code, message } = client.closed ?? {};
        demand(
          code === status.code && (code === StatusCode.OK || message === status.message),
          `the server ended the call with ${String(status.code)} "${status.message}", the client received ${String(code)} "${String(message)}"`,
        );
      }
      return undefined;
    },
  },
  {
    name: "a call that the client cancels ends on the server, and not with OK",
    rules: ["S-STREAM-10"],
    check: async ({ join, over }) => {
      const { client, server } = await join();
      client.stream.close({ code: StatusCode.CANCELLED, message: "no longer needed" });
      await Promise.all([over(client), over(server)]);
      // A server that was notified of the end of the messages first has answered with OK itself.
      demand(
        server.closed?.code !== StatusCode.OK || server.ended > 0,
        "the server received the end of a call that was cancelled as an orderly one",
      );
      return undefined;
    },
  },
  {
    name: "the first close counts, also if both sides close at the same time",
    rules: ["S-STREAM-10"],
    check: async ({ join, over }) => {
      const one = await join();
      one.server.stream.close({ code: StatusCode.UNAVAILABLE, message: "first" });
      one.server.stream.close({ code: StatusCode.INTERNAL, message: "second" });
      await Promise.all([over(one.client), over(one.server)]);
      demand(
        one.client.closed?.code === StatusCode.UNAVAILABLE,
        "the status of the second close replaced that of the first one",
      );
      const other = await join();
      other.server.stream.close({ code: StatusCode.UNAVAILABLE, message: "" });
      other.client.stream.close(OK);
      await Promise.all([over(other.client), over(other.server)]);
      return undefined;
    },
  },
  {
    name: "a message after close is ignored, on both sides",
    rules: [],
    check: async ({ join, arrived, over }) => {
      const { client, server } = await join();
      client.stream.close(OK);
      client.stream.send(numberedMessage(1, 10));
      await over(server);
      server.stream.send(numberedMessage(1, 10));
      await over(client);
      client.stream.send(numberedMessage(1, 10));
      client.stream.pause?.();
      client.stream.resume?.();
      await arrived(server, []);
      await arrived(client, []);
      return undefined;
    },
  },
  {
    name: "a side that closes receives nothing more, also not what was on its way",
    rules: ["S-STREAM-10"],
    check: async ({ join, over }) => {
      const { client, server } = await join({
        onMessage: (call) => {
          if (call.messages.length === 2) call.stream.close(OK);
        },
      });
      for (const message of messagesOf(100, 2_000)) server.stream.send(message);
      await Promise.all([over(client), over(server)]);
      demand(
        client.messages.length === 2,
        `${String(client.messages.length - 2)} messages arrived after close`,
      );
      return undefined;
    },
  },
  {
    name: "calls at the same time do not mix their messages, and end by themselves",
    rules: ["S-STREAM-6", "S-STREAM-7"],
    check: async ({ join, arrived, over }) => {
      const calls = [];
      for (let index = 0; index < 20; index++)
        calls.push({ ...(await join()), sent: messagesOf(10, 10 + index, index * 10) });
      const [first, ...others] = calls;
      for (let at = 0; at < 10; at++)
        for (const { client, server, sent } of calls) {
          const message = sent[at];
          if (message === undefined) continue;
          client.stream.send(message);
          server.stream.send(message);
          if (at === 5) first?.server.stream.close({ code: StatusCode.INTERNAL, message: "bad" });
        }
      for (const { client, server, sent } of others) {
        await arrived(client, sent);
        await arrived(server, sent);
      }
      if (first !== undefined) await over(first.client);
      demand(
        others.every(
          ({ client, server }) => client.closed === undefined && server.closed === undefined,
        ),
        "the end of one call has ended another one",
      );
      return undefined;
    },
  },
  {
    name: "nothing is read between pause and resume, and nothing is lost",
    rules: ["C-ACK-13", "S-LIM-2"],
    check: async ({ join, arrived }) => {
      const { client, server } = await join();
      if (client.stream.pause === undefined && server.stream.pause === undefined)
        return "the wire cannot pause";
      const sent = messagesOf(40, 5_000);
      for (const [reader, writer] of [
        [client, server],
        [server, client],
      ] as const) {
        if (reader.stream.pause === undefined) continue;
        reader.pause();
        for (const message of sent) writer.stream.send(message);
        // The other direction is not paused. What it carries shows that the wire had its time.
        for (const message of sent) reader.stream.send(message);
        await arrived(writer, writer === server ? [...sent] : [...sent, ...sent]);
        demand(
          reader.messages.length === (reader === client ? 1 : 1 + sent.length),
          "messages arrived between pause and resume",
        );
        reader.resume();
        await arrived(reader, reader === client ? sent : [...sent, ...sent]);
      }
      return undefined;
    },
  },
  ...(["server", "client"] as const).map((writing): ByteStreamCase => ({
    name: `a ${writing} whose peer does not read is asked to wait, and continues when it reads`,
    rules: writing === "server" ? ["S-LIM-3"] : ["S-LIM-2"],
    check: async ({ join, arrived, unreadBytes, waiter, serve }) => {
      const message = numberedMessage(3, 64 << 10);
      const limit = Math.ceil(unreadBytes / message.bytes.length);
      let sent = 0;
      let isFull = false;
      const pump = (call: RecordedCall): void => {
        isFull = false;
        while (sent < limit && !isFull) {
          sent++;
          isFull = !call.stream.send(message);
        }
      };
      serve(writing === "server" ? { onDrained: pump } : {});
      const { client, server } = await join(writing === "client" ? { onDrained: pump } : {});
      serve({});
      const [writer, reader] = writing === "server" ? [server, client] : [client, server];
      if (reader.stream.pause === undefined) return "the wire cannot pause";
      reader.pause();
      pump(writer);
      // Other calls show that the wire had time for all that it takes without a reader.
      for (let turn = 0; turn < 20; turn++) {
        const other = await join();
        other.client.stream.close(OK);
      }
      demand(
        sent < limit,
        `send accepted ${String(unreadBytes)} bytes while the peer read nothing, and did not return false`,
      );
      const waits = sent;
      reader.resume();
      await waiter.until(
        () => sent > waits || sent === limit,
        "onDrained is called when the wire accepts messages again",
      );
      await waiter.until(() => sent === limit, "the sender can send everything");
      await arrived(reader, Array<Message>(limit).fill(message));
      return undefined;
    },
  })),
  {
    name: "a probe is answered at most once, and says whether the peer is idle",
    rules: [],
    check: async ({ join, waiter }) => {
      const { client } = await join();
      if (client.stream.probe === undefined) return "the wire cannot probe";
      const answers: boolean[] = [];
      client.stream.probe((isIdle) => {
        answers.push(isIdle);
        waiter.notify();
      });
      await waiter.until(() => answers.length > 0, "a probe is answered");
      demand(answers.length === 1, "a probe was answered twice");
      demand(answers[0] === true, "the peer sent nothing, and the probe says that it is not idle");
      return undefined;
    },
  },
  {
    name: "a lost connection ends all of its calls on both sides, each once and with an error",
    rules: ["S-STREAM-10"],
    check: async ({ join, over, cut }) => {
      if (cut === undefined) return "the test of this wire cannot cut its connections";
      const calls = [await join(), await join()];
      cut();
      for (const { client, server } of calls) {
        await over(client);
        await over(server);
        demand(
          client.closed?.code !== StatusCode.OK && server.closed?.code !== StatusCode.OK,
          "a call of a lost connection ended with OK",
        );
      }
      return undefined;
    },
  },
];

/** Returns all cases of `checkByteStream`. */
export function byteStreamCases(): readonly ByteStreamCase[] {
  return cases;
}
