import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import {
  ClientStatusDiscoveryService,
  ClientStatusResponseSchema,
  ConfigStatus,
} from "@xdstp/protos/status";
import { describe, expect, it, onTestFinished } from "vitest";
import { lead, of } from "../test/use-federation.ts";
import { clusterUrl, useOrigin } from "../test/use-origin.ts";
import { openDeltaStream, type DeltaStream } from "../test/grpc-stream.ts";
import { type RunningCli, runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

/** A client that has accepted what it was sent. */
async function accepted(cli: RunningCli, node: string, ...names: string[]): Promise<DeltaStream> {
  const client = await openDeltaStream(await cli.port(), node);
  onTestFinished(() => {
    client.close();
  });
  client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: names });
  await client.arrived();
  client.ack(client.next());
  await cli.stdout.line(/ ack /);
  return client;
}

async function serving(files: Readonly<Record<string, string>>): Promise<{
  readonly cli: RunningCli;
  readonly folder: ReturnType<typeof useFolder>;
  readonly explain: (...args: string[]) => ReturnType<typeof runToEnd>;
}> {
  const folder = useFolder(files);
  const cli = useCli(["serve", "config", "--listen", "127.0.0.1:0"], { cwd: folder.dir });
  const port = await cli.port();
  await cli.stdout.line(/Z loaded /);
  return {
    cli,
    folder,
    explain: (...args) => runToEnd(["explain", ...args, "--server", `127.0.0.1:${port}`]),
  };
}

const web = { "config/_opaque/clusters/web.yaml": "type: STATIC\n" };
const clusters = ["--type", "clusters"];
/** A version, a time and a port, of which tests do not know the value. */
const plain = (text: string): string =>
  text
    .replaceAll(/\b[\w-]{22}\b/g, "VERSION")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, "TIME")
    .replaceAll(/\/[\w/.-]+\/config\b/g, "config")
    .replaceAll(/127\.0\.0\.1:\d+/g, "ADDRESS");

