import { readFileSync } from "node:fs";
import { createTestAuthority } from "@xdstp/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { type DeltaStream, openDeltaStream } from "../test/grpc-stream.ts";
import { type RunningCli, runToEnd, useCli } from "../test/use-cli.ts";
import { type TestFolder, useFolder } from "../test/use-folder.ts";

const authority = createTestAuthority();
const clusters = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const flags = [
  "--tls-cert",
  "tls/cert.pem",
  "--tls-key",
  "tls/key.pem",
  "--tls-client-ca",
  "tls/ca.pem",
  "--policy",
  "policy.yaml",
];
/** The example of the README. */
const [, example = ""] =
  /```yaml\n(rules:\n.*?)```/s.exec(
    readFileSync(new URL("../README.md", import.meta.url), "utf8"),
  ) ?? [];

function useFiles(policy: string): TestFolder {
  const { cert, key } = authority.issue({ dnsNames: ["localhost"] });
  const config = Object.fromEntries(
    ["shop/a", "shop/b", "search/a"].map((name) => [
      `config/_opaque/clusters/${name}.yaml`,
      "type: STATIC\n",
    ]),
  );
  return useFolder({
    "tls/cert.pem": cert,
    "tls/key.pem": key,
    "tls/ca.pem": authority.cert,
    "policy.yaml": policy,
    ...config,
  });
}

function useWorld(policy: string): { readonly folder: TestFolder; readonly cli: RunningCli } {
  const folder = useFiles(policy);
  return {
    folder,
    cli: useCli(["serve", "config", "--listen", "127.0.0.1:0", ...flags], { cwd: folder.dir }),
  };
}

/** Connects a client with this URI in its certificate, which subscribes to all clusters. */
async function connectAs(cli: RunningCli, uri: string): Promise<DeltaStream> {
  const { cert, key } = authority.issue({ uris: [uri] });
  const client = await openDeltaStream(await cli.port(), "n", { ca: authority.cert, cert, key });
  onTestFinished(() => {
    client.close();
  });
  client.send({ typeUrl: clusters, resourceNamesSubscribe: ["*"] });
  return client;
}

async function next(
  client: DeltaStream,
): Promise<{ readonly names: readonly string[]; readonly removed: readonly string[] }> {
  await client.arrived();
  const response = client.next();
  client.ack(response);
  return {
    names: response.resources.map(({ name }) => name).sort(),
    removed: response.removedResources,
  };
}

