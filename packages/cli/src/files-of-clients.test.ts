import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const clusterType = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const cluster = (seconds: number): string =>
  `resource: { "@type": ${clusterType}, connect_timeout: ${seconds}s }\n`;
const ofClusters = ["--type", "clusters"];

describe("names of files", () => {
  it("need no server: get and watch read them, one or a directory [C-NFILE-2] [C-NFILE-5]", async () => {
    const { dir } = useFolder({ "one/web.yaml": cluster(1), "two/api.yaml": cluster(2) });
    const one = await runToEnd(["get", `file://${dir}/one/web.yaml`, ...ofClusters]);
    expect([one.code, one.err]).toEqual([0, ""]);
    expect(one.out).toContain(
      `# authority: none, the name is that of a file\n# server: file://${dir}/one, files\n`,
    );
    expect(one.out).toContain("connect_timeout: 1s\n");
    const all = await runToEnd(["get", `file://${dir}/one/*`, ...ofClusters]);
    expect(all.out).toContain(`file://${dir}/one/web.yaml`);
    const both = await runToEnd([
      "watch",
      `file://${dir}/one/web.yaml`,
      `file://${dir}/two/*`,
      ...ofClusters,
      "--count",
      "2",
    ]);
    expect(both.code).toBe(0);
    expect(both.out).toContain(`file://${dir}/one/web.yaml`);
    expect(both.out).toContain(`file://${dir}/two/api.yaml`);
  });

  it("say what is missing, and what leads out of the directory [C-NFILE-7] [C-NFILE-8]", async () => {
    const { dir } = useFolder({ "one/web.yaml": cluster(1) });
    const missing = await runToEnd(["get", `file://${dir}/none.yaml`, ...ofClusters]);
    expect([missing.code, missing.err]).toEqual([
      1,
      expect.stringContaining(`(${dir}/none.yaml does not exist)`),
    ]);
    const outside = await runToEnd(["get", "file:///etc/passwd", "--files", dir, ...ofClusters]);
    expect([outside.code, outside.err]).toEqual([
      1,
      `xdstp get: "file:///etc/passwd" leads out of ${dir}, the directory of file names [C-NFILE-7]\n`,
    ]);
  });

  it("of a directory whose other files are broken are shown, with the first problem [C-NFILE-8]", async () => {
    const { dir } = useFolder({ "web.yaml": cluster(1), "broken.yaml": "resource: 5\n" });
    const { code, out, err } = await runToEnd(["get", `file://${dir}/*`, ...ofClusters]);
    expect(code).toBe(0);
    expect(out).toContain(`file://${dir}/web.yaml`);
    expect(err).toContain(`xdstp get: ${dir}/broken.yaml:1:1: `);
  });

  it.each(["file://host/web.yaml", "file:web.yaml", "file:///100%.yaml"])(
    "are not like %s, and the error says what they are like [C-NFILE-1]",
    async (name) => {
      const { code, err } = await runToEnd(["get", name, ...ofClusters]);
      expect(code).toBe(2);
      expect(err).toContain(`${JSON.stringify(name)} is not a name of a file, such as file:///etc`);
    },
  );

  it("are resolved to their directory, and never to a server [C-NFILE-7]", async () => {
    const name = "file:///etc/xds/web.yaml";
    const { out } = await runToEnd(["resolve", name, "--server", "127.0.0.1:1"]);
    expect(out).toContain(
      "source     --files /etc/xds, for names of files\nservers    1. file:///etc/xds  files\n",
    );
  });
});

describe("the files of a bootstrap of Envoy", () => {
  it("are what get and resolve read of it [C-FILE-1]", async () => {
    const folder = useFolder({
      "cds.yaml": `resources: [{ "@type": ${clusterType}, name: web, connect_timeout: 4s }]\n`,
    });
    folder.write({
      "envoy.yaml": `node: { id: me, cluster: c }\ndefault_config_source: { path_config_source: { path: ${folder.dir}/cds.yaml } }\n`,
    });
    const bootstrap = ["--bootstrap", join(folder.dir, "envoy.yaml")];
    const got = await runToEnd(["get", "web", ...ofClusters, ...bootstrap]);
    expect([got.code, got.err]).toEqual([0, ""]);
    expect(got.out).toContain(`# server: file://${folder.dir}/cds.yaml, sotw\n`);
    expect(got.out).toContain("connect_timeout: 4s\n");
    const resolved = await runToEnd(["resolve", "web", ...ofClusters, ...bootstrap]);
    expect(resolved.out).toContain(
      `servers    1. file://${folder.dir}/cds.yaml  sotw, a file with one type\n`,
    );
  });

  it("may not exist yet: get, export and relay say so [C-FILE-5]", async () => {
    const folder = useFolder();
    const source = `path_config_source: { path: ${folder.dir}/cds.yaml }`;
    folder.write({ "envoy.yaml": `default_config_source: { ${source} }\n` });
    const bootstrap = ["--bootstrap", join(folder.dir, "envoy.yaml")];
    const missing = `${folder.dir}/cds.yaml: does not exist; its resources are read as soon as it`;
    const got = await runToEnd(["get", "web", ...ofClusters, ...bootstrap, "--timeout", "0.5"]);
    expect([got.code, got.err]).toEqual([1, expect.stringContaining(missing)]);
    const out = join(folder.dir, "out");
    const exported = await runToEnd(["export", out, ...bootstrap, "--timeout", "0.5"]);
    expect([exported.code, exported.err]).toEqual([1, expect.stringContaining(missing)]);
    const relay = useCli(["relay", ...bootstrap, "--listen", "0", "--opaque-key", "none"]);
    const server = `127.0.0.1:${await relay.port()}`;
    const asked = runToEnd(["get", "web", ...ofClusters, "--server", server]);
    expect(await relay.stdout.line(/does not exist/)).toContain(missing);
    folder.write({ "cds.yaml": `resources: [{ "@type": ${clusterType}, name: web }]\n` });
    expect(await asked).toMatchObject({ code: 0 });
  });

  it("are what a relay serves of an authority, to clients of gRPC [C-AUTH-1] [C-FILE-4]", async () => {
    const name = "xdstp://acme/envoy.config.cluster.v3.Cluster/web";
    const folder = useFolder({
      "acme.yaml": `resources: [{ "@type": type.googleapis.com/envoy.service.discovery.v3.Resource, name: "${name}", resource: { "@type": ${clusterType}, connect_timeout: 4s } }]\n`,
    });
    folder.write({
      "envoy.yaml": `config_sources: [{ authorities: [{ name: acme }], path_config_source: { path: ${folder.dir}/acme.yaml } }]\n`,
    });
    const relay = useCli(["relay", "--bootstrap", join(folder.dir, "envoy.yaml"), "--listen", "0"]);
    const server = `127.0.0.1:${await relay.port()}`;
    const { out, err } = await runToEnd(["get", name, "--server", server]);
    expect([err, out]).toEqual(["", expect.stringContaining("connect_timeout: 4s\n")]);
  });
});