describe("xdstp explain", () => {
  it("says since when a client has a version, and exits with 0", async () => {
    const { cli, explain } = await serving(web);
    await accepted(cli, "envoy-1", "web");
    const { code, out, err } = await explain("envoy-1", "web", ...clusters);
    expect(err).toBe("");
    expect(plain(out)).toBe(
      `envoy-1 has web in version VERSION, since TIME or earlier. Version VERSION is from config/_opaque/clusters/web.yaml:1.

stream        ADDRESS, delta, since TIME
subscription  by name web
source        present, version VERSION
from          config/_opaque/clusters/web.yaml:1
held          newest, version VERSION, since TIME
cause         accepted
`,
    );
    expect(code).toBe(0);
  });

  it("names the broken file of which the last good version is served", async () => {
    const { cli, folder, explain } = await serving(web);
    await accepted(cli, "envoy-1", "web");
    folder.write({ "config/_opaque/clusters/web.yaml": "type: NONSENSE\n" });
    await cli.stdout.line(/ rejected /);
    const { code, out } = await explain("envoy-1", "web", ...clusters);
    expect(plain(out).split("\n")[0]).toMatch(
      /^envoy-1 has web in version VERSION, since TIME or earlier\. Version VERSION is from config\/_opaque\/clusters\/web\.yaml\. The newest state of config\/_opaque\/clusters\/web\.yaml is not used: config\/_opaque\/clusters\/web\.yaml:1:1: .*NONSENSE/,
    );
    expect(code).toBe(0);
  });

  it("names the file of a node key, and the line in a file of several resources", async () => {
    const { cli, explain } = await serving({
      "config/_opaque/clusters/all.yaml":
        "resources:\n- name: one\n  type: STATIC\n- name: web\n  type: STATIC\n",
      "config/_nodes/edge/_opaque/clusters/web.yaml": "type: STATIC\nconnect_timeout: 2s\n",
    });
    await accepted(cli, "envoy-1", "web", "one");
    const { out } = await explain("envoy-1", "web", ...clusters);
    expect(plain(out)).toContain("\nfrom          config/_opaque/clusters/all.yaml:4\n");
  });

  it("says what hinders a client: not subscribed, not there, not connected, with the closest name", async () => {
    const { cli, explain } = await serving(web);
    await accepted(cli, "envoy-1", "webb");
    const lineOf = async (...args: string[]): Promise<string> => {
      const { code, out } = await explain(...args, ...clusters);
      expect(code).toBe(1);
      return plain(out).split("\n")[0] ?? "";
    };
    expect(await lineOf("envoy-1", "web")).toBe(
      "envoy-1 does not have web: its one subscription to Cluster does not cover it. The source has web in version VERSION from config/_opaque/clusters/web.yaml:1.",
    );
    expect(await lineOf("envoy-1", "webb")).toBe(
      "envoy-1 does not have webb: it does not exist. Did you mean the name web?",
    );
    expect(await lineOf("envoy-2", "web")).toBe(
      "envoy-2 is not connected; 1 node is. The source has web in version VERSION from config/_opaque/clusters/web.yaml:1. Did you mean the node envoy-1?",
    );
    expect(await lineOf("gateway", "web")).toContain("Connected are envoy-1.");
  });

  it("writes one JSON object", async () => {
    const { cli, explain } = await serving(web);
    await accepted(cli, "envoy-1", "web");
    const { out } = await explain("envoy-1", "web", ...clusters, "--json");
    expect(JSON.parse(out)).toMatchObject({
      node: "envoy-1",
      typeUrl: clusterUrl,
      name: "web",
      streams: [{ subscription: { by: "name" }, cause: { kind: "accepted" } }],
    });
  });

  it("shows a rejection as text that a terminal only shows [S-ACK-15]", async () => {
    const { cli, explain } = await serving(web);
    const client = await openDeltaStream(await cli.port(), "envoy-1");
    onTestFinished(() => {
      client.close();
    });
    client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: ["web"] });
    await client.arrived();
    client.nack(client.next(), "bad \u001b[2J");
    await cli.stdout.line(/ nack /i);
    const { out } = await explain("envoy-1", "web", ...clusters);
    expect(plain(out).split("\n")[0]).toBe(
      'envoy-1 does not have web: version VERSION was rejected TIME by envoy-1 with its response lxet001gnu: "bad \\u001b[2J". Version VERSION is from config/_opaque/clusters/web.yaml:1.',
    );
    expect(out).toMatch(/^cause .* since=\S+Z$/m);
  });

  it("names the server upstream of a relay", async () => {
    const origin = lead(await useOrigin());
    origin.cluster(of("x", "web"));
    const cli = useCli(["relay", "--server", origin.address, "--listen", "127.0.0.1:0"]);
    await accepted(cli, "envoy-1", of("x", "web"));
    const port = await cli.port();
    const { code, out } = await runToEnd([
      "explain",
      "envoy-1",
      of("x", "web"),
      "--server",
      `127.0.0.1:${port}`,
    ]);
    expect(out).toContain(`from          ${origin.address}\n`);
    expect(code).toBe(0);
  });

  it("shows what client status says where the server does not explain", async () => {
    const port = await useStatusServer({
      node: { id: "envoy-1" },
      clientScope: "a",
      genericXdsConfigs: [
        { typeUrl: clusterUrl, name: "web", versionInfo: "7", configStatus: ConfigStatus.SYNCED },
        { typeUrl: clusterUrl, name: "old", configStatus: ConfigStatus.NOT_SENT },
      ],
    });
    const lineOf = async (node: string, name: string): Promise<string> => {
      const args = ["explain", node, name, ...clusters, "--server", `127.0.0.1:${port}`];
      return plain((await runToEnd(args)).out).split("\n")[0] ?? "";
    };
    const limits = (name: string): string =>
      `ADDRESS does not explain more: it is not a server of xdstp, or an older one, so whether ${name} is subscribed, allowed, or waits for another name is not known.`;
    expect(await lineOf("envoy-1", "web")).toBe(
      `envoy-1 has the newest version of web, after the response with version 7. ${limits("web")}`,
    );
    expect(await lineOf("envoy-1", "old")).toBe(
      `envoy-1 does not have old: client status says NOT_SENT. ${limits("old")}`,
    );
    expect(await lineOf("envoy-1", "none")).toBe(
      `Client status of envoy-1 has no row for none of clusters. ${limits("none")}`,
    );
    expect(await lineOf("envoy-2", "web")).toBe(
      "envoy-2 is not connected to ADDRESS, as far as you may see. Did you mean the node envoy-1?",
    );
  });

  it.each([
    [[], "which client? Give the id of its node"],
    [["envoy-1"], "which resource? Give its name"],
    [["envoy-1", "*", ...clusters], '"*" is a collection; give the name of one resource'],
    [["envoy-1", "web", ...clusters], "which server? Give --server HOST:PORT, or set XDSTP_SERVER"],
  ])("is called the wrong way: %j", async (args, message) => {
    const { code, err } = await runToEnd(["explain", ...args]);
    expect(code).toBe(2);
    expect(err).toContain(`xdstp explain: ${message}\n`);
  });
});

/** A server of CSDS that is not of this stack. */
async function useStatusServer(
  config: NonNullable<MessageInitShape<typeof ClientStatusResponseSchema>["config"]>[number],
): Promise<number> {
  const response = create(ClientStatusResponseSchema, { config: [config] });
  const server = createServer(
    connectNodeAdapter({
      routes(router) {
        router.service(ClientStatusDiscoveryService, {
          fetchClientStatus: () => response,
        });
      },
    }),
  );
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
