import { createServer as createHttp1Server } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { createServer as createTcpServer, type AddressInfo, type Server } from "node:net";
import { create, toBinary, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createCache } from "@xdstp/cache";
import { type Clock, systemClock } from "@xdstp/core";
import { concatBytes, lengthDelimited } from "@xdstp/core/wire";
import {
  ClientConfigSchema,
  ClientResourceStatus,
  ClientStatusDiscoveryService,
  ClientStatusResponseSchema,
} from "@xdstp/protos/status";
import { createServer, type ServerOptions, type XdsServer } from "@xdstp/server";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDeltaStream, type DeltaStream } from "../test/grpc-stream.ts";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";
import { leaveScreen, takeScreen } from "./style.ts";

const flag = "type.googleapis.com/acme.v1.Flag";

type ClientConfigInit = MessageInitShape<typeof ClientConfigSchema>;

interface Subject {
  readonly server: XdsServer;
  readonly port: number;
  readonly put: (text: string) => void;
  /** Connects a client that has subscribed to flags and has not answered. */
  readonly client: (id: string) => Promise<DeltaStream>;
}

async function useServer(options: Partial<ServerOptions> = {}, at = 0): Promise<Subject> {
  const cache = createCache();
  const put = (text: string): void => {
    cache.put({ typeUrl: flag, name: "dark", value: Buffer.from(text) });
  };
  put("1");
  const server = createServer({ source: cache, ...options });
  onTestFinished(async () => {
    await server.close({ graceMs: 1 });
  });
  const { port } = await server.listen({ port: at });
  const client = async (id: string): Promise<DeltaStream> => {
    const stream = await openDeltaStream(port, id);
    onTestFinished(() => {
      stream.close();
    });
    stream.send({ typeUrl: flag, resourceNamesSubscribe: ["dark", "gone"] });
    await stream.arrived();
    return stream;
  };
  return { server, port, put, client };
}

/** Resolves when the server has reported an event of this kind. */
async function heard(
  server: XdsServer,
  kind: "ack" | "nack" | "disconnect" | "push",
): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = server.events((event) => {
      if (event.kind !== kind) return;
      stop();
      resolve();
    });
  });
}

async function accept({ server }: Subject, stream: DeltaStream): Promise<void> {
  const done = heard(server, "ack");
  stream.ack(stream.next());
  await done;
}

