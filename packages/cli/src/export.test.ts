import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";
import { clusterUrl, useOrigin } from "../test/use-origin.ts";

const clustersOf = (dir: string): readonly string[] =>
  (
    JSON.parse(readFileSync(join(dir, "cds.json"), "utf8")) as {
      resources: { name: string }[];
    }
  ).resources.map(({ name }) => name);

it("writes what a server has, and a bootstrap that reads the files", async () => {
  const origin = await useOrigin();
  const { dir } = useFolder();
  origin.cluster("web");
  origin.cluster("api");
  const { code, out, err } = await runToEnd(["export", dir, "--server", origin.address]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toBe(`${dir}: 2 files (0 listeners, 2 clusters), 2 changed\n`);
  expect(clustersOf(dir)).toEqual(["api", "web"]);
  expect(JSON.parse(readFileSync(join(dir, "bootstrap.json"), "utf8"))).toEqual({
    node: { id: "envoy", cluster: "default" },
    admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
    dynamic_resources: {
      cds_config: {
        path_config_source: { path: join(dir, "cds.json") },
        resource_api_version: "V3",
      },
      lds_config: {
        path_config_source: { path: join(dir, "lds.json") },
        resource_api_version: "V3",
      },
    },
  });
});

it("follows the server with --watch, and loses what the server removes", async () => {
  const origin = await useOrigin();
  const { dir } = useFolder();
  origin.cluster("web");
  const cli = useCli(["export", dir, "--server", origin.address, "--watch", "--json"]);
  await cli.stdout.line(/"changed":2/);
  origin.cluster("api");
  await cli.stdout.line(/"changed":1,.*Cluster","resources":2/);
  expect(clustersOf(dir)).toEqual(["api", "web"]);
  origin.cache.remove(clusterUrl, "web");
  await cli.stdout.line(/"changed":1,.*Cluster","resources":1/);
  expect(clustersOf(dir)).toEqual(["api"]);
  cli.signal("SIGINT");
  expect(await cli.exit).toBe(0);
});

it("writes what a folder has, and says what is wrong with one that cannot be served", async () => {
  const good = useFolder({
    "_opaque/clusters/web.yaml":
      "type: EDS\nconnect_timeout: 1s\neds_cluster_config: { eds_config: { ads: {} } }\n",
    "_opaque/endpoints/web.yaml": "{}\n",
  });
  const { dir } = useFolder();
  expect(await runToEnd(["export", dir, "--from", good.dir])).toMatchObject({ code: 0, err: "" });
  expect(readdirSync(join(dir, "eds"))).toEqual(["web.json"]);

  const bad = useFolder({ "_opaque/clusters/web.yaml": "conect_timeout: 1s\n" });
  const { code, err } = await runToEnd(["export", join(dir, "more"), "--from", bad.dir]);
  expect(code).toBe(1);
  expect(err).toContain('web.yaml:1:1: envoy.config.cluster.v3.Cluster: key "conect_timeout"');
  expect(existsSync(join(dir, "more"))).toBe(false);
});

it("writes into no directory with other content, unless --force is given", async () => {
  const origin = await useOrigin();
  const { dir } = useFolder({ "notes.txt": "" });
  const args = ["export", dir, "--server", origin.address];
  const { code, err } = await runToEnd(args);
  expect(code).toBe(1);
  expect(err).toContain('holds "notes.txt", which is not part of an export');
  expect(await runToEnd([...args, "--force"])).toMatchObject({ code: 0 });
});

it("writes nothing while no server answers, and says so after --timeout", async () => {
  const { dir } = useFolder();
  const { code, err } = await runToEnd([
    "export",
    dir,
    "--server",
    "127.0.0.1:1",
    "--timeout",
    "0.5",
  ]);
  expect(code).toBe(1);
  expect(err).toContain(
    "the server has not answered everything within 0.5 s, so nothing is written",
  );
  expect(err).toContain("127.0.0.1:1");
  expect(readdirSync(dir)).toEqual([]);
});

it.each([
  [[], "which directory?"],
  [["a", "b"], '"b" is one argument too many'],
  [["a", "--from", "b", "--server", "x:1"], "--from and --server both say what is exported"],
])("answers the arguments %j with exit code 2", async (args, text) => {
  const { code, err } = await runToEnd(["export", ...args]);
  expect(code).toBe(2);
  expect(err).toContain(text);
});