describe("xdstp serve --policy", () => {
  it("shows each client what the rule for its certificate allows, and rejects who fits none: the example of the README [S-NODE-8] [S-LIM-8]", async () => {
    const { cli } = useWorld(example);
    await cli.stdout.line(/Z loaded /);
    expect((await next(await connectAs(cli, "spiffe://example.com/shop/web"))).names).toEqual([
      "shop/a",
      "shop/b",
    ]);
    expect((await next(await connectAs(cli, "spiffe://example.com/shop/worker"))).names).toEqual([
      "shop/a",
      "shop/b",
    ]);
    expect((await next(await connectAs(cli, "spiffe://example.com/operators"))).names).toEqual([
      "search/a",
      "shop/a",
      "shop/b",
    ]);
    const stranger = await connectAs(cli, "spiffe://example.com/search");
    expect(await stranger.status).toBe(7);
    expect(await cli.stdout.line(/turned away/)).toContain(
      "not allowed (no rule fits spiffe://example.com/search)",
    );
  });

  it("goes by the address of a client where a rule says so, without TLS, and shows the clients of others to operators [S-LIM-8]", async () => {
    const rules = (own: string, names: string): string =>
      `rules:\n- address: ${own}\n  allow: { clusters: [${names}] }\n  status: all\n- address: 192.0.2.0/24\n`;
    const folder = useFiles(rules("127.0.0.0/8", '"shop/*"'));
    const cli = useCli(["serve", "config", "--listen", "127.0.0.1:0", "--policy", "policy.yaml"], {
      cwd: folder.dir,
    });
    await cli.stdout.line(/Z loaded /);
    const connect = async (): Promise<DeltaStream> => {
      const client = await openDeltaStream(await cli.port(), "n");
      onTestFinished(() => {
        client.close();
      });
      client.send({ typeUrl: clusters, resourceNamesSubscribe: ["*"] });
      return client;
    };
    const client = await connect();
    expect((await next(client)).names).toEqual(["shop/a", "shop/b"]);
    expect(
      await runToEnd(["status", `127.0.0.1:${await cli.port()}`, "--fail-on-nack"]),
    ).toMatchObject({ code: 0, out: expect.stringContaining("SYNCED") as string });
    folder.write({ "policy.yaml": rules("127.0.0.0/8", '"search/*"') });
    expect((await next(client)).removed.toSorted()).toEqual(["shop/a", "shop/b"]);
    folder.write({ "policy.yaml": rules("192.0.3.1", '"*"') });
    expect(await client.status).toBe(7);
    const stranger = await connect();
    expect(await stranger.status).toBe(7);
    expect(await cli.stdout.line(/turned away/)).toContain(
      "not allowed (no rule fits its address)",
    );
  });

  it("puts new rules in force while clients are connected, and keeps the last good ones while the file is broken, with file, line and reason [S-LIM-8]", async () => {
    const rules = (...names: readonly string[]): string =>
      `rules:\n- identity: spiffe://td/*\n  allow:\n    clusters: ${JSON.stringify(names)}\n`;
    const { folder, cli } = useWorld(rules("shop/*"));
    await cli.stdout.line(/Z loaded /);
    const client = await connectAs(cli, "spiffe://td/a");
    expect((await next(client)).names).toEqual(["shop/a", "shop/b"]);
    folder.write({ "policy.yaml": "rules:\n- identity: spiffe://td/*\n  allow: nothing\n" });
    expect(await cli.stdout.line(/policy .*those before stay/)).toMatch(
      /policy\.yaml:3:10: `allow` has names by type/,
    );
    expect((await next(await connectAs(cli, "spiffe://td/b"))).names).toEqual(["shop/a", "shop/b"]);
    folder.write({ "policy.yaml": rules("shop/a", "search/*") });
    await cli.stdout.line(/policy .*the new rules are in force/);
    const seen: string[] = [];
    while (seen.length < 2) {
      const { names, removed } = await next(client);
      seen.push(...names, ...removed.map((name) => `no ${name}`));
    }
    expect(seen.sort()).toEqual(["no shop/b", "search/a"]);
  });

  it("names the rule that hides a name from a client to whoever may see all, and no more than that to others [S-LIM-8]", async () => {
    const rules = (status: string): string =>
      `rules:\n- address: 127.0.0.0/8\n  allow: { clusters: ["shop/*"] }\n  status: ${status}\n`;
    const folder = useFiles(rules("all"));
    const cli = useCli(["serve", "config", "--listen", "127.0.0.1:0", "--policy", "policy.yaml"], {
      cwd: folder.dir,
    });
    await cli.stdout.line(/Z loaded /);
    const connect = async (): Promise<void> => {
      const client = await openDeltaStream(await cli.port(), "n");
      onTestFinished(() => {
        client.close();
      });
      client.send({ typeUrl: clusters, resourceNamesSubscribe: ["*"] });
      await next(client);
    };
    const explained = async (name: string): Promise<string | undefined> => {
      const server = `127.0.0.1:${await cli.port()}`;
      const { out } = await runToEnd(
        ["explain", "n", name, "--type", "clusters", "--server", server],
        { cwd: folder.dir },
      );
      return out.split("\n")[0]?.replace(/\(.*\/policy/, "(policy");
    };
    await connect();
    expect(await explained("search/a")).toBe(
      "n does not have search/a: the rule for address 127.0.0.0/8 (policy.yaml:2) does not allow it.",
    );
    folder.write({ "policy.yaml": rules("own") });
    await cli.stdout.line(/policy .*the new rules are in force/);
    await connect();
    for (const name of ["search/a", "none"])
      expect(await explained(name)).toBe(`n does not have ${name}: its policy does not allow it.`);
    expect(await explained("shop/a")).not.toContain("yaml");
  });

  it.each([
    ["rules:\n- identity: a*b\n", flags, 1, 'policy.yaml:2:13: "a*b": a * stands at the end only'],
    ["rules: []\n", [...flags.slice(0, -1), "none.yaml"], 1, "none.yaml: the file does not exist"],
    [
      "rules:\n- identity: spiffe://td/*\n",
      [...flags.slice(0, 4), ...flags.slice(6)],
      1,
      "policy.yaml:2:3: the rule goes by the certificates of clients: have the server check them (--tls-client-ca)",
    ],
  ])("does not begin with %j and %j", async (policy, given, code, text) => {
    const result = await runToEnd(["serve", "config", "--listen", "127.0.0.1:0", ...given], {
      cwd: useFiles(policy).dir,
    });
    expect(result).toMatchObject({ code, out: "" });
    expect(result.err).toContain(text);
  });
});