async function reject({ server, put }: Subject, stream: DeltaStream, text: string): Promise<void> {
  put("2");
  await stream.arrived();
  const done = heard(server, "nack");
  stream.nack(stream.next(), text);
  await done;
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Creates a clock on which the pauses between requests end when a test calls `next`. */
function useClock(): { readonly clock: Clock; readonly next: () => Promise<void> } {
  const pauses: (() => void)[] = [];
  let wake: () => void = () => undefined;
  return {
    clock: {
      now: () => 0,
      wallTime: () => 0,
      after(ms, callback) {
        if (ms !== 1_000) return systemClock.after(ms, callback);
        pauses.push(callback);
        wake();
        return { cancel: () => undefined };
      },
    },
    async next() {
      while (pauses.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      pauses.shift()?.();
    },
  };
}

const withoutAge = (line: string): string => line.replace(/ \d+s( |$)/, " 0s$1");

describe("xdstp status", () => {
  it("shows each type of each client, those who reject on top with text and both versions [B-CSDS-1] [S-CSDS-4]", async () => {
    const subject = await useServer();
    await accept(subject, await subject.client("good"));
    const bad = await subject.client("bad");
    await accept(subject, bad);
    await reject(subject, bad, "no such\u001b[2J flag");
    const { code, out, err } = await runToEnd(["status", `127.0.0.1:${subject.port}`]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const [head, bad1 = "", good = "", end] = out.split("\n").map(withoutAge);
    expect([head, end]).toEqual([
      expect.stringMatching(/^CLIENT +TYPE +STATE +VERSION +AGE +NACK$/),
      "",
    ]);
    const [, held = "", rejected] =
      /^bad +acme\.v1\.Flag +NACKED +(\w{8,11}) > (\w{8,11}) +0s +no such\\u\{1b\}\[2J flag$/.exec(
        bad1,
      ) ?? [];
    expect(held).not.toBe(rejected);
    expect(good).toMatch(new RegExp(`^good +acme\\.v1\\.Flag +STALE +${held} +0s$`));
  });

  it("shows only clients whose id begins so, with --node [B-CSDS-5]", async () => {
    const subject = await useServer();
    for (const id of ["web-1", "api-1"]) await subject.client(id);
    const { out } = await runToEnd(["status", `127.0.0.1:${subject.port}`, "--node", "web"]);
    expect(out).toContain("web-1");
    expect(out).not.toContain("api-1");
  });

  it("says that no client is connected", async () => {
    const { port } = await useServer();
    for (const host of ["127.0.0.1", "LocalHost"])
      expect(await runToEnd(["status", `${host}:${port}`])).toEqual({
        code: 0,
        out: "no client is connected\n",
        err: "",
      });
  });

  it("ends with 1 for a client that rejects, where that is wanted", async () => {
    const subject = await useServer();
    const bad = await subject.client("bad");
    expect((await runToEnd(["status", `127.0.0.1:${subject.port}`, "--fail-on-nack"])).code).toBe(
      0,
    );
    await accept(subject, bad);
    await reject(subject, bad, "no");
    expect((await runToEnd(["status", `127.0.0.1:${subject.port}`, "--fail-on-nack"])).code).toBe(
      1,
    );
  });

  it("writes one object of JSON with --json, name by name, texts escaped", async () => {
    const subject = await useServer();
    const bad = await subject.client("bad");
    await accept(subject, bad);
    await reject(subject, bad, "no\u009b2J");
    const { code, out } = await runToEnd(["status", `127.0.0.1:${subject.port}`, "--json"]);
    expect(code).toBe(0);
    expect(out).not.toMatch(/[^\P{Cc}\n]/u);
    expect(JSON.parse(out)).toMatchObject({
      server: `127.0.0.1:${subject.port}`,
      clients: [
        {
          id: "bad",
          types: [
            {
              typeUrl: flag,
              state: "NACKED",
              resources: [
                {
                  name: "dark",
                  state: "NACKED",
                  version: expect.stringMatching(/^\w{8,11}$/) as string,
                  error: {
                    message: "no\u009b2J",
                    version: expect.stringMatching(/^\w{8,11}$/) as string,
                  },
                },
                { name: "gone", state: "NOT_SENT", version: "" },
              ],
            },
          ],
        },
      ],
    });
  });
});

describe("xdstp status --watch", () => {
  it("writes a line for each change elsewhere than on a terminal, waits for a server that is away, and ends with 0", async () => {
    const subject = await useServer();
    const { clock, next } = useClock();
    const { stdout, exit, signal } = useCli(["status", `127.0.0.1:${subject.port}`, "--watch"], {
      clock,
    });
    const stream = await subject.client("e1");
    await next();
    expect(await stdout.line(/e1/)).toBe("1970-01-01T00:00:00.000Z e1 acme.v1.Flag STALE -");
    await accept(subject, stream);
    await next();
    await stdout.line(/SYNCED \w{8,11}/);
    await next();
    const gone = heard(subject.server, "disconnect");
    stream.close();
    await gone;
    await next();
    await stdout.line(/e1 acme\.v1\.Flag GONE/);
    await subject.server.close({ graceMs: 1 });
    await next();
    await stdout.line(/does not accept connections/);
    const again = await useServer({}, subject.port);
    await again.client("e2");
    await next();
    await stdout.line(/e2 acme\.v1\.Flag STALE/);
    signal("SIGINT");
    expect(await exit).toBe(0);
    expect(stdout.text.trimEnd().split("\n")).toHaveLength(5);
  });

  it("draws over itself on a terminal, and gives the terminal back", async () => {
    const subject = await useServer();
    await subject.client("e1");
    const { clock, next } = useClock();
    const { stdout, exit, signal } = useCli(["status", `127.0.0.1:${subject.port}`, "--watch"], {
      clock,
      env: { NO_COLOR: "1" },
      terminal: () => ({ columns: 60, rows: 4 }),
    });
    await next();
    await next();
    signal("SIGTERM");
    expect(await exit).toBe(0);
    expect(stdout.text.startsWith(takeScreen)).toBe(true);
    expect(stdout.text.endsWith(leaveScreen)).toBe(true);
    const pictures = stdout.text.split("\u001b[H").slice(1);
    expect(pictures.length).toBeGreaterThanOrEqual(2);
    for (const picture of pictures) {
      expect(picture).toContain(`xdstp status 127.0.0.1:${subject.port}  1 client`);
      expect(picture.split("\r\n").length).toBeLessThanOrEqual(4);
    }
  });

  it("writes an object for each change with --json", async () => {
    const subject = await useServer();
    const { clock, next } = useClock();
    const { stdout, exit, signal } = useCli(
      ["status", `127.0.0.1:${subject.port}`, "--watch", "--json"],
      { clock },
    );
    await next();
    await next();
    await subject.client("e1");
    await next();
    await stdout.line(/"e1"/);
    signal("SIGINT");
    await exit;
    expect(
      stdout.text
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as { clients: unknown[] }).clients.length),
    ).toEqual([0, 1]);
  });
});

describe("xdstp status of other servers", () => {
  async function useRoutes(routes: (router: ConnectRouter) => void): Promise<number> {
    const server = createHttp2Server(connectNodeAdapter({ routes }));
    onTestFinished(() => {
      server.close();
    });
    return portOf(server);
  }

  it("asks by the stream where that is all there is, and shows what a gRPC program says of itself", async () => {
    const port = await useRoutes((router) => {
      router.service(ClientStatusDiscoveryService, {
        fetchClientStatus: () => {
          throw new ConnectError("stream only", Code.Unimplemented);
        },
        async *streamClientStatus(requests) {
          for await (const { excludeResourceContents } of requests) {
            expect(excludeResourceContents).toBe(true);
            const resource = (
              name: string,
              clientStatus: ClientResourceStatus,
              version: string,
              details = "",
            ): object => ({
              typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
              name,
              clientStatus,
              versionInfo: version,
              ...(details !== "" && { errorState: { details, versionInfo: "9" } }),
            });
            yield {
              config: ["a", "b"].map((clientScope) => ({
                node: { id: "app" },
                clientScope,
                genericXdsConfigs: [
                  resource("x", ClientResourceStatus.ACKED, "7"),
                  resource("y", ClientResourceStatus.NACKED, "8", "bad"),
                  resource("z", ClientResourceStatus.DOES_NOT_EXIST, ""),
                ],
              })),
            };
          }
        },
      });
    });
    const { code, out } = await runToEnd(["status", `127.0.0.1:${port}`]);
    expect(code).toBe(0);
    expect(out.split("\n").slice(1)).toEqual([
      "app (a)  clusters  NACKED  7 +1 > 9  -    bad; 1 name not there",
      "app (b)  clusters  NACKED  7 +1 > 9  -    bad; 1 name not there",
      "",
    ]);
  });

  it("shows the old form of servers without the generic one", async () => {
    const port = await useRoutes((router) => {
      router.service(ClientStatusDiscoveryService, {
        fetchClientStatus: () =>
          create(ClientStatusResponseSchema, {
            config: [
              {
                node: { id: "old" },
                xdsConfig: [
                  {
                    status: 1,
                    perXdsConfig: { case: "clusterConfig" as const, value: { versionInfo: "5" } },
                  },
                  { status: 4, perXdsConfig: { case: "endpointConfig" as const, value: {} } },
                  {},
                ],
              },
            ],
          }),
      });
    });
    expect((await runToEnd(["status", `127.0.0.1:${port}`])).out.split("\n").slice(1)).toEqual([
      "old     endpoints  NACKED  -        -",
      "old     clusters   SYNCED  5        -",
      "",
    ]);
  });

  it("rejects an answer above --channel-limit maxMessageBytes, and says how it is accepted", async () => {
    const port = await useRoutes((router) => {
      router.service(ClientStatusDiscoveryService, {
        fetchClientStatus: () =>
          create(ClientStatusResponseSchema, { config: [{ node: { id: "n".repeat(100) } }] }),
      });
    });
    const limited = async (limit: string): Promise<Awaited<ReturnType<typeof runToEnd>>> =>
      runToEnd(["status", `127.0.0.1:${port}`, "--channel-limit", limit]);
    expect(await limited("maxMessageBytes=50")).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /has too much to tell: .*; larger answers are accepted with --channel-limit maxMessageBytes=NUMBER\n$/,
      ) as string,
    });
    expect(await limited("maxMessageBytes=500")).toMatchObject({ code: 0, err: "" });
    expect(await limited("pingMs=500")).toMatchObject({
      code: 2,
      err: expect.stringContaining(
        "--channel-limit pingMs: this limit does not exist; the limits are maxMessageBytes",
      ) as string,
    });
  });

  it.each([
    [Code.PermissionDenied, "operators only", "does not tell this client: operators only"],
    [Code.ResourceExhausted, "too large", "has too much to tell: too large"],
    [
      Code.Unavailable,
      "the first complete state is not loaded yet",
      "is not ready to answer: the first complete state is not loaded yet",
    ],
    [Code.Internal, "oops", "has answered with an error: oops [Internal]"],
  ])("tells why a server does not answer (%s)", async (code, text, said) => {
    const port = await useRoutes((router) => {
      router.service(ClientStatusDiscoveryService, {
        fetchClientStatus: () => {
          throw new ConnectError(text, code);
        },
      });
    });
    expect(await runToEnd(["status", `127.0.0.1:${port}`])).toEqual({
      code: 1,
      out: "",
      err: `xdstp status: 127.0.0.1:${port} ${said}\n`,
    });
  });
});

