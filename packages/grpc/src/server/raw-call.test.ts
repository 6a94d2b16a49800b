import { constants } from "node:http2";
import { StatusCode, type ByteStreamHandler } from "@xdstp/core";
import { describe, expect, test } from "vitest";
import { enveloped } from "../../test/raw-client.ts";
import { echoPath, messageOf, useServer, type SeenCall } from "../../test/use-server.ts";

const MiB = 1024 * 1024;

function head(length: number): Buffer {
  const bytes = enveloped("");
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

describe("openRawCall()", () => {
  test("carries messages both ways and ends with the handler's status, in percent-encoded UTF-8", async () => {
    const server = await useServer({
      handler: ({ out }) => ({
        onMessage(message) {
          out.send(messageOf(message));
          if (Buffer.from(message).toString() === "bye")
            out.close({ code: StatusCode.NOT_FOUND, message: "größer als 100 %" });
        },
      }),
    });
    const call = (await server.client()).call(echoPath);
    call.stream.write(enveloped("hello"));
    expect((await call.next()).toString()).toBe("hello");
    call.stream.write(enveloped("bye"));
    const result = await call.result;
    expect(result.messages.map(String)).toEqual(["hello", "bye"]);
    expect(result.headers).toMatchObject({
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-accept-encoding": "identity",
    });
    expect(result.headers["grpc-encoding"]).toBeUndefined();
    expect(result.trailers).toMatchObject({
      "grpc-status": "5",
      "grpc-message": "gr%C3%B6%C3%9Fer als 100 %25",
    });
    expect(result.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
    expect(await server.calls[0]?.closed).toEqual({ code: 5, message: "größer als 100 %" });
    expect(server.calls[0]?.closedTimes).toBe(1);
  });

  test.for(["application/grpc", "application/grpc+proto"])("reads %s", async (type) => {
    const server = await useServer();
    const call = (await server.client()).call(echoPath, { "content-type": type });
    call.stream.write(enveloped("x"));
    expect((await call.next()).toString()).toBe("x");
    call.stream.end();
    expect((await call.result).trailers["grpc-status"]).toBe("0");
  });

  test("needs no `te` header", async () => {
    const server = await useServer();
    const call = (await server.client()).call(echoPath, { te: undefined });
    call.stream.end(enveloped("x"));
    expect((await call.result).trailers["grpc-status"]).toBe("0");
  });

  test.for(["application/json", "application/grpc-web+proto", "application/grpc+json", undefined])(
    "answers content type %s with 415 and makes no handler",
    async (type) => {
      const server = await useServer();
      const result = await (await server.client()).call(echoPath, { "content-type": type }).result;
      expect(result.headers[":status"]).toBe(415);
      expect(result.headers["accept-post"]).toBe("application/grpc, application/grpc+proto");
      expect(server.calls).toHaveLength(0);
    },
  );

  test("answers a method other than POST with 405", async () => {
    const server = await useServer();
    const call = (await server.client()).call(echoPath, { ":method": "PUT" });
    expect((await call.result).headers).toMatchObject({ ":status": 405, allow: "POST" });
  });

  test("tells the factory path, peer, headers and deadline", async () => {
    const server = await useServer();
    const client = await server.client();
    const call = client.call(echoPath, { "x-who": "me", "grpc-timeout": "2562047H" });
    call.stream.write(enveloped("x"));
    await call.next();
    expect(server.calls[0]?.call).toMatchObject({
      path: echoPath,
      peer: { address: `127.0.0.1:${client.session.socket.localPort ?? 0}` },
      deadlineMs: 9_223_369_200_000,
    });
    expect(server.calls[0]?.call.headers["x-who"]).toBe("me");
    call.stream.close();
  });

  test("rejects with the factory's status in one frame", async () => {
    const server = await useServer({
      accept: () => ({ code: StatusCode.UNAVAILABLE, message: "not ready" }),
    });
    const result = await (await server.client()).call(echoPath).result;
    expect(result.headers).toMatchObject({
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": "14",
      "grpc-message": "not ready",
    });
    expect(server.server.stats().streams).toBe(0);
  });

  test("takes messages and an end from inside the factory", async () => {
    const server = await useServer({
      accept: (_, out) => {
        out.send(messageOf("early"));
        out.close({ code: 0, message: "" });
        out.send(messageOf("late"));
        return { code: StatusCode.INTERNAL, message: "not seen" };
      },
    });
    const result = await (await server.client()).call(echoPath).result;
    expect(result.messages.map(String)).toEqual(["early"]);
    expect(result.trailers["grpc-status"]).toBe("0");
  });

  test("ends a call after its deadline with DEADLINE_EXCEEDED", async () => {
    const server = await useServer();
    const call = (await server.client()).call(echoPath, { "grpc-timeout": "1500m" });
    call.stream.write(enveloped("x"));
    await call.next();
    server.clock.advance(1499);
    expect(server.server.stats().cuts).toEqual({});
    server.clock.advance(1);
    expect((await call.result).trailers["grpc-status"]).toBe("4");
    expect(await server.calls[0]?.closed).toMatchObject({ code: StatusCode.DEADLINE_EXCEEDED });
    expect(server.server.stats().cuts).toEqual({ deadline: 1 });
  });

  test.for(["123456789S", "1s", "soon"])(
    "rejects the timeout %s with INVALID_ARGUMENT",
    async (timeout) => {
      const server = await useServer();
      const result = await (await server.client()).call(echoPath, { "grpc-timeout": timeout })
        .result;
      expect(result.trailers["grpc-status"]).toBe("3");
      expect(server.calls).toHaveLength(0);
      expect(server.server.stats().cuts).toEqual({ "bad-timeout": 1 });
    },
  );

  test("answers a compressed message with UNIMPLEMENTED and names what it accepts", async () => {
    const server = await useServer();
    const call = (await server.client()).call(echoPath, {
      "grpc-encoding": "gzip",
      "grpc-accept-encoding": "gzip",
    });
    call.stream.write(enveloped("zipped", 1));
    const result = await call.result;
    expect(result.trailers["grpc-status"]).toBe("12");
    expect(result.headers["grpc-accept-encoding"]).toBe("identity");
    expect(server.calls[0]?.messages).toEqual([]);
  });

  test("ends only the stream that sends garbage [S-STREAM-7]", async () => {
    const server = await useServer();
    const client = await server.client();
    const [good, bad] = [client.call(echoPath), client.call(echoPath)];
    good.stream.write(enveloped("before"));
    await good.next();
    bad.stream.write("GET / HTTP/1.1\r\n\r\n");
    expect((await bad.result).trailers).toMatchObject({
      "grpc-status": "3",
      "grpc-message": "the message does not begin with the five bytes of gRPC",
    });
    good.stream.write(enveloped("after"));
    expect((await good.next()).toString()).toBe("after");
    good.stream.close();
  });

  test("ends a call that is half-closed inside a message with INVALID_ARGUMENT [S-STREAM-7]", async () => {
    const server = await useServer();
    const call = (await server.client()).call(echoPath);
    call.stream.end(enveloped("cut short").subarray(0, 8));
    expect((await call.result).trailers["grpc-status"]).toBe("3");
  });

  test("leaves a half-closed call to a handler that wants to know", async () => {
    const server = await useServer({
      handler: ({ out }) => ({
        onEnd() {
          out.send(messageOf("last"));
          out.close({ code: StatusCode.ABORTED, message: "" });
        },
      }),
    });
    const call = (await server.client()).call(echoPath);
    call.stream.end();
    const result = await call.result;
    expect([result.messages.map(String), result.trailers["grpc-status"]]).toEqual([["last"], "10"]);
  });

  test.for([
    ["above the ordinary limit and not admitted", 16 * MiB + 1],
    ["above every limit", 32 * MiB + 1],
    ["of 4 GiB", 0xffff_ffff],
  ] as const)("rejects a message %s before its body comes [S-SIZE-5]", async ([, length]) => {
    const server = await useServer();
    const call = (await server.client()).call(echoPath);
    const before = process.memoryUsage().arrayBuffers;
    call.stream.write(head(length));
    expect((await call.result).trailers["grpc-status"]).toBe("8");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * MiB);
  });

  test("reads a message above the ordinary limit that the handler admits [S-SIZE-5]", async () => {
    const server = await useServer({
      limits: { maxMessageBytes: 4 * MiB },
      handler: (seen) => ({
        admits: (_, prefix) => (prefix.length < 10_000 ? undefined : prefix[0] === 7),
        onMessage: (message) => {
          seen.out.send(messageOf(String(message.length)));
        },
      }),
    });
    const call = (await server.client()).call(echoPath);
    call.stream.write(enveloped(Buffer.alloc(6 * MiB, 7)));
    expect((await call.next()).toString()).toBe(String(6 * MiB));
    call.stream.write(enveloped(Buffer.alloc(6 * MiB, 8)));
    expect((await call.result).trailers["grpc-status"]).toBe("8");
  });

  test("reads one large message at a time per connection; the next waits and is read after it [S-SIZE-5]", async () => {
    const limits = { maxMessageBytes: 1000, maxFirstMessageBytes: 100_000 };
    const server = await useServer({
      limits,
      handler: (seen) => ({
        admits: () => true,
        onMessage: (message) => {
          seen.out.send(messageOf(String(message.length)));
        },
      }),
    });
    const client = await server.client();
    const [first, second] = [client.call(echoPath), client.call(echoPath)];
    const large = enveloped(Buffer.alloc(50_000));
    first.stream.write(large.subarray(0, 40_000));
    second.stream.write(enveloped("begins"));
    await second.next();
    second.stream.write(large);
    const third = client.call(echoPath);
    third.stream.write(enveloped("small"));
    expect((await third.next()).toString()).toBe("5");
    expect(second.messages).toHaveLength(1);
    first.stream.write(large.subarray(40_000));
    expect((await first.next()).toString()).toBe("50000");
    expect((await second.next()).toString()).toBe("50000");
    for (const call of [first, second, third]) call.stream.close();
  });

  test("cuts a message that trickles in, and keeps a stream that is merely silent [S-LIM-1]", async () => {
    const server = await useServer({ limits: { messageMs: 30_000 } });
    const client = await server.client();
    const [slow, silent] = [client.call(echoPath), client.call(echoPath)];
    slow.stream.write(enveloped("whole"));
    await slow.next();
    const timers = server.clock.pending;
    slow.stream.write(enveloped("slow").subarray(0, 3));
    await client.roundTrip();
    expect(server.clock.pending).toBe(timers + 1);
    server.clock.advance(29_999);
    slow.stream.write(enveloped("slow").subarray(3, 5));
    await client.roundTrip();
    server.clock.advance(1);
    expect((await slow.result).trailers).toMatchObject({
      "grpc-status": "4",
      "grpc-message": "the message took too long to arrive",
    });
    expect(server.server.stats().cuts).toEqual({ "slow-message": 1 });
    silent.stream.write(enveloped("still here"));
    expect((await silent.next()).toString()).toBe("still here");
    silent.stream.close();
  });

  test("gives each message its own time, even when it begins in the packet that ends the one before [S-LIM-1]", async () => {
    const server = await useServer({ limits: { firstMessageMs: 1_000_000, pingMs: 1_000_000 } });
    const client = await server.client();
    const call = client.call(echoPath);
    const message = enveloped("one of many");
    call.stream.write(message.subarray(0, 8));
    for (let round = 0; round < 4; round += 1) {
      await client.roundTrip();
      server.clock.advance(20_000);
      call.stream.write(Buffer.concat([message.subarray(8), message.subarray(0, 8)]));
      expect((await call.next()).toString()).toBe("one of many");
    }
    expect(server.server.stats().cuts).toEqual({});
    call.stream.close();
  });

  test("takes 10,000 requests of a client that reads nothing [B-STREAM-12]", async () => {
    let asked = 0;
    let all: (() => void) | undefined;
    const done = new Promise<void>((resolve) => {
      all = resolve;
    });
    const server = await useServer({
      handler: ({ out }) => {
        let full = false;
        return {
          onMessage() {
            asked += 1;
            if (!full) full = !out.send(messageOf(Buffer.alloc(10_000)));
            if (asked === 10_000) all?.();
          },
          onDrained() {
            full = false;
          },
        };
      },
    });
    const call = (await server.client()).call(echoPath);
    call.stream.pause();
    for (let sent = 0; sent < 10_000; sent += 1) call.stream.write(enveloped(Buffer.alloc(100)));
    await done;
    expect(server.server.stats().messagesSent).toBeLessThan(1000);
    call.stream.close();
  });

  test("tells a handler that the wire is full, and when it is not any more", async () => {
    const server = await useServer();
    const call = (await server.client()).call(echoPath);
    call.stream.pause();
    call.stream.write(enveloped("x"));
    await server.event("stream-opened");
    const seen = server.calls[0];
    if (seen === undefined) throw new Error("no call");
    let taken = 1;
    while (seen.out.send(messageOf(Buffer.alloc(10_000)))) taken += 1;
    expect(seen.drained).toBe(0);
    call.stream.resume();
    while (call.messages.length < taken) await call.next();
    expect(seen.drained).toBe(1);
    call.stream.close();
  });

  test("cuts a stream that does not read when 8 MiB wait beyond the message in flight [S-LIM-3]", async () => {
    const server = await useServer();
    const client = await server.client();
    const call = client.call(echoPath);
    call.stream.pause();
    const seen = await server.event("stream-opened").then(() => server.calls[0]);
    if (seen === undefined) throw new Error("no call");
    const update = messageOf(Buffer.alloc(MiB));
    seen.out.send(messageOf(Buffer.alloc(20 * MiB)));
    for (let sent = 0; sent < 200; sent += 1) seen.out.send(update);
    expect(server.server.stats().messagesSent).toBe(9);
    expect(await seen.closed).toMatchObject({ code: StatusCode.RESOURCE_EXHAUSTED });
    expect(server.server.stats().cuts).toEqual({ "queued-bytes": 1 });
    expect((await call.result).rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    const other = client.call(echoPath);
    other.stream.write(enveloped("connection lives"));
    await other.next();
    other.stream.close();
  });

  test("cuts a stream whose full queue does not move for a minute, and keeps one that reads slowly [S-LIM-3]", async () => {
    const server = await useServer({ limits: { firstMessageMs: 1_000_000, pingMs: 1_000_000 } });
    const client = await server.client();
    const call = client.call(echoPath);
    call.stream.pause();
    await server.event("stream-opened");
    const seen = server.calls[0];
    if (seen === undefined) throw new Error("no call");
    for (let sent = 0; sent < 4; sent += 1) seen.out.send(messageOf(Buffer.alloc(MiB)));
    call.stream.resume();
    await call.next();
    call.stream.pause();
    server.clock.advance(59_999);
    expect(server.server.stats().cuts).toEqual({});
    server.clock.advance(60_001);
    expect(await seen.closed).toMatchObject({ code: StatusCode.RESOURCE_EXHAUSTED });
    expect(server.server.stats().cuts).toEqual({ "not-reading": 1 });
    expect((await call.result).rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  test("cuts an ended call whose client does not read the rest", async () => {
    const server = await useServer({ limits: { firstMessageMs: 1_000_000, pingMs: 1_000_000 } });
    const call = (await server.client()).call(echoPath);
    call.stream.pause();
    await server.event("stream-opened");
    const seen = server.calls[0];
    seen?.out.send(messageOf(Buffer.alloc(3 * MiB)));
    seen?.out.close({ code: StatusCode.ABORTED, message: "enough" });
    server.clock.advance(60_000);
    expect(await seen?.closed).toEqual({ code: StatusCode.ABORTED, message: "enough" });
  });

  test("tells the handler once that its client reset the call, or ended it late with an error as Envoy does [S-STREAM-10]", async () => {
    // Node's client half-closes the stream before it resets it.
    const server = await useServer({ handler: () => ({ onEnd: () => undefined }) });
    const client = await server.client();
    const call = client.call(echoPath);
    call.stream.write(enveloped("x"));
    await call.next();
    call.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    expect(await server.calls[0]?.closed).toEqual({
      code: StatusCode.CANCELLED,
      message: "the client reset the call",
    });

    const ended = client.call(echoPath);
    ended.stream.write(enveloped("x"));
    await ended.next();
    server.calls[1]?.out.close({ code: StatusCode.OK, message: "" });
    ended.stream.close(constants.NGHTTP2_INTERNAL_ERROR);
    expect(await server.calls[1]?.closed).toEqual({ code: StatusCode.OK, message: "" });
    expect(server.calls.map((seen) => seen.closedTimes)).toEqual([1, 1]);
  });

  test("tells every handler when the connection breaks off [S-STREAM-10]", async () => {
    const server = await useServer();
    const client = await server.client();
    const calls = Array.from({ length: 20 }, () => client.call(echoPath));
    for (const call of calls) call.stream.write(enveloped("x").subarray(0, 4));
    for (const call of calls.slice(0, 10)) call.stream.write(enveloped("x").subarray(4));
    await Promise.all(calls.slice(0, 10).map(async (call) => call.next()));
    client.breakOff();
    const statuses = await Promise.all(server.calls.map(async (seen) => seen.closed));
    expect(statuses).toEqual(
      Array.from({ length: 20 }, () => ({
        code: StatusCode.UNAVAILABLE,
        message: "the connection was lost",
      })),
    );
    await server.event("connection-closed");
    expect(server.server.stats()).toMatchObject({ connections: 0, streams: 0 });
    expect(server.clock.pending).toBe(0);
  });

  test.for(["accept", "onMessage", "onDrained", "onEnd", "admits", "onClosed"] as const)(
    "survives a handler that throws in %s: INTERNAL, a fixed text, an event",
    async (where) => {
      const bug = (): never => {
        throw new Error("secret of the bug");
      };
      const server = await useServer({
        handler: (seen) => {
          if (where === "accept") bug();
          return where === "onDrained"
            ? {
                onMessage: () => {
                  seen.out.send(messageOf(Buffer.alloc(100_000)));
                },
                onDrained: bug,
              }
            : { [where]: bug };
        },
      });
      const client = await server.client();
      const call = client.call(echoPath);
      call.stream.write(where === "admits" ? head(17 * MiB) : enveloped("x"));
      if (where === "onEnd" || where === "onClosed") call.stream.end();
      const { trailers } = await call.result;
      expect(trailers).toMatchObject(
        where === "onClosed"
          ? { "grpc-status": "0" }
          : { "grpc-status": "13", "grpc-message": "internal error" },
      );
      const fault = await server.event("fault");
      expect(fault.where).toBe(`${where} of ${echoPath}`);
      expect(String(fault.error)).toContain("secret of the bug");
      expect(server.server.stats().faults).toBe(1);
    },
  );
});

describe("pause() and resume()", () => {
  /** Reads one message at a time: the call is paused after each message. */
  const oneByOne = {
    handler: ({ out, messages }: SeenCall): Partial<ByteStreamHandler> => ({
      onMessage(message) {
        messages.push(Buffer.from(message));
        out.pause?.();
      },
      onEnd() {
        out.close({ code: StatusCode.OK, message: "" });
      },
    }),
  };

  test("stops between two messages of one packet, keeps their order, and the end of the requests behind them [S-LIM-2]", async () => {
    const server = await useServer(oneByOne);
    const client = await server.client();
    const call = client.call(echoPath);
    call.stream.end(Buffer.concat(["a", "b", "c"].map((text) => enveloped(text))));
    await server.event("stream-opened");
    for (let count = 1; count <= 3; count += 1) {
      await client.roundTrip();
      expect(server.calls[0]?.messages.map(String)).toEqual(["a", "b", "c"].slice(0, count));
      server.calls[0]?.out.resume?.();
    }
    expect((await call.result).trailers["grpc-status"]).toBe("0");
  });

  test("slows the client once its window is full, cuts nothing for it, and leaves other calls of the connection alone [S-LIM-2]", async () => {
    const server = await useServer({ ...oneByOne, limits: { pingMs: 100_000_000 } });
    const client = await server.client();
    const [slow, other] = [client.call(echoPath), client.call(echoPath)];
    let sent = 0;
    for (let i = 0; i < 64; i += 1)
      slow.stream.write(enveloped(Buffer.alloc(100_000)), () => {
        sent += 1;
      });
    other.stream.write(enveloped("x"));
    await server.event("stream-opened", () =>
      server.calls.every((seen) => seen.messages.length === 1),
    );
    await client.roundTrip();
    server.clock.advance(10_000_000);
    expect(server.server.stats()).toMatchObject({ streams: 2, cuts: {} });
    expect(sent).toBeLessThan(64);
    while ((server.calls[0]?.messages.length ?? 0) < 64) {
      server.calls[0]?.out.resume?.();
      server.clock.advance(1000);
      await client.roundTrip();
    }
    expect(server.calls[0]?.messages.every((message) => message.length === 100_000)).toBe(true);
    for (const call of [slow, other]) call.stream.close();
  });
});
