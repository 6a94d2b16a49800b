import type { ByteStream, ByteStreamHandler, Message } from "@xdstp/core";
import { describe, expect, it } from "vitest";
import { createFakeClock } from "../create-fake-clock.ts";
import { createNetwork } from "../simulation/create-network.ts";
import { createSeededRandom } from "../simulation/seeded-random.ts";
import { checkByteStream, type MakeWire, type TestedWire } from "./check-byte-stream.ts";

/** Creates a wire in the memory of this process. */
function makeNetwork(accept: (out: ByteStream) => ByteStreamHandler): TestedWire {
  const clock = createFakeClock();
  const network = createNetwork({ clock, random: createSeededRandom(1), delayMs: [1, 5] });
  network.listen("server", accept);
  return {
    open: (handler) => network.connect("server", handler),
    cut: () => {
      for (const connection of network.connections) connection.cut("both");
    },
    step: () => {
      clock.advance(1);
    },
  };
}

const options = { unreadBytes: 2 << 20 };

describe("checkByteStream(), on the network in memory:", () => {
  it.each(checkByteStream(makeNetwork, options))("$title", async ({ check, name }) => {
    expect(await check()).toEqual(
      name.startsWith("a probe")
        ? { kind: "skipped", reason: "the wire cannot probe" }
        : { kind: "passed" },
    );
  });
});

/** The defect of a wire, on one side of a call. */
interface Defect {
  readonly stream?: (stream: ByteStream) => Partial<ByteStream>;
  readonly handler?: (handler: ByteStreamHandler) => Partial<ByteStreamHandler>;
}

/** Creates wires of which one side, or both, has a defect. */
function makeDefective(sides: readonly ("client" | "server")[], defect: Defect): MakeWire {
  const streamOf = (side: "client" | "server", stream: ByteStream): ByteStream => {
    if (!sides.includes(side)) return stream;
    const wrapped = Object.create(stream) as ByteStream;
    return Object.defineProperties(
      wrapped,
      Object.getOwnPropertyDescriptors(defect.stream?.(stream) ?? {}),
    );
  };
  const handlerOf = (side: "client" | "server", handler: ByteStreamHandler): ByteStreamHandler =>
    sides.includes(side) ? { ...handler, ...defect.handler?.(handler) } : handler;
  return (accept) => {
    const wire = makeNetwork((out) => handlerOf("server", accept(streamOf("server", out))));
    return {
      ...wire,
      open: (handler) => streamOf("client", wire.open(handlerOf("client", handler))),
    };
  };
}

const both = ["client", "server"] as const;