describe("xdstp status of answers of any size", () => {
  const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
  const rejected = (name: string, details: string) => ({
    genericXdsConfigs: [
      {
        typeUrl: clusterUrl,
        name,
        clientStatus: ClientResourceStatus.NACKED,
        errorState: { details, versionInfo: "9" },
      },
    ],
  });
  const nested = (levels: number): JsonObject => {
    let object: JsonObject = {};
    for (let level = 0; level < levels; level++) object = { a: object };
    return object;
  };
  /** Starts a server that answers with these bytes. */
  const useAnswer = async (answer: Uint8Array): Promise<number> => {
    const server = createHttp2Server();
    server.on("stream", (stream) => {
      stream.respond({ "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => {
        stream.sendTrailers({ "grpc-status": "0" });
      });
      const head = Buffer.alloc(5);
      head.writeUInt32BE(answer.length, 1);
      stream.end(Buffer.concat([head, answer]));
    });
    onTestFinished(() => {
      server.close();
    });
    return portOf(server);
  };
  const answerOf = (config: ClientConfigInit): Uint8Array =>
    toBinary(
      ClientStatusResponseSchema,
      create(ClientStatusResponseSchema, { config: [create(ClientConfigSchema, config)] }),
    );
  /** `levels` objects, each the only field of the next one. */
  const nestedBytes = (levels: number): Uint8Array => {
    let struct: Uint8Array = new Uint8Array();
    for (let level = 0; level < levels; level++)
      struct = lengthDelimited(
        1,
        concatBytes([lengthDelimited(1, "a"), lengthDelimited(2, lengthDelimited(5, struct))]),
      );
    return lengthDelimited(1, lengthDelimited(1, lengthDelimited(3, struct)));
  };
  const many = Array.from({ length: 100_000 }, (_, at) => `f${at}`);

  it.each<[string, ClientConfigInit]>([
    ["one string of 10 MB", rejected("x", "x".repeat(10_000_000))],
    ["a name of 10 MB", rejected("x".repeat(10_000_000), "bad")],
    ["a node id of 10 MB", { node: { id: "x".repeat(10_000_000) }, ...rejected("x", "bad") }],
    [
      "100,000 fields in one message",
      {
        node: { metadata: Object.fromEntries(many.map((field) => [field, "x"])) },
        ...rejected("x", "bad"),
      },
    ],
    [
      "100,000 resources",
      { genericXdsConfigs: many.map((name) => ({ typeUrl: clusterUrl, name, clientStatus: 5 })) },
    ],
    ["30 levels", { node: { metadata: nested(30) }, ...rejected("x", "bad") }],
  ])("shows %s", async (_, config) => {
    const port = await useAnswer(answerOf(config));
    const text = await runToEnd(["status", `127.0.0.1:${port}`]);
    const json = await runToEnd(["status", `127.0.0.1:${port}`, "--json"]);
    expect([text.code, text.err, json.code, json.err]).toEqual([0, "", 0, ""]);
    expect(text.out).toContain("clusters");
    expect(JSON.parse(json.out)).toMatchObject({ clients: [{}] });
  });

  it.each([
    ["200 levels", nestedBytes(200), "maximum recursion depth"],
    ["3,000 levels", nestedBytes(3_000), "maximum recursion depth"],
    ["bytes that are not a message", Buffer.from([10, 80, 1, 2]), "illegal tag"],
  ])("reports that %s cannot be decoded, without a hint about TLS", async (_, answer, why) => {
    const port = await useAnswer(answer);
    const { code, out, err } = await runToEnd(["status", `127.0.0.1:${port}`]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(
      new RegExp(
        `^xdstp status: 127\\.0\\.0\\.1:${port} has sent client status that cannot be decoded: .*${why}.*; a message in it is damaged, or nests too deeply\n$`,
      ),
    );
  });
});

describe("xdstp status, what it cannot do", () => {
  async function fails(port: number, ...more: readonly string[]): Promise<string> {
    const { code, out, err } = await runToEnd(["status", `127.0.0.1:${port}`, ...more]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.match(/\n/g)).toHaveLength(1);
    return err.replace(`xdstp status: 127.0.0.1:${port} `, "").trimEnd();
  }

  it("says that nothing listens there", async () => {
    const server = createTcpServer();
    const port = await portOf(server);
    await new Promise((resolve) => {
      server.close(resolve);
    });
    expect(await fails(port)).toBe("does not accept connections; is a server running there?");
  });

  it("gives up on a server that does not answer in time", async () => {
    const server = createTcpServer(() => undefined);
    const port = await portOf(server);
    onTestFinished(() => {
      server.close();
    });
    expect(await fails(port, "--timeout", "0.1")).toBe("has not answered within 0.1 s");
  });

  it("names a server that offers no client status", async () => {
    const { port } = await useServer({ clientStatus: false });
    expect(await fails(port)).toBe(
      "does not serve client status: envoy.service.status.v3.ClientStatusDiscoveryService is not offered there",
    );
  });

  it("says that a web server is not a gRPC server", async () => {
    const server = createHttp1Server();
    const port = await portOf(server);
    onTestFinished(() => {
      server.close();
    });
    expect(await fails(port)).toMatch(
      /^does not answer as a gRPC server does: .*; if it requires TLS, see --tls$/,
    );
  });

  it.each([
    [[], "which server?"],
    [["127.0.0.1"], 'the server "127.0.0.1": give HOST:PORT with a port from 1 to 65535'],
    [["127.0.0.1:1", "more"], '"more" is one argument too many; one server is asked'],
    [["127.0.0.1:1", "--timeout", "soon"], '--timeout "soon": give seconds, up to 3600'],
    [["127.0.0.1:1", "--timeout", "0"], '--timeout "0": give seconds, up to 3600'],
    [["127.0.0.1:1", "--tls-cert", "x"], "a certificate needs both --tls-cert and --tls-key"],
  ])("shows the usage when it is called the wrong way: %j", async (argv, said) => {
    const { code, err } = await runToEnd(["status", ...argv]);
    expect(code).toBe(2);
    expect(err).toContain(`xdstp status: ${said}`);
    expect(err).toContain("\nUsage: xdstp status [HOST:PORT]");
  });
});

describe("xdstp status --tls", () => {
  it("checks the certificate of the server, shows its own, and names what is missing", async () => {
    const authority = createTestAuthority();
    const serverFiles = authority.issue({ name: "server", dnsNames: ["localhost"] });
    const own = authority.issue({ name: "operator" });
    const { port } = await useServer({
      tls: { cert: serverFiles.cert, key: serverFiles.key, clientCa: authority.cert },
    });
    const { dir } = useFolder({
      "ca.pem": authority.cert,
      "cert.pem": own.cert,
      "key.pem": own.key,
    });
    const asked = async (
      ...more: readonly string[]
    ): Promise<{ readonly code: number; readonly out: string; readonly err: string }> =>
      runToEnd(["status", `localhost:${port}`, ...more], { cwd: dir });
    expect(
      await asked("--tls-ca", "ca.pem", "--tls-cert", "cert.pem", "--tls-key", "key.pem"),
    ).toMatchObject({ code: 0, out: "no client is connected\n" });
    expect((await asked("--tls")).err).toMatch(
      /cannot be trusted or does not trust this client \(.*\); see --tls-ca/,
    );
    expect(await asked("--tls-ca", "ca.pem")).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        "wants a client certificate that it trusts: give one with --tls-cert and --tls-key",
      ) as string,
    });
    expect((await asked("--tls-ca", "none.pem")).err).toMatch(
      /--tls-ca .*none\.pem: the file does not exist; give a PEM file/,
    );
  });
});
