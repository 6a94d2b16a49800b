import { createServer, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { DeltaDiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { expect, it, onTestFinished } from "vitest";

import { flag, flagUrl } from "../test/use-script.ts";
import { useOrigin } from "../test/use-origin.ts";
import { createChannels, createClient, parseBootstrap } from "./index.ts";

const nameOf = (authority: string): string => `xdstp://${authority}/acme.v1.Flag/a`;

/** A gRPC message: `length` is the length in its header, which may differ from that of `bytes`. */
function framed(bytes: Uint8Array, { flags = 0, length = bytes.length } = {}): Buffer {
  const head = Buffer.alloc(5, flags);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, bytes]);
}

/** A frame of HTTP/2. */
function frame(type: number, stream: number, bytes = Buffer.of()): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(bytes.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, bytes]);
}

const [headers, settings, continuation] = [1, 4, 9];
/** `:status: 200`, without the end of the headers. */
const openHeaders = frame(headers, 1, Buffer.of(0x88));
/** `a: b...`, 1,000 bytes long, as a literal that is not added to the header table. */
const longHeader = Buffer.concat([
  Buffer.of(0x00, 0x01, 0x61, 0x7f, 0xe9, 0x06),
  Buffer.alloc(1_000, "b"),
]);

/** Writes until the peer closes the connection, and waits while the peer does not read. */
function flood(out: Socket | ServerHttp2Stream, next: () => Uint8Array): void {
  const go = (): void => {
    if (out.destroyed) return;
    let isRoom = true;
    for (let count = 0; count < 20 && isRoom; count++) isRoom = out.write(next());
    if (isRoom) setImmediate(go);
    else out.once("drain", () => setImmediate(go));
  };
  go();
}

function useSockets(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createTcpServer((socket) => {
    onTestFinished(() => {
      socket.destroy();
    });
    socket.on("error", () => undefined);
    onConnection(socket);
  });
  return listening(server);
}

/** Answers each call as soon as it has begun. */
function useCalls(onCall: (call: ServerHttp2Stream) => void): Promise<number> {
  const server = createServer();
  server.on("session", (session) => {
    onTestFinished(() => {
      session.destroy();
    });
    session.on("error", () => undefined);
  });
  server.on("stream", (call) => {
    call.on("error", () => undefined);
    call.respond({ ":status": 200, "content-type": "application/grpc" });
    onCall(call);
  });
  return listening(server);
}

async function listening(server: {
  listen(port: number, host: string, done: () => void): unknown;
  address(): AddressInfo | string | null;
  close(): unknown;
}): Promise<number> {
  onTestFinished(() => {
    server.close();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Returns responses with the subscribed name, each with a new version. */
function pushes(): () => Buffer {
  let count = 0;
  return () =>
    framed(
      toBinary(
        DeltaDiscoveryResponseSchema,
        create(DeltaDiscoveryResponseSchema, {
          typeUrl: flagUrl,
          nonce: String(++count),
          resources: [
            {
              name: nameOf("evil"),
              version: String(count),
              resource: { typeUrl: flagUrl, value: Buffer.from(`v${count}`) },
            },
          ],
        }),
      ),
    );
}

const kinds: Readonly<Record<string, readonly [() => Promise<number>, RegExp]>> = {
  "bytes that are not HTTP/2": [
    () => useSockets((socket) => socket.write(Buffer.alloc(100_000, 0xff))),
    /\[UNAVAILABLE\]/,
  ],
  "bytes that are not a message": [
    () => useCalls((call) => call.write(framed(Buffer.alloc(10, 0xff)))),
    /\[UNAVAILABLE\]/,
  ],
  "a compressed message": [
    () => useCalls((call) => call.write(framed(Buffer.of(1), { flags: 1 }))),
    /\[UNAVAILABLE\].*compress/,
  ],
  "a message of 4 GiB": [
    () =>
      useCalls((call) => {
        call.write(framed(Buffer.of(), { length: 0xffffffff }));
        flood(call, () => Buffer.alloc(16_384));
      }),
    /\[UNAVAILABLE\].*RESOURCE_EXHAUSTED/,
  ],
  "a header that does not end": [
    () =>
      useSockets((socket) => {
        socket.write(frame(settings, 0));
        socket.once("data", () => {
          socket.write(openHeaders);
          flood(socket, () => frame(continuation, 1, longHeader));
        });
      }),
    /\[UNAVAILABLE\]/,
  ],
  "changes without a pause": [
    () =>
      useCalls((call) => {
        call.once("data", () => {
          flood(call, pushes());
        });
      }),
    /^v\d+$/,
  ],
};

it.each(Object.entries(kinds))(
  "%s from the server of one authority: the watch of its name reports its state, and the watch of another authority receives each change [C-LIM-7]",
  async (_, [useEvil, expected]) => {
    const good = await useOrigin();
    const put = (text: string): void => {
      good.cache.put({ typeUrl: flagUrl, name: nameOf("good"), value: Buffer.from(text) });
    };
    put("0");
    const serverOf = (uri: string): object => ({
      server_uri: uri,
      channel_creds: [{ type: "insecure" }],
    });
    const client = createClient({
      bootstrap: parseBootstrap({
        xds_servers: [serverOf(good.uri)],
        node: { id: "me" },
        authorities: {
          evil: { xds_servers: [serverOf(`127.0.0.1:${await useEvil()}`)] },
          good: { xds_servers: [serverOf(good.uri)] },
        },
      }),
      channels: createChannels(),
    });
    onTestFinished(() => client.close());
    const evil = client.watch(flag, nameOf("evil"))[Symbol.asyncIterator]();
    const first = (await evil.next()).value;
    expect(first?.value ?? first?.error?.message).toMatch(expected);
    const others = client.watch(flag, nameOf("good"))[Symbol.asyncIterator]();
    expect((await others.next()).value).toMatchObject({ value: "0" });
    for (const text of ["1", "2", "3"]) {
      put(text);
      expect((await others.next()).value).toMatchObject({ value: text });
    }
    await client.close();
  },
);