/** A wire's defect, and a part of the name of the case that finds it. */
const defects: readonly [what: string, found: string, make: MakeWire][] = [
  [
    "swaps neighbours",
    "messages of all lengths",
    makeDefective(["client"], {
      stream: (stream) => {
        let kept: Message | undefined;
        let sent = 0;
        return {
          send: (message) => {
            if (++sent === 3) {
              kept = message;
              return true;
            }
            const answer = stream.send(message);
            if (kept !== undefined) stream.send(kept);
            kept = undefined;
            return answer;
          },
        };
      },
    }),
  ],
  [
    "loses empty messages",
    "messages of all lengths",
    makeDefective(["server"], {
      stream: (stream) => ({
        send: (message) => message.bytes.length === 0 || stream.send(message),
      }),
    }),
  ],
  [
    "cuts large messages in two",
    "a large message",
    makeDefective(both, {
      handler: (handler) => ({
        onMessage: (bytes) => {
          if (bytes.length < 1 << 20) handler.onMessage(bytes);
          else
            for (const half of [0, 1])
              handler.onMessage(bytes.subarray(half << 19, (half + 1) << 19));
        },
      }),
    }),
  ],
  [
    "masks the bytes that it sends in place",
    "a message that several calls share",
    makeDefective(["client"], {
      stream: (stream) => ({
        send: (message) => {
          const answer = stream.send({
            bytes: Uint8Array.from(message.bytes),
            enveloped: Uint8Array.from(message.enveloped),
          });
          message.bytes.fill(1);
          return answer;
        },
      }),
    }),
  ],
  [
    "closes before it returns the stream",
    "the handler of a new call",
    (accept) => {
      const wire = makeNetwork(accept);
      return {
        ...wire,
        open: (handler) => {
          handler.onClosed({ code: 14, message: "" });
          return wire.open({ ...handler, onClosed: () => undefined });
        },
      };
    },
  ],
  [
    "does not report the end of a call that the server rejects",
    "the handler of a new call",
    (accept) =>
      makeNetwork((out) => {
        let isClosed = false as boolean;
        const handler = accept({
          ...out,
          close: (status) => {
            isClosed = true;
            out.close(status);
          },
        });
        return isClosed ? { ...handler, onClosed: () => undefined } : handler;
      }),
  ],
  [
    "ignores close until it is connected",
    "closed before it is established",
    makeDefective(["client"], {
      stream: (stream) => ({
        close: (status) => {
          if (stream.opening !== true) stream.close(status);
        },
      }),
    }),
  ],
  [
    "does not say that it is open",
    "onOpened is called once",
    makeDefective(["client"], { handler: () => ({ onOpened: () => undefined }) }),
  ],
  [
    "says twice that it is open",
    "onOpened is called once",
    makeDefective(["client"], {
      handler: (handler) => ({
        onOpened: () => {
          handler.onOpened?.();
          handler.onOpened?.();
        },
      }),
    }),
  ],
  [
    "discards what is queued when the client closes",
    "before an end of the client",
    makeDefective(["client"], { stream: discardsQueue }),
  ],
  [
    "discards what is queued when the server closes",
    "before an end of the server",
    makeDefective(["server"], { stream: discardsQueue }),
  ],
  [
    "loses the status",
    "before an end of the server",
    makeDefective(["client"], {
      handler: (handler) => ({
        onClosed: () => {
          handler.onClosed({ code: 0, message: "" });
        },
      }),
    }),
  ],
  [
    "reports a cancelled call as an orderly end",
    "that the client cancels",
    makeDefective(["server"], {
      handler: (handler) => ({
        onClosed: ({ message }) => {
          handler.onClosed({ code: 0, message });
        },
      }),
    }),
  ],
  [
    "takes the last status",
    "the first close counts",
    makeDefective(["server"], {
      stream: (stream) => {
        let isClosed = false;
        return {
          close: (status) => {
            if (isClosed) stream.close(status);
            else
              queueMicrotask(() => {
                stream.close({ code: 13, message: status.message });
              });
            isClosed = true;
          },
        };
      },
    }),
  ],
  [
    "closes twice",
    "the first close counts",
    makeDefective(["client"], {
      handler: (handler) => ({
        onClosed: (status) => {
          handler.onClosed(status);
          handler.onClosed(status);
        },
      }),
    }),
  ],
  [
    "throws after close",
    "a message after close",
    makeDefective(both, {
      stream: (stream) => {
        let isClosed = false;
        return {
          send: (message) => {
            if (isClosed) throw new Error("write after end");
            return stream.send(message);
          },
          close: (status) => {
            isClosed = true;
            stream.close(status);
          },
        };
      },
    }),
  ],
  [
    "delivers what was on its way after close",
    "a side that closes",
    (accept) => {
      const wire = makeNetwork(accept);
      return {
        ...wire,
        open: (handler) => {
          const stream = wire.open(handler);
          return {
            ...stream,
            get opening() {
              return stream.opening ?? false;
            },
            close: (status) => {
              stream.close(status);
              handler.onMessage(Uint8Array.of(1));
            },
          };
        },
      };
    },
  ],
  [
    "ends all calls with the first one",
    "calls at the same time",
    (accept) => {
      const outs: ByteStream[] = [];
      return makeNetwork((out) => {
        outs.push(out);
        return accept({
          ...out,
          close: (status) => {
            for (const each of outs) each.close(status);
          },
        });
      });
    },
  ],
  [
    "mixes calls",
    "calls at the same time",
    (accept) => {
      const outs: ByteStream[] = [];
      return makeNetwork((out) => {
        outs.push(out);
        const first = outs[0] ?? out;
        let sent = 0;
        return accept({
          ...out,
          send: (message) => (sent++ === 0 ? out : first).send(message),
        });
      });
    },
  ],
  [
    "does not pause",
    "between pause and resume",
    makeDefective(["client"], { stream: () => ({ pause: () => undefined }) }),
  ],
  [
    "loses what arrives while it is paused",
    "between pause and resume",
    (accept) => {
      const wire = makeNetwork(accept);
      return {
        ...wire,
        open: (handler) => {
          let isPaused = false;
          const stream = wire.open({
            ...handler,
            onMessage: (bytes) => {
              if (!isPaused) handler.onMessage(bytes);
            },
          });
          return Object.defineProperties(Object.create(stream) as ByteStream, {
            pause: {
              value: () => {
                isPaused = true;
              },
            },
            resume: {
              value: () => {
                isPaused = false;
              },
            },
          });
        },
      };
    },
  ],
  [
    "queues without a bound on the server",
    "a server whose peer does not read",
    makeDefective(["server"], { stream: neverFull }),
  ],
  [
    "queues without a bound on the client",
    "a client whose peer does not read",
    makeDefective(["client"], { stream: neverFull }),
  ],
  [
    "does not say that there is room again",
    "a server whose peer does not read",
    makeDefective(["server"], { handler: () => ({ onDrained: () => undefined }) }),
  ],
  [
    "answers a probe twice",
    "a probe is answered",
    makeDefective(["client"], {
      stream: () => ({
        probe: (onAnswer) => {
          onAnswer(true);
          onAnswer(true);
        },
      }),
    }),
  ],
  [
    "does not notice that the connection is lost",
    "a lost connection",
    (accept) => ({ ...makeNetwork(accept), cut: () => undefined }),
  ],
];

function neverFull(stream: ByteStream): Partial<ByteStream> {
  return {
    send: (message) => {
      stream.send(message);
      return true;
    },
  };
}

/** Sends a message only when the next one is sent. */
function discardsQueue(stream: ByteStream): Partial<ByteStream> {
  let sent = 0;
  let last: Message | undefined;
  return {
    send: (message) => {
      if (sent++ === 0) return stream.send(message);
      if (last !== undefined) stream.send(last);
      last = message;
      return true;
    },
  };
}

describe("checkByteStream(), on a wire that", () => {
  it.each(defects)("%s: the case fails", async (_what, found, make) => {
    const [each, ...others] = checkByteStream(make, options).filter(({ name }) =>
      name.includes(found),
    );
    expect(others).toEqual([]);
    expect(await each?.check()).toMatchObject({ kind: "failed" });
  });

  it("each case finds at least one defect", () => {
    const names = checkByteStream(makeNetwork).map(({ name }) => name);
    expect(names.filter((name) => !defects.some(([, found]) => name.includes(found)))).toEqual([]);
  });
});
