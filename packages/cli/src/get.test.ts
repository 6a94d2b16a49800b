import dns from "node:dns";
import { create, toBinary } from "@bufbuild/protobuf";
import { CollectionEntrySchema, ListCollectionSchema } from "@xdstp/protos/xds";
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { createFakeClock, createTestAuthority } from "@xdstp/testing";
import { readFolder } from "@xdstp/folder";
import { versionOf } from "@xdstp/protocol/server";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { load } from "js-yaml";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createRawServer } from "../test/raw-server.ts";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";
import { clusterUrl, encode, secretUrl, useOrigin, type Origin } from "../test/use-origin.ts";

const blue = "xdstp://acme/envoy.config.cluster.v3.Cluster/blue";
const flagUrl = "type.googleapis.com/acme.v1.Flag";

async function got(
  origin: Pick<Origin, "address">,
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  return runToEnd(["get", ...args, "--server", origin.address]);
}

/** The version of all clusters, as a server shows it to SotW and delta clients. */
const servedVersion = (origin: Origin): string =>
  versionOf(origin.cache.topic(clusterUrl, { name: "*" }).hash);

/** Starts a proxy to a server that delays bytes by `delayMs` milliseconds in each direction. */
async function useSlowLink(address: string, delayMs: number): Promise<string> {
  const late = (from: Socket, to: Socket): void => {
    from.on("error", () => undefined);
    from.on("data", (bytes) => {
      setTimeout(() => to.write(bytes), delayMs);
    });
    from.on("close", () => {
      to.destroy();
    });
  };
  const link = createTcpServer((near) => {
    const far = connect(Number(address.split(":").at(-1)), "127.0.0.1");
    late(near, far);
    late(far, near);
  });
  await new Promise<void>((resolve) => {
    link.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    link.close();
  });
  return `127.0.0.1:${(link.address() as AddressInfo).port}`;
}

const timeless = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/127\.0\.0\.1:\d+/g, "SERVER")
    .replaceAll(/(?<=version: )[\w-]{22}$|(?<=^\S+ {2,})[\w-]{8}(?= {2})/gm, "HASH");

it("says at once that SotW cannot ask for a glob of a type without full state [C-GLOB-10]", async () => {
  const { code, err } = await runToEnd(
    [
      "get",
      "xdstp://acme/envoy.config.endpoint.v3.ClusterLoadAssignment/*",
      "--sotw",
      "--server",
      "127.0.0.1:1",
    ],
    { clock: createFakeClock() },
  );
  expect(code).toBe(1);
  expect(err).toContain("SotW cannot report removals from a glob of this type");
});

it("takes no second form next to --json", async () => {
  const { code, err } = await runToEnd(
    ["get", "*", "--type", "clusters", "--json", "--output", "yaml"],
    { env: {} },
  );
  expect(code).toBe(2);
  expect(err).toContain("--json and --output yaml are two forms of output; give one of them");
});

it("asks by DNS alone where --dns is given without a bootstrap [C-AUTH-5]", async () => {
  const none = (): Promise<never> =>
    Promise.reject(Object.assign(new Error("none"), { code: "ENOTFOUND" }));
  const dns = { resolve4: none, resolve6: none, resolveSrv: none };
  expect(
    (
      await runToEnd(["get", "xdstp://b.example/envoy.config.cluster.v3.Cluster/x", "--dns"], {
        dns,
        env: {},
      })
    ).err,
  ).toContain("DNS has no SRV _xds._tcp.b.example");
});

it("shows all entries of a list as it came", async () => {
  const origin = await useOrigin();
  const listType = "envoy.config.cluster.v3.ClusterCollection";
  const entries = ["one", "two"].map((name) =>
    create(CollectionEntrySchema, {
      resourceSpecifier: {
        case: "inlineEntry",
        value: {
          name,
          version: "1",
          resource: {
            typeUrl: clusterUrl,
            value: encode("envoy.config.cluster.v3.Cluster", { name }),
          },
        },
      },
    }),
  );
  origin.cache.put({
    typeUrl: `type.googleapis.com/${listType}`,
    name: `xdstp://acme/${listType}/all`,
    value: toBinary(ListCollectionSchema, create(ListCollectionSchema, { entries })),
  });
  const { out, err } = await got(
    origin,
    `xdstp://acme/${listType}/all`,
    "--type",
    listType,
    "--output",
    "json",
  );
  expect(err).toBe("");
  expect(JSON.parse(out)).toMatchObject({
    resource: {
      "@type": `type.googleapis.com/${listType}`,
      entries: [{ inline_entry: { name: "one" } }, { inline_entry: { name: "two" } }],
    },
  });
});

