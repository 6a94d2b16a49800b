import { once } from "node:events";
import { type IncomingMessage, request as httpRequest } from "node:http";
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
    [["--http-host", "a"], "--http-host says how --http serves resources; add --http"],
    [["--http-authority", "a"], "--http-authority says how --http serves resources; add --http"],
    [["--http-origin", "*"], "--http-origin says how --http serves resources; add --http"],
    [
      ["--http", "--http-origin", "app.example"],
      '--http-origin "app.example" is not an origin, such as https://app.example, or *',
    ],
  ])("rejects %j", async (flags, reason) => {
    const { code, err } = await runToEnd(["serve", ".", ...flags]);
    expect([code, err]).toEqual([2, expect.stringContaining(reason)]);
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
