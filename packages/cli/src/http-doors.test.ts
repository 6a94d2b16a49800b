import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { connect } from "node:http2";
import { describe, expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const type = "envoy.config.cluster.v3.Cluster";
const free = ["--listen", "127.0.0.1:0"];
const web = "acme.example/clusters/web.yaml";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

async function get(
  url: string,
  init: {
    readonly method?: string;
    readonly headers?: Record<string, string>;
    readonly body?: string;
  } = {},
): Promise<Answer> {
  const response = await fetch(url, { ...init, headers: { connection: "close", ...init.headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

describe("xdstp serve --http", () => {
  it("serves resources by GET on the port of gRPC, and answers a long poll after an edit [S-HTTP-14]", async () => {
    const folder = useFolder({ [web]: "connect_timeout: 1s\n" });
    const cli = useCli([
      "serve",
      folder.dir,
      ...free,
      "--http",
      "--http-authority",
      "acme.example",
      "--metrics",
      "0",
    ]);
    const { stdout, port, signal, exit } = cli;
    const listening = await stdout.line(/listening/);
    await stdout.line(/Z loaded /);
    const base = `http://127.0.0.1:${await port()}`;
    expect(listening).toContain(`; resources: ${base}/TYPE/ID (names of acme.example)`);
    const metrics = /metrics: (http:\S+)/.exec(listening)?.[1] ?? "";
    const url = `${base}/${type}/web`;
    const first = await get(url);
    expect(JSON.parse(first.text)).toEqual({
      name: `xdstp://acme.example/${type}/web`,
      connectTimeout: "1s",
    });
    // Pages of other origins may not read it.
    expect(first.headers.get("access-control-allow-origin")).toBeNull();
    const { headers } = first;
    const next = get(
      `${url}?after=${headers.get("xds-version") ?? ""}&at=${headers.get("xds-position") ?? ""}`,
    );
    folder.write({ [web]: "connect_timeout: 2s\n" });
    expect((await next).text).toContain('"2s"');
    expect((await get(`${base}/${type}/none`)).status).toBe(404);
    const { text } = await get(metrics);
    expect(text).toContain('\nxdstp_http_answers_total{status="200"} 2\n');
    expect(text).toContain('\nxdstp_http_answers_total{status="404"} 1\n');
    expect(text).toContain("\nxdstp_http_waiting 0\n");
    // REST is not served without --rest.
    expect((await get(`${base}/v3/discovery:clusters`, { method: "POST" })).status).toBe(404);
    const now = await get(url);
    const version = now.headers.get("xds-version") ?? "";
    const waiting = get(`${url}?after=${version}&at=${now.headers.get("xds-position") ?? ""}`);
    while (!(await get(metrics)).text.includes("\nxdstp_http_waiting 1\n"));
    // A request that waits does not delay the end.
    signal("SIGINT");
    expect(await exit).toBe(0);
    expect((await waiting).status).toBe(204);
  });

  it("takes the host of each request as the authority, and lets the pages of one origin read", async () => {
    const folder = useFolder({ "_opaque/clusters/web.yaml": "connect_timeout: 1s\n" });
    const { stdout, port, signal, exit } = useCli([
      "serve",
      folder.dir,
      ...free,
      "--http",
      "--http-origin",
      "https://app.example",
    ]);
    await stdout.line(/Z loaded /);
    const answer = await get(`http://127.0.0.1:${await port()}/${type}/web`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("access-control-allow-origin")).toBe("https://app.example");
    signal("SIGINT");
    expect(await exit).toBe(0);
  });

  it("shows each caller what the policy allows, and no cache may store it [S-LIM-8]", async () => {
    const folder = useFolder({
      "_opaque/clusters/web.yaml": "connect_timeout: 1s\n",
      "_opaque/clusters/secret.yaml": "connect_timeout: 1s\n",
    });
    const policy = useFolder({
      "policy.yaml": "rules:\n- address: 127.0.0.0/8\n  allow: { clusters: [web] }\n",
    });
    const { stdout, port, signal, exit } = useCli([
      "serve",
      folder.dir,
      ...free,
      "--http",
      "--policy",
      `${policy.dir}/policy.yaml`,
    ]);
    await stdout.line(/Z loaded /);
    const base = `http://127.0.0.1:${await port()}/${type}`;
    const allowed = await get(`${base}/web`);
    expect([allowed.status, allowed.headers.get("cache-control")]).toEqual([
      200,
      expect.stringContaining("private"),
    ]);
    expect((await get(`${base}/secret`)).status).toBe(404);
    signal("SIGINT");
    expect(await exit).toBe(0);
  });

  it.each([
    ["without", {}],
    ["with", { "policy.yaml": "rules:\n- address: 127.0.0.0/8\n  allow: { clusters: [web] }\n" }],
  ])("says %s a policy that nothing is loaded yet, over REST too [S-HTTP-9]", async (_, rules) => {
    const folder = useFolder({ [web]: "connect_timeout: broken\n" });
    const policy = useFolder(rules);
    const { port, stdout, signal, exit } = useCli([
      ...["serve", folder.dir, ...free, "--rest", "--http"],
      ...Object.keys(rules).flatMap((file) => ["--policy", `${policy.dir}/${file}`]),
    ]);
    await stdout.line(/listening/);
    const base = `http://127.0.0.1:${await port()}`;
    const poll = { method: "POST", body: '{"node":{"id":"me"}}' };
    for (const { status, headers, text } of [
      await get(`${base}/${type}/web`),
      await get(`${base}/v3/discovery:clusters`, {
        ...poll,
        headers: { "content-type": "application/json" },
      }),
    ])
      expect([status, headers.get("retry-after"), JSON.parse(text)]).toEqual([
        503,
        "1",
        { code: "UNAVAILABLE", message: "the first complete state is not loaded yet" },
      ]);
    signal("SIGINT");
    expect(await exit).toBe(0);
  });

  it("serves only hosts that no page can have: addresses, localhost, and those that are given", async () => {
    const folder = useFolder({ "_opaque/clusters/web.yaml": "connect_timeout: 1s\n" });
    const { stdout, port, signal, exit } = useCli([
      "serve",
      folder.dir,
      ...free,
      "--rest",
      "--http",
      "--http-authority",
      "acme.example",
      "--http-host",
      "Config.Example",
    ]);
    await stdout.line(/Z loaded /);
    const listening = await port();
    const statusFor = async (host: string): Promise<number> => {
      const request = httpRequest({
        port: listening,
        path: `/${type}/web`,
        headers: { host },
        agent: false,
      });
      request.end();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode ?? 0;
    };
    for (const host of [
      `127.0.0.1:${listening}`,
      "[::1]:1",
      "localhost",
      "acme.example",
      "config.example:80",
    ])
      expect([host, await statusFor(host)]).toEqual([host, 200]);
    expect(await statusFor(`evil.example:${listening}`)).toBe(421);
    const base = `http://127.0.0.1:${listening}`;
    const poll = { method: "POST", body: '{"node":{"id":"me"}}' };
    const json = { "content-type": "application/json" };
    const own = await get(`${base}/v3/discovery:clusters`, { ...poll, headers: json });
    const page = await get(`${base}/v3/discovery:clusters`, {
      ...poll,
      headers: { ...json, origin: "http://evil.example" },
    });
    expect([own.status, page.status]).toEqual([200, 403]);
    signal("SIGINT");
    expect(await exit).toBe(0);
  });

  it.each([
    [["--http-host", "a"], "--http-host says how --http and --openfeature serve; add one of them"],
    [["--http-authority", "a"], "--http-authority says how --http serves resources; add --http"],
    [
      ["--rest", "--http-origin", "*"],
      "--http-origin says how --http and --openfeature serve; add one of them",
    ],
    [
      ["--http", "--http-origin", "app.example"],
      '--http-origin "app.example" is not an origin, such as https://app.example, or *',
    ],
  ])("rejects %j", async (flags, reason) => {
    const { code, err } = await runToEnd(["serve", ".", ...flags]);
    expect([code, err]).toEqual([2, expect.stringContaining(reason)]);
  });
});

const collection = "xdstp://acme.example/google.protobuf.Struct/shop/*";
const cart = "acme.example/google.protobuf.Struct/shop/cart.yaml";
const pay = "acme.example/google.protobuf.Struct/shop/pay.yaml";
const flag = (variant: string): string =>
  `state: ENABLED\nvariants: { red: "#f00", blue: "#00f" }\ndefaultVariant: ${variant}\n`;

/** Evaluates a flag over OFREP; without a key, all. */
async function evaluate(
  base: string,
  key: string,
  headers: Record<string, string> = {},
): Promise<{ readonly status: number; readonly headers: Headers; readonly body: unknown }> {
  const answer = await get(`${base}/ofrep/v1/evaluate/flags${key}`, {
    method: "POST",
    body: '{"context":{}}',
    headers: { "content-type": "application/json", ...headers },
  });
  return { ...answer, body: JSON.parse(answer.text) as unknown };
}

/** Fetches all flags as a provider of flagd does. */
async function fetchAllFlags(port: number): Promise<{
  readonly status: string;
  readonly text: string;
}> {
  const session = connect(`http://127.0.0.1:${port}`);
  const call = session.request({
    ":method": "POST",
    ":path": "/flagd.sync.v1.FlagSyncService/FetchAllFlags",
    "content-type": "application/grpc",
    te: "trailers",
  });
  let status = "";
  for (const name of ["response", "trailers"])
    call.on(name, (fields: Record<string, string>) => {
      status = fields["grpc-status"] ?? status;
    });
  call.end(Buffer.alloc(5));
  const parts: Buffer[] = [];
  for await (const part of call as AsyncIterable<Buffer>) parts.push(part);
  session.close();
  return { status, text: Buffer.concat(parts).toString() };
}

describe("xdstp serve --openfeature", () => {
  it("serves flags over OFREP and flagd.sync.v1 on the port of gRPC, follows edits, and reports a flag that is not valid", async () => {
    const folder = useFolder({ [cart]: flag("red"), [web]: "connect_timeout: 1s\n" });
    const { stdout, port, signal, exit } = useCli([
      ...["serve", folder.dir, ...free, "--openfeature", collection, "--metrics", "0"],
    ]);
    const listening = await stdout.line(/listening/);
    await stdout.line(/Z loaded /);
    const address = `127.0.0.1:${await port()}`;
    const base = `http://${address}`;
    expect(listening).toContain(
      `; flags: ${base}/ofrep/v1/evaluate/flags, flagd.sync.v1 on ${address}; metrics: `,
    );
    expect(await evaluate(base, "/cart")).toMatchObject({ status: 200, body: { value: "#f00" } });
    const all = await fetchAllFlags(await port());
    expect([all.status, all.text]).toEqual(["0", expect.stringContaining('"cart":{')]);
    folder.write({ [cart]: flag("blue"), [pay]: flag("green") });
    expect(await stdout.line(/Z flags/)).toContain(
      `xdstp://acme.example/google.protobuf.Struct/shop/pay is rejected: `,
    );
    expect(await evaluate(base, "/cart")).toMatchObject({ body: { value: "#00f" } });
    expect(await evaluate(base, "/pay")).toMatchObject({ status: 404 });
    const { text } = await get(/metrics: (http:\S+)/.exec(listening)?.[1] ?? "");
    expect(text).toContain('\nxdstp_ofrep_answers_total{status="200"} 2\n');
    expect(text).toContain('\nxdstp_ofrep_answers_total{status="404"} 1\n');
    expect(text).toContain('\nxdstp_flag_streams{protocol="flagd"} 0\n');
    expect(text).toContain("\nxdstp_flags_rejected_total 1\n");
    // Single resources are not served without --http.
    expect((await get(`${base}/${type}/web`)).status).toBe(404);
    signal("SIGINT");
    expect(await exit).toBe(0);
  });

  it("serves the hosts and the origin of --http, next to it and to --rest", async () => {
    const folder = useFolder({ [cart]: flag("red"), [web]: "connect_timeout: 1s\n" });
    const { stdout, port, signal, exit } = useCli([
      ...["serve", folder.dir, ...free, "--openfeature", collection, "--rest", "--http"],
      ...["--http-authority", "acme.example", "--http-origin", "https://app.example"],
    ]);
    await stdout.line(/Z loaded /);
    const base = `http://127.0.0.1:${await port()}`;
    const page = { origin: "https://app.example" };
    const answers = [
      await evaluate(base, "/cart", page),
      await get(`${base}/${type}/web`, { headers: page }),
    ];
    expect(
      answers.map(({ status, headers }) => [status, headers.get("access-control-allow-origin")]),
    ).toEqual([
      [200, "https://app.example"],
      [200, "https://app.example"],
    ]);
    const statusFor = async (path: string, host: string): Promise<number | undefined> => {
      const request = httpRequest(`${base}${path}`, { headers: { host }, agent: false });
      request.end();
      const [response] = (await once(request, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    };
    expect(await statusFor("/ofrep/v1/events", "evil.example")).toBe(421);
    // The authority is a host of resources, also where flags do not have it.
    expect(await statusFor(`/${type}/web`, "acme.example")).toBe(200);
    signal("SIGINT");
    expect(await exit).toBe(0);
  });

  it("lets no page evaluate without --http-origin, and shows each caller what the policy allows [S-LIM-8]", async () => {
    const folder = useFolder({ [cart]: flag("red"), [pay]: flag("red") });
    const policy = useFolder({
      "policy.yaml": `rules:\n- address: 127.0.0.0/8\n  allow: { google.protobuf.Struct: ["xdstp://acme.example/google.protobuf.Struct/shop/cart"] }\n`,
    });
    const { stdout, port, signal, exit } = useCli([
      ...["serve", folder.dir, ...free, "--openfeature", collection],
      ...["--policy", `${policy.dir}/policy.yaml`],
    ]);
    await stdout.line(/Z loaded /);
    const { status, headers, body } = await evaluate(`http://127.0.0.1:${await port()}`, "");
    expect([status, headers.get("access-control-allow-origin")]).toEqual([200, null]);
    expect(body).toMatchObject({ flags: [{ key: "cart" }] });
    signal("SIGINT");
    expect(await exit).toBe(0);
  });

  it("says that nothing is loaded yet", async () => {
    const folder = useFolder({ [cart]: "state: [\n" });
    const { stdout, port, signal, exit } = useCli([
      ...["serve", folder.dir, ...free, "--openfeature", collection],
    ]);
    await stdout.line(/listening/);
    const { status, headers, body } = await evaluate(`http://127.0.0.1:${await port()}`, "");
    expect([status, headers.get("retry-after"), body]).toEqual([
      503,
      "5",
      {
        errorCode: "GENERAL",
        errorDetails: "the first complete state is not loaded yet",
      },
    ]);
    signal("SIGINT");
    expect(await exit).toBe(0);
  });

  it.each([
    [
      "shop",
      '--openfeature "shop": [scheme] at 0 of "shop": begin with xdstp:, or in a locator with http: or file:, in lower case; give a name such as xdstp://AUTHORITY/google.protobuf.Struct/shop/*',
    ],
    [
      "xdstp://a/flags.v1.Flag/*",
      '--openfeature "xdstp://a/flags.v1.Flag/*": it is a name of flags.v1.Flag, and flags are google.protobuf.Struct; give a name such as xdstp://AUTHORITY/google.protobuf.Struct/shop/*',
    ],
  ])("rejects the name %s", async (name, reason) => {
    const { code, err } = await runToEnd(["serve", ".", "--openfeature", name]);
    expect([code, err.split("\n", 1)[0]]).toEqual([2, expect.stringContaining(reason)]);
  });
});

describe("xdstp serve --rest", () => {
  it("answers polls of xDS on the port of gRPC, and shows the client [S-REST-1]", async () => {
    const folder = useFolder({ "_opaque/clusters/web.yaml": "connect_timeout: 1s\n" });
    const { stdout, port, signal, exit } = useCli(["serve", folder.dir, ...free, "--rest"]);
    const listening = await stdout.line(/listening/);
    await stdout.line(/Z loaded /);
    const base = `http://127.0.0.1:${await port()}`;
    expect(listening).toContain(`; REST: ${base}/v3/discovery:TYPE`);
    const poll = async (versionInfo: string): Promise<Answer> =>
      get(`${base}/v3/discovery:clusters`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ node: { id: "poller" }, versionInfo }),
      });
    const first = await poll("");
    const { versionInfo, resources } = JSON.parse(first.text) as {
      readonly versionInfo: string;
      readonly resources: readonly { readonly name: string }[];
    };
    expect(resources.map(({ name }) => name)).toEqual(["web"]);
    expect((await poll(versionInfo)).status).toBe(304);
    const status = await runToEnd(["status", `127.0.0.1:${await port()}`, "--json"]);
    expect(status.out).toContain("poller");
    // Resources by GET are not served without --http.
    expect((await get(`${base}/${type}/web`)).status).toBe(404);
    signal("SIGINT");
    expect(await exit).toBe(0);
  });

  it("is not served by several processes", async () => {
    const { code, err } = await runToEnd([
      "relay",
      "--server",
      "127.0.0.1:1",
      "--rest",
      "--workers",
      "2",
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining("--rest needs one process")]);
  });
});