it("shows a string of 3.9 MB", async () => {
  const origin = await useOrigin({}, 0);
  origin.cache.put({
    typeUrl: clusterUrl,
    name: "big",
    value: encode("envoy.config.cluster.v3.Cluster", {
      name: "big",
      altStatName: "x".repeat(3_900_000),
    }),
  });
  const { code, out, err } = await got(origin, "big", "--type", "clusters");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.length).toBeGreaterThan(3_900_000);
});

describe.each(["delta", "sotw"] as const)("xdstp get (%s)", (variant) => {
  it("shows a resource as YAML with version, time, authority and server in its head", async () => {
    const origin = await useOrigin();
    origin.cluster(blue, 3);
    const { code, out, err } = await got(origin, blue, `--${variant}`);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(timeless(out)).toBe(
      [
        `# name: ${blue}`,
        "# version: HASH",
        "# received: TIME (xDS does not say how old it is)",
        "# authority: acme",
        `# server: SERVER (xdstp), ${variant}`,
        `'@type': ${clusterUrl}`,
        `name: ${blue}`,
        "connect_timeout: 3s",
        "",
      ].join("\n"),
    );
  });

  it("takes an opaque name with its type, and shows JSON for programs", async () => {
    const origin = await useOrigin();
    origin.cluster("blue", 3);
    const { code, out } = await got(origin, "blue", "--type", "cluster", "--json", `--${variant}`);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      schema: 1,
      server: origin.address,
      controlPlane: "xdstp",
      variant,
      received: expect.any(String) as string,
      name: "blue",
      type: clusterUrl,
      version: expect.any(String) as string,
      authority: null,
      bytes: 10,
      resource: { "@type": clusterUrl, name: "blue", connect_timeout: "3s" },
    });
  });

  it("lists the members of a type, and shows them as documents", async () => {
    const origin = await useOrigin();
    for (const name of ["a", "bb"]) origin.cluster(name);
    const { code, out } = await got(origin, "*", "--type", "clusters", `--${variant}`);
    expect({ code, out: timeless(out) }).toEqual({
      code: 0,
      out: `NAME      VERSION   BYTES\na         HASH      7\nbb        HASH      8\nclusters version ${servedVersion(origin)}\n`,
    });
    const { out: yaml } = await got(
      origin,
      "*",
      "--type",
      "clusters",
      "--output",
      "yaml",
      `--${variant}`,
    );
    expect(yaml.split("---\n").map((one) => (load(one) as { readonly name: string }).name)).toEqual(
      ["a", "bb"],
    );
    const { out: json } = await got(
      origin,
      "*",
      "--type",
      "clusters",
      "--output",
      "json",
      `--${variant}`,
    );
    expect(JSON.parse(json)).toMatchObject({
      name: "*",
      version: servedVersion(origin),
      type: clusterUrl,
      complete: true,
      resources: [{ name: "a" }, { name: "bb" }],
    });
  });

  it("rejects on purpose, and shows that the server was told", async () => {
    const origin = await useOrigin();
    origin.cluster("blue");
    const heard = new Promise<string>((resolve) => {
      origin.server.events((event) => {
        if (event.kind === "nack") resolve(event.error.message);
      });
    });
    const { code, out } = await got(
      origin,
      "blue",
      "--type",
      "clusters",
      "--nack",
      "not today",
      `--${variant}`,
    );
    expect(code).toBe(0);
    expect(timeless(out)).toMatch(
      /^# SERVER was sent a NACK of nonce \w+: not today\n# name: blue\n(?:#.*\n)+'@type': \S+Cluster\nname: blue\n/,
    );
    expect(await heard).toContain("not today");
  });

  it("shows what it rejects on purpose in the form that is asked for, without secrets", async () => {
    const origin = await useOrigin();
    origin.cache.put({
      typeUrl: secretUrl,
      name: "pair",
      value: encode("envoy.extensions.transport_sockets.tls.v3.Secret", {
        name: "pair",
        type: {
          case: "tlsCertificate",
          value: { privateKey: { specifier: { case: "inlineString", value: "dearly private" } } },
        },
      }),
    });
    const ask = ["--type", "secrets", "--nack", "not today", `--${variant}`];
    const json = await got(origin, "pair", ...ask, "--json");
    expect(json.out).not.toContain("dearly private");
    expect(JSON.parse(json.out)).toMatchObject({
      name: "pair",
      type: secretUrl,
      version: expect.stringMatching(/^[\w-]+$/) as string,
      nack: { nonce: expect.any(String) as string, reason: "not today" },
      resource: { name: "pair" },
    });
    expect((await got(origin, "pair", ...ask, "--json", "--show-secrets")).out).toContain(
      "dearly private",
    );
    expect(timeless((await got(origin, "*", ...ask, "--output", "table")).out)).toMatch(
      /^SERVER was sent a NACK of nonce \w+: not today\nNAME {2,}VERSION {2,}BYTES\npair {2,}\S+ {2,}\d+\nsecrets version \S+\n$/,
    );
  });

  it("shows what cannot be decoded as rejected, with --nack and --json", async () => {
    const origin = await useOrigin();
    origin.cache.put({ typeUrl: clusterUrl, name: "bad", value: Uint8Array.of(0xff) });
    const { code, out } = await got(
      origin,
      ...["bad", "--type", "clusters", "--nack", "not today", "--json", `--${variant}`],
    );
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      name: "bad",
      state: "rejected",
      reason: expect.any(String) as string,
      nack: { reason: "not today" },
    });
  });

  it("says what it has heard when the time is over", async () => {
    const clock = createFakeClock();
    const server = await createRawServer(() => {
      clock.advance(300);
    });
    const { code, err } = await runToEnd(
      [
        "get",
        "blue",
        "--type",
        "clusters",
        "--server",
        server.address,
        "--timeout",
        "0.3",
        `--${variant}`,
      ],
      { clock },
    );
    expect({ code, err: timeless(err) }).toEqual({
      code: 1,
      err: 'xdstp get: "blue" has not come within 0.3 s: SERVER is connected and has not answered\n',
    });
  });

  it("rejects what cannot be read, and says what is wrong with it", async () => {
    const origin = await useOrigin();
    origin.cache.put({
      typeUrl: clusterUrl,
      name: "broken",
      value: Uint8Array.from([10, 6, 98, 114, 111, 107, 101, 110, 34, 3, 8, 128]),
    });
    const { code, err } = await got(origin, "broken", "--type", "clusters", `--${variant}`);
    expect({ code, lines: err.split("\n").length }).toEqual({ code: 1, lines: 2 });
    expect(timeless(err)).toMatch(/^xdstp get: "broken" of SERVER was rejected: .*\n$/);
  });
});

describe("xdstp get", () => {
  it("shows all members of a long answer over a slow link, whose parts need a round trip each [C-GLOB-9]", async () => {
    const origin = await useOrigin();
    for (let n = 0; n < 12; n += 1)
      origin.cache.put({
        typeUrl: clusterUrl,
        name: `c${n}`,
        value: encode("envoy.config.cluster.v3.Cluster", {
          name: `c${n}`,
          altStatName: "x".repeat(1_000_000),
        }),
      });
    const { code, out } = await got(
      { address: await useSlowLink(origin.address, 300) },
      "*",
      "--type",
      "clusters",
      "--output",
      "table",
    );
    expect([code, out.split("\n").filter((line) => /^c\d/.test(line)).length]).toEqual([0, 12]);
  });

  it("leaves signals to the system while it writes, since the text of many members takes seconds", async () => {
    const origin = await useOrigin();
    origin.cluster("blue");
    const listeners = new Set<unknown>();
    const listening: number[] = [];
    const { exit } = useCli(["get", "blue", "--type", "clusters", "--server", origin.address], {
      stdout: {
        write: () => {
          listening.push(listeners.size);
        },
      },
      onSignal(listener) {
        listeners.add(listener);
        return () => {
          listeners.delete(listener);
        };
      },
    });
    expect([await exit, listening]).toEqual([0, [0]]);
  });

  it("lists the members of a glob", async () => {
    const origin = await useOrigin();
    for (const name of ["eu/a", "eu/b", "us/a"])
      origin.cluster(`xdstp://acme/envoy.config.cluster.v3.Cluster/${name}`);
    const { out } = await got(origin, "xdstp://acme/envoy.config.cluster.v3.Cluster/eu/*");
    expect(out.split("\n").map((line) => line.split(" ")[0])).toEqual([
      "NAME",
      "xdstp://acme/envoy.config.cluster.v3.Cluster/eu/a",
      "xdstp://acme/envoy.config.cluster.v3.Cluster/eu/b",
      "clusters",
      "",
    ]);
    expect((await got(origin, "xdstp://acme/envoy.config.cluster.v3.Cluster/asia/*")).out).toBe(
      "xdstp://acme/envoy.config.cluster.v3.Cluster/asia/* has no members among the clusters\n",
    );
  });

  it("ends with an error where a collection has more members than are allowed, and shows them where that is allowed", async () => {
    const origin = await useOrigin();
    for (const name of ["a", "b", "c"]) origin.cluster(name);
    for (const variant of ["--delta", "--sotw"]) {
      const { code, out, err } = await got(
        origin,
        "*",
        "--type",
        "clusters",
        "--max-members",
        "2",
        variant,
      );
      expect({ code, out, err }).toEqual({
        code: 1,
        out: "",
        err: 'xdstp get: "*" has more than 2 members; ask for a part of it, or allow more with --max-members\n',
      });
      expect(
        (await got(origin, "*", "--type", "clusters", "--max-members", "3", variant)).code,
      ).toBe(0);
    }
  });

  it("fits the table into a terminal of 80 columns", async () => {
    const origin = await useOrigin();
    origin.cluster(`xdstp://acme/envoy.config.cluster.v3.Cluster/${"long/".repeat(20)}end`);
    const { out } = await runToEnd(["get", "*", "--type", "clusters", "--server", origin.address], {
      terminal: () => ({ columns: 80, rows: 24 }),
      env: { NO_COLOR: "1" },
    });
    expect(timeless(out).split("\n")).toEqual([
      "NAME                                                             VERSION   BYTES",
      "xdstp://acme/envoy.config.cluster.v3.Cluster/long/long/long/lo…  HASH    155",
      `clusters version ${servedVersion(origin)}`,
      "",
    ]);
  });

  it("writes YAML that a folder takes as it is", async () => {
    const origin = await useOrigin();
    for (const name of [blue, "plain"]) origin.cluster(name, 3);
    const folder = useFolder();
    folder.write({
      "acme/clusters/blue.yaml": (await got(origin, blue)).out,
      "_opaque/clusters/plain.yaml": (await got(origin, "plain", "--type", "clusters")).out,
    });
    const { resources, problems } = await readFolder({
      dir: folder.dir,
      registry: envoyRegistry(),
    });
    expect({ problems, names: resources.map(({ resource }) => resource.name) }).toEqual({
      problems: [],
      names: ["plain", blue],
    });
  });

  it("says that there is no such name", async () => {
    const origin = await useOrigin();
    const [opaque, named] = await Promise.all([
      got(origin, "red", "--type", "clusters"),
      got(origin, "xdstp://acme/envoy.config.cluster.v3.Cluster/red"),
    ]);
    expect(timeless(opaque.err)).toBe('xdstp get: SERVER has no "red" among its clusters\n');
    expect(timeless(named.err)).toBe(
      'xdstp get: SERVER has no "xdstp://acme/envoy.config.cluster.v3.Cluster/red"\n',
    );
    expect([opaque.code, named.code]).toEqual([1, 1]);
  });

  it("blanks secrets, unless they are to be seen", async () => {
    const origin = await useOrigin();
    origin.cache.put({
      typeUrl: secretUrl,
      name: "key",
      value: encode("envoy.extensions.transport_sockets.tls.v3.Secret", {
        name: "key",
        type: {
          case: "tlsCertificate",
          value: { privateKey: { specifier: { case: "inlineString", value: "PEM!" } } },
        },
      }),
    });
    const hidden = await got(origin, "key", "--type", "secret");
    expect(hidden.out).toContain(
      "# note: what may be secret is [redacted] or left out; --show-secrets shows it",
    );
    expect(hidden.out).not.toContain("PEM!");
    expect((await got(origin, "key", "--type", "secret", "--show-secrets")).out).toContain("PEM!");
  });

  it("shows the bytes of a type that it does not know, and the way out", async () => {
    const origin = await useOrigin();
    origin.cache.put({ typeUrl: flagUrl, name: "dark", value: Uint8Array.from([8, 1]) });
    const { out } = await got(origin, "dark", "--type", "acme.v1.Flag");
    expect(out).toContain(
      "# note: acme.v1.Flag is not known here, so these are its bytes in base64; --descriptors FILE makes it known",
    );
    expect(load(out)).toEqual({ "@type": flagUrl, value: "CAE=" });
  });

  it("shows control characters to a terminal as text, and writes them to a file as they are", async () => {
    const origin = await useOrigin();
    origin.cluster("a\u202eb");
    const args = ["get", "*", "--type", "clusters", "--output", "yaml", "--server", origin.address];
    expect((await runToEnd(args, { terminal: () => ({ columns: 80, rows: 24 }) })).out).not.toMatch(
      /[^\P{C}\n]/u,
    );
    expect(load((await runToEnd(args)).out)).toMatchObject({ name: "a\u202eb" });
  });

  it("asks whom a bootstrap names, as whom it says, and says what was tried where there is none", async () => {
    const origin = await useOrigin();
    origin.cluster(blue);
    const folder = useFolder();
    folder.write({
      "boot.json": JSON.stringify({
        xds_servers: [{ server_uri: origin.address, channel_creds: [{ type: "insecure" }] }],
        node: { id: "n1" },
        authorities: {
          acme: {},
          other: {
            xds_servers: [{ server_uri: "127.0.0.1:1", channel_creds: [{ type: "insecure" }] }],
          },
        },
      }),
    });
    const nodes: string[] = [];
    origin.server.events((event) => {
      if (event.kind === "subscribe") nodes.push(event.stream.node?.id ?? "");
    });
    const file = join(folder.dir, "boot.json");
    expect(
      await runToEnd(["get", blue, "--bootstrap", "boot.json"], { cwd: folder.dir }),
    ).toMatchObject({ code: 0, err: "" });
    expect(
      await runToEnd(["get", blue, "--node", "n2"], { env: { GRPC_XDS_BOOTSTRAP: file } }),
    ).toMatchObject({ code: 0, err: "" });
    expect([...new Set(nodes)]).toEqual(["n1", "n2"]);
    const foreign = await runToEnd([
      "get",
      "xdstp://other/envoy.config.cluster.v3.Cluster/blue",
      "--bootstrap",
      file,
    ]);
    expect(foreign.err).toMatch(
      /^xdstp get: cannot connect to 127\.0\.0\.1:1: nothing listens there .*\n$/,
    );
    const none = await runToEnd(["get", blue]);
    expect({ code: none.code, line: none.err.split("\n")[0] }).toEqual({
      code: 2,
      line: "xdstp get: which server? Give --server HOST:PORT or --bootstrap FILE; XDSTP_SERVER (HOST:PORT), GRPC_XDS_BOOTSTRAP (a path) and GRPC_XDS_BOOTSTRAP_CONFIG (JSON) are not set",
    });
    folder.write({
      "tls.json": JSON.stringify({
        xds_servers: [
          {
            server_uri: origin.address,
            channel_creds: [{ type: "tls", config: { ca_certificate_file: "/no/ca.pem" } }],
          },
        ],
      }),
    });
    expect((await runToEnd(["get", blue, "--bootstrap", join(folder.dir, "tls.json")])).err).toBe(
      "xdstp get: ca_certificate_file /no/ca.pem: the file does not exist; give a PEM file\n",
    );
    expect((await runToEnd(["get", blue, "--bootstrap", "/no/such"])).err).toBe(
      "xdstp get: /no/such: the file does not exist; give the path of a bootstrap in JSON\n",
    );
  });

  it("tells of a server that is not there, that does not speak, and that nobody knows, in one line", async () => {
    const closed = createTcpServer();
    await new Promise<void>((resolve) => {
      closed.listen(0, "127.0.0.1", resolve);
    });
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => {
      closed.close(resolve);
    });
    expect((await got({ address: `127.0.0.1:${port}` }, blue)).err).toMatch(
      /^xdstp get: cannot connect to 127\.0\.0\.1:\d+: nothing listens there \(ECONNREFUSED\); check the port, and that the server runs\n$/,
    );
    const web = createTcpServer((socket) => {
      socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    });
    await new Promise<void>((resolve) => {
      web.listen(0, "127.0.0.1", resolve);
    });
    onTestFinished(() => {
      web.close();
    });
    expect(
      (await got({ address: `127.0.0.1:${(web.address() as AddressInfo).port}` }, blue)).err,
    ).toMatch(/^xdstp get: cannot connect to .*does it speak gRPC, and want TLS\? See --tls\n$/);
    vi.spyOn(dns, "lookup").mockImplementation(((
      host: string,
      _: unknown,
      callback: (error: Error) => void,
    ) => {
      setImmediate(
        callback,
        Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" }),
      );
    }) as never);
    expect((await got({ address: "no-such-host.invalid:1" }, blue)).err).toBe(
      "xdstp get: cannot connect to no-such-host.invalid:1: DNS does not know no-such-host.invalid (ENOTFOUND); check the name\n",
    );
  });

  it("speaks TLS, and says why it cannot", async () => {
    const authority = createTestAuthority();
    const { cert, key } = authority.issue({ name: "server", dnsNames: ["localhost"] });
    const origin = await useOrigin({ tls: { cert, key, clientCa: authority.cert } });
    origin.cluster(blue);
    const own = authority.issue({ name: "me" });
    const { dir } = useFolder({
      "ca.pem": authority.cert,
      "other.pem": createTestAuthority().cert,
      "cert.pem": own.cert,
      "key.pem": own.key,
    });
    const asked = async (
      host: string,
      ...more: readonly string[]
    ): Promise<{ readonly code: number; readonly err: string }> =>
      runToEnd(["get", blue, "--server", `${host}:${origin.port}`, ...more], { cwd: dir });
    const mine = ["--tls-cert", "cert.pem", "--tls-key", "key.pem"];
    expect(await asked("localhost", "--tls-ca", "ca.pem", ...mine)).toMatchObject({
      code: 0,
      err: "",
    });
    expect((await asked("localhost", "--tls-ca", "ca.pem")).err).toMatch(
      /the server wants a client certificate that it trusts \(INADEQUATE_SECURITY\); give one with --tls-cert and --tls-key\n$/,
    );
    expect((await asked("localhost", "--tls-ca", "other.pem", ...mine)).err).toMatch(
      /the authority that signed its certificate is not trusted here \(\w+\); give it with --tls-ca\n$/,
    );
    expect((await asked("127.0.0.1", "--tls-ca", "ca.pem", ...mine)).err).toMatch(
      /its certificate is for DNS:localhost \(\w+\); check the name, and connect by one that it is for\n$/,
    );
    expect((await asked("localhost")).err).toMatch(
      /^xdstp get: cannot connect to localhost:\d+: .* See --tls\n$/,
    );
    expect((await asked("localhost", "--tls-ca", "none.pem")).err).toMatch(
      /^xdstp get: --tls-ca .*none\.pem: the file does not exist; give a PEM file\n$/,
    );
    const plain = await useOrigin();
    expect((await got(plain, blue, "--tls")).err).toMatch(
      /it does not speak TLS \(\w+\); connect without --tls, or to its TLS port\n$/,
    );
  });

  it.each([
    [[], "which name?"],
    [["a", "b"], '"b" is one argument too many; give one name (put * into quotes)'],
    [
      ["blue"],
      '"blue" does not say its type: give --type listeners|routes|scoped-routes|virtual-hosts|clusters|endpoints|lb-endpoints|secrets|runtimes|extensions, or a full message name',
    ],
    [
      ["blue", "--type", "cloosters"],
      '--type "cloosters": give listeners, routes, scoped-routes, virtual-hosts, clusters, endpoints, lb-endpoints, secrets, runtimes, extensions, or a full message name',
    ],
    [
      ["xdstp:/nonsense"],
      '"xdstp:/nonsense" is not an xdstp name: [authority-marker] at 6 of "xdstp:/nonsense": write // after the scheme [N-02]\n',
    ],
    [[blue, "--type", "listeners"], "--type listeners is another type than that of"],
    [[blue, "--sotw", "--delta"], "--sotw and --delta are two variants; give one of them"],
    [
      [blue, "--server", "a:1", "--bootstrap", "f"],
      "--server and --bootstrap both say whom to ask; give one of them",
    ],
    [
      [blue, "--tls"],
      "options of TLS go with --server; a bootstrap says by itself how to speak to its servers",
    ],
    [[blue, "--output", "xml"], '--output "xml": give yaml, json or table'],
    [[blue, "--timeout", "0"], '--timeout "0": give seconds, up to 86400'],
    [[blue, "--node-metadata", "[]"], '--node-metadata "[]": give a JSON object'],
    [
      [blue, "--node-metadata", "[".repeat(3_000)],
      `--node-metadata "${"[".repeat(58)}…: give a JSON object`,
    ],
    [
      [blue, "--node-metadata", `{"a":${"[".repeat(3_000)}${"]".repeat(3_000)}}`],
      "--node-metadata nests deeper than 32 levels, which no server could read; give a flatter object",
    ],
  ])("shows the usage when it is called the wrong way: %j", async (argv, said) => {
    const { code, err } = await runToEnd(["get", ...argv]);
    expect(code).toBe(2);
    expect(err).toContain(`xdstp get: ${said}`);
    expect(err).toContain("\nUsage: xdstp get NAME");
  });
});
