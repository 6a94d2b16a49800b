import { symlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDeltaStream } from "../test/grpc-stream.ts";
import { type RunningCli, runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const cluster = "type: STATIC\nconnect_timeout: 1s\n";
const web = "a.example/clusters/web.yaml";
const clusterUrl = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const free = ["--listen", "127.0.0.1:0"];

function serve(dir: string, ...more: readonly string[]): RunningCli {
  return useCli(["serve", dir, ...free, ...more]);
}

function parsed(text: string): readonly Readonly<Record<string, unknown>>[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("xdstp serve", () => {
  it("says where it listens and how to connect, what it has loaded, and ends in order", async () => {
    const { dir } = useFolder({ [web]: cluster });
    const { stdout, stderr, exit, signal, port } = serve(dir);
    const number = await port();
    await stdout.line(/Z versions /);
    signal("SIGINT");
    expect(await exit).toBe(0);
    expect(stderr.text).toBe("");
    const lines = stdout.text
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, ""));
    expect(lines).toEqual([
      `listening   127.0.0.1:${number}, serving ${dir}; to connect: xdstp bootstrap envoy --server 127.0.0.1:${number} > envoy.yaml && envoy -c envoy.yaml (or: xdstp bootstrap grpc --server 127.0.0.1:${number})`,
      "ready       clients are served from revision 1 on",
      "loaded      1 resource from 1 file, revision 1: 1 put, 0 removed",
      expect.stringMatching(/^versions {4}clusters \w{8,11}$/),
      "stopping    SIGINT: 0 streams to end; a second signal stops at once",
      "stopped     every stream has ended",
    ]);
  });

  it("takes an empty folder as a valid state", async () => {
    const { stdout } = serve(useFolder().dir);
    expect(await stdout.line(/Z loaded /)).toContain("0 resources from 0 files");
  });

  it("notes once that Node is old, and serves", async () => {
    const { stdout } = useCli(["serve", useFolder().dir, ...free], { nodeVersion: "24.22.2" });
    await stdout.line(/Z loaded /);
    expect(stdout.text.match(/note {8}Node 24\.22\.2 lacks security fixes/g)).toHaveLength(1);
  });

  it("counts paths from where it was called", async () => {
    const folder = useFolder({ [`config/${web}`]: cluster });
    const { stdout } = useCli(["serve", "config", ...free], { cwd: folder.dir });
    expect(await stdout.line(/Z loaded /)).toContain("1 resource");
  });
});

describe("xdstp serve --partial", () => {
  it("serves what is good next to what is broken, and says both", async () => {
    const folder = useFolder({
      [web]: "connect_timeout: 0s\n",
      "a.example/clusters/api.yaml": cluster,
    });
    const { stdout, port } = serve(folder.dir, "--partial");
    expect(await stdout.line(/Z partial /)).toContain(
      "1 problem; what is good of these edits is applied; what is broken stays as it was",
    );
    expect(stdout.text).toMatch(/Z broken .*web\.yaml:1:1: connect_timeout must be more than 0s/);
    const server = `127.0.0.1:${await port()}`;
    const got = await runToEnd([
      "get",
      `xdstp://a.example/${clusterUrl.split("/")[1] ?? ""}/*`,
      "--server",
      server,
    ]);
    expect(got.out).toContain("xdstp://a.example/envoy.config.cluster.v3.Cluster/api");
    expect(got.out).not.toContain("Cluster/web");
  });
});

describe("xdstp serve --allow", () => {
  it("serves what violates a constraint, and warns", async () => {
    const { dir } = useFolder({ [web]: "connect_timeout: 0s\n" });
    const { stdout } = serve(dir, "--allow", "constraint");
    expect(await stdout.line(/Z warning /)).toContain(
      "web.yaml:1:1: connect_timeout must be more than 0s",
    );
    expect(stdout.text).toMatch(/Z loaded .*1 put/);
  });

  it("names the codes that can be allowed", async () => {
    const { err, code } = await runToEnd(["serve", useFolder().dir, "--allow", "syntax"]);
    expect([code, err.split("\n")[0]]).toEqual([
      2,
      expect.stringMatching(
        /^xdstp serve: --allow "syntax": what has this problem cannot be served; the codes that can be allowed are constraint, bad-cluster, /,
      ),
    ]);
  });
});

describe("xdstp serve, references", () => {
  it("warns once of a reference to what is not served, and says when it is served", async () => {
    const route =
      "virtual_hosts: [{name: a, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: apii}}]}]\n";
    const folder = useFolder({ "_opaque/routes/web.yaml": route });
    const { stdout } = serve(folder.dir);
    expect(await stdout.line(/Z dangling /)).toContain(
      'routes "web" refers to clusters "apii", which is not served',
    );
    folder.write({ "_opaque/clusters/apii.yaml": "connect_timeout: 1s\n" });
    expect(await stdout.line(/Z resolved /)).toContain('clusters "apii" is served now');
    expect(stdout.text.match(/Z dangling /g)).toHaveLength(1);
  });
});

describe("xdstp serve --node-key", () => {
  it("names the key whose files refer to what is not served, and shows the key of each client in its status [S-NODE-10]", async () => {
    const route =
      "virtual_hosts: [{name: a, domains: ['*'], routes: [{match: {prefix: /}, route: {cluster: apii}}]}]\n";
    const folder = useFolder({
      "_opaque/clusters/web.yaml": "connect_timeout: 1s\n",
      "_nodes/gold/_opaque/routes/web.yaml": route,
    });
    const { stdout, port } = serve(folder.dir, "--node-key", "id");
    expect(await stdout.line(/Z dangling /)).toContain(
      'for node key "gold", routes "web" refers to clusters "apii", which is not served',
    );
    const number = await port();
    for (const id of ["gold", "basic"]) {
      const client = await openDeltaStream(number, id);
      onTestFinished(() => {
        client.close();
      });
      client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: ["*"] });
      await client.arrived();
    }
    const { out } = await runToEnd(["status", `127.0.0.1:${number}`]);
    expect(out.split("\n").map((line) => line.split(/ +/).slice(0, 3).join(" "))).toEqual([
      "CLIENT VIEW TYPE",
      "gold gold clusters",
      "basic basic clusters",
      "",
    ]);
    const json = JSON.parse((await runToEnd(["status", `127.0.0.1:${number}`, "--json"])).out) as {
      readonly clients: readonly object[];
    };
    expect(json.clients).toMatchObject([
      { id: "gold", view: "gold" },
      { id: "basic", view: "basic" },
    ]);
    folder.write({ "_nodes/gold/_opaque/clusters/apii.yaml": "connect_timeout: 1s\n" });
    expect(await stdout.line(/Z resolved /)).toContain(
      'for node key "gold", clusters "apii" is served now',
    );
  });

  it("shows no view in status as long as there is no content per node", async () => {
    const folder = useFolder({ "_opaque/clusters/web.yaml": "connect_timeout: 1s\n" });
    const { stdout, port } = serve(folder.dir, "--node-key", "id");
    await stdout.line(/Z loaded /);
    const client = await openDeltaStream(await port(), "n1");
    onTestFinished(() => {
      client.close();
    });
    client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: ["*"] });
    await client.arrived();
    const head = async (): Promise<string | undefined> =>
      (await runToEnd(["status", `127.0.0.1:${await port()}`])).out.split("\n")[0];
    expect(await head()).toMatch(/^CLIENT {2,}TYPE/);
    folder.write({ "_nodes/gold/_opaque/clusters/api.yaml": "connect_timeout: 1s\n" });
    await stdout.line(/Z loaded .*2 resources/);
    expect(await head()).toMatch(/^CLIENT {2,}VIEW/);
  });

  it("serves the files below _nodes/KEY to the nodes with that key, and the shared ones to others [S-NODE-10]", async () => {
    const folder = useFolder({
      "_opaque/clusters/web.yaml": "connect_timeout: 1s\n",
      "_nodes/gold/_opaque/clusters/web.yaml": "connect_timeout: 2s\n",
    });
    const { stdout, port } = serve(folder.dir, "--node-key", "id");
    const number = await port();
    await stdout.line(/Z loaded /);
    const versions: unknown[] = [];
    for (const id of ["gold", "basic"]) {
      const client = await openDeltaStream(number, id);
      client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: ["*"] });
      await client.arrived();
      versions.push(...client.next().resources.map(({ name, version }) => `${name} ${version}`));
      client.close();
    }
    expect(versions).toHaveLength(2);
    expect(new Set(versions).size).toBe(2);
  });

  it("rejects a field that a node does not have", async () => {
    const { stderr, exit } = serve(useFolder().dir, "--node-key", "tier");
    expect(await exit).toBe(2);
    expect(stderr.text).toContain('--node-key: a node has no field "tier"');
  });
});

describe("xdstp serve --json", () => {
  it("tells one stream from begin to end, each event one object, the client's text escaped [S-ACK-15]", async () => {
    const folder = useFolder({ [web]: cluster });
    const { stdout, exit, signal, port } = serve(folder.dir, "--json");
    const number = await port();
    await stdout.line(/"ready"/);
    const client = await openDeltaStream(number, "e1\u001b[2J");
    client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: ["*"] });
    await client.arrived();
    client.ack(client.next());
    await stdout.line(/"ack"/);
    folder.write({ [web]: `${cluster}alt_stat_name: x\n` });
    await client.arrived();
    client.nack(client.next(), "bad\u001b]0;x\u0007\u009b2J\nline");
    expect(await stdout.line(/"nack"/)).not.toMatch(/\p{Cc}/u);
    signal("SIGTERM");
    expect(await client.status).toBe(0);
    expect(await exit).toBe(0);
    client.close();

    const events = parsed(stdout.text);
    expect(events.map(({ from, event }) => `${String(from)} ${String(event)}`)).toEqual([
      "serve listening",
      "cache ready",
      "folder loaded",
      "serve versions",
      "server connect",
      "server subscribe",
      "server push",
      "server ack",
      "folder loaded",
      "serve versions",
      "server push",
      "server nack",
      "serve stopping",
      "server disconnect",
      "serve stopped",
    ]);
    const nack = events.find(({ event }) => event === "nack");
    expect(nack).toMatchObject({
      level: "error",
      client: "e1\u001b[2J",
      variant: "delta",
      type: clusterUrl,
      version: expect.stringMatching(/^\w{8,11}$/) as string,
      accepted: expect.stringMatching(/^\w{8,11}$/) as string,
      reason: "bad\u001b]0;x\u0007\u009b2J\nline",
    });
    expect(Date.parse(String(nack?.time))).toBeGreaterThan(0);
  });
});

describe("xdstp serve, broken files", () => {
  it("runs and is not ready until a broken file is mended, and says so [S-STREAM-9]", async () => {
    const folder = useFolder({ [web]: "connect_timeout: 1s\nconect: 1\n" });
    const { stdout, port } = serve(folder.dir);
    const number = await port();
    expect(await stdout.line(/broken/)).toContain(
      `${join(folder.dir, web)}:2:1: envoy.config.cluster.v3.Cluster: key "conect" is unknown`,
    );
    expect(await stdout.line(/rejected/)).toContain(
      "1 problem; not ready: nothing is served and new streams are rejected until it is fixed",
    );
    const early = await openDeltaStream(number, "early");
    expect(await early.status).toBe(14);
    early.close();
    expect(await stdout.line(/turned away/)).toContain("DeltaAggregatedResources");

    folder.write({ [web]: cluster });
    await stdout.line(/Z loaded /);
    const client = await openDeltaStream(number, "late");
    client.send({ typeUrl: clusterUrl, resourceNamesSubscribe: ["*"] });
    await client.arrived();
    expect(client.next().resources).toHaveLength(1);
    client.close();
  });

  it("keeps the last good state when an edit breaks a file, and says so", async () => {
    const folder = useFolder({ [web]: cluster });
    const { stdout } = serve(folder.dir);
    await stdout.line(/Z loaded /);
    folder.write({ [web]: "type: [\n" });
    expect(await stdout.line(/broken/)).toContain(`${join(folder.dir, web)}:`);
    expect(await stdout.line(/rejected/)).toContain(
      "1 problem; nothing of these edits is applied; the last good state is still served",
    );
  });

  it("says nothing of TTLs and of aliases that it serves, and in one line that those of an xdstp name are not [B-ALIAS-4]", async () => {
    const name = "xdstp://a.example/envoy.config.cluster.v3.Cluster/a";
    const folder = useFolder({
      [web]: cluster,
      "_opaque/clusters/o.yaml": "ttl: 10s\naliases: [p]\nresource: { type: STATIC }\n",
    });
    const { stdout } = serve(folder.dir);
    await stdout.line(/Z loaded /);
    expect(stdout.text).not.toMatch(/notice|alias|TTL|effect/);
    folder.write({
      "a.example/clusters/a.yaml": `name: ${name}\naliases: [b]\nresource: { type: STATIC }\n`,
    });
    await stdout.line(/revision 2/);
    expect(stdout.text.match(/^.*alias.*$/gm)).toEqual([
      expect.stringMatching(
        / aliases +clusters xdstp:.*\/a: its aliases are not served: xdstp names have redirects instead; leave them out, or use an opaque name$/,
      ),
    ]);
  });

  it("rejects names of an authority that it does not answer for [S-AUTH-8]", async () => {
    const { stdout } = serve(useFolder({ [web]: cluster }).dir, "--authority", "b.example");
    expect(await stdout.line(/broken/)).toMatch(/web\.yaml: .*a\.example/);
  });

  it("warns once of a reference to an authority that it does not answer for, with file, field and the way out [S-AUTH-10]", async () => {
    const folder = useFolder({
      "_opaque/routes/r.yaml":
        "virtual_hosts:\n- name: h\n  domains: ['*']\n  routes:\n  - match: { prefix: / }\n    route: { cluster: xdstp://a.example/envoy.config.cluster.v3.Cluster/web }\n",
    });
    const { stdout } = serve(folder.dir, "--authority", "b.example");
    expect(await stdout.line(/reference/)).toMatch(
      /_opaque\/routes\/r\.yaml:6:23: virtual_hosts\[0\]\.routes\[0\]\.route\.cluster: refers to clusters "xdstp:\/\/a\.example\/.*web", but authority "a\.example" is not served here \(serve it too, use an opaque name, or .*\) \[S-AUTH-10\]$/,
    );
    folder.write({ "b.example/clusters/x.yaml": cluster });
    await stdout.line(/revision 2/);
    expect(stdout.text.match(/is not served here/g)).toHaveLength(1);
  });

  it("serves the authorities that are named [S-AUTH-8]", async () => {
    const { stdout } = serve(
      useFolder({ [web]: cluster }).dir,
      "--authority",
      "b.example",
      "--authority",
      "a.example",
    );
    expect(await stdout.line(/Z loaded /)).toContain("1 resource");
  });
});

describe("xdstp serve, losses", () => {
  const many = Object.fromEntries(
    Array.from({ length: 101 }, (_, index) => [`a.example/clusters/c${index}.yaml`, cluster]),
  );

  it("keeps the last state after a mass delete, and names the option that lets it pass", async () => {
    const folder = useFolder(many);
    const { stdout } = serve(folder.dir);
    await stdout.line(/Z loaded /);
    folder.remove("a.example/clusters");
    expect(await stdout.line(/kept/)).toContain(
      "the folder lost 101 of 101 resources at once; no edit is applied, and the last state is still served. Put them back, or, if it is meant, start again with --allow-mass-delete",
    );
  });

  it("keeps the last state when the folder is emptied, whatever its size, and says what to do if it is meant", async () => {
    const folder = useFolder({ [web]: cluster });
    const { stdout } = serve(folder.dir);
    await stdout.line(/Z loaded /);
    folder.remove("a.example");
    const line = await stdout.line(/kept/);
    expect(line).toContain(
      `${folder.dir} is empty, as if a volume were not mounted: 1 of 1 resources are missing; no edit is applied, and the last state is still served`,
    );
    expect(line).toContain(
      "leave an empty sub-folder in it, or start again with --allow-mass-delete",
    );
    folder.write({ "a.example/clusters/.keep": "" });
    expect(await stdout.line(/revision 2/)).toContain("0 put, 1 removed");
  });

  it("takes it as meant with --allow-mass-delete", async () => {
    const folder = useFolder(many);
    const { stdout } = serve(folder.dir, "--allow-mass-delete");
    await stdout.line(/Z loaded /);
    folder.remove("a.example/clusters");
    expect(await stdout.line(/revision 2/)).toContain(
      "0 resources from 0 files, revision 2: 0 put, 101 removed",
    );
  });

  it("keeps the last state when the folder vanishes", async () => {
    const folder = useFolder({ [`config/${web}`]: cluster });
    const { stdout } = serve(join(folder.dir, "config"));
    await stdout.line(/Z loaded /);
    folder.remove("config");
    expect(await stdout.line(/kept/)).toContain(
      `${join(folder.dir, "config")}: does not exist any more, or is not a folder`,
    );
  });
});

describe("xdstp serve, what it cannot begin with", () => {
  async function fails(...argv: readonly string[]): Promise<string> {
    const { code, out, err } = await runToEnd(["serve", ...argv]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err.match(/\n/g)).toHaveLength(1);
    return err;
  }

  it("names a folder that is missing, and the way out", async () => {
    expect(await fails("/no/such/folder", ...free)).toBe(
      "xdstp serve: /no/such/folder: the folder does not exist; make it (it may be empty), or name another\n",
    );
  });

  it("names a file that is given as the folder", async () => {
    const { dir } = useFolder({ "x.yaml": "" });
    expect(await fails(join(dir, "x.yaml"), ...free)).toContain(
      `xdstp serve: ${join(dir, "x.yaml")}: this is not a folder; name the folder that holds AUTHORITY/TYPE/ID.yaml or _opaque/TYPE/NAME.yaml. To serve the static resources of an Envoy bootstrap, move them into a folder: xdstp import envoy FILE DIR`,
    );
  });

  it("names a link that leads back to itself", async () => {
    const { dir } = useFolder();
    symlinkSync("self", join(dir, "self"));
    expect(await fails(join(dir, "self"), ...free)).toBe(
      `xdstp serve: ${join(dir, "self")}: this is a symbolic link that leads back to itself; fix it, or name another folder\n`,
    );
  });

  it("names a port that is in use, and the way out", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, "127.0.0.1", resolve);
    });
    const { port } = other.address() as { readonly port: number };
    expect(await fails(useFolder().dir, "--listen", `127.0.0.1:${port}`)).toBe(
      `xdstp serve: 127.0.0.1:${port} is in use by another program, or by an outgoing connection that has this local port; stop that one, or listen elsewhere: --listen 127.0.0.1:0 takes a free port\n`,
    );
    other.close();
  });

  it("names an address that is not of this machine", async () => {
    expect(await fails(useFolder().dir, "--listen", "192.0.2.1:1")).toMatch(
      /^xdstp serve: cannot listen on 192\.0\.2\.1:1 \(EADDRNOTAVAIL\): /,
    );
  });

  it("names a descriptor set that is missing", async () => {
    expect(await fails(useFolder().dir, ...free, "--descriptors", "/no/such.binpb")).toBe(
      "xdstp serve: --descriptors /no/such.binpb: the file does not exist; give what `buf build -o FILE` writes, where FILE ends with .binpb, .bin, .json, .txtpb or .yaml, also with .gz or .zst\n",
    );
  });

  it("names the one of two descriptor sets that is broken", async () => {
    const { dir } = useFolder({
      "good.json": '{"file":[{"name":"own.proto","package":"own","messageType":[{"name":"Own"}]}]}',
      "bad.binpb": "not a set",
    });
    const err = await fails(
      useFolder().dir,
      ...free,
      "--descriptors",
      join(dir, "good.json"),
      "--descriptors",
      join(dir, "bad.binpb"),
    );
    expect(err).toContain(
      `xdstp serve: --descriptors ${join(dir, "bad.binpb")}: not a descriptor set`,
    );
  });
});

describe("xdstp serve --descriptors", () => {
  it("serves a type of one's own", async () => {
    const own = {
      name: "own.proto",
      package: "own.v1",
      syntax: "proto3",
      messageType: [
        {
          name: "Flag",
          field: [
            {
              name: "text",
              number: 1,
              label: "LABEL_OPTIONAL",
              type: "TYPE_STRING",
              jsonName: "text",
            },
          ],
        },
      ],
    };
    const folder = useFolder({
      "own.json": JSON.stringify({ file: [own] }),
      "config/a.example/own.v1.Flag/dark.yaml": "text: on\n",
    });
    const { stdout, port } = useCli(
      ["serve", "config", ...free, "--descriptors", "own.json", "--control-plane", "mine"],
      { cwd: folder.dir },
    );
    const number = await port();
    expect(await stdout.line(/Z versions /)).toMatch(/versions +own\.v1\.Flag \w{8,11}$/);
    const client = await openDeltaStream(number, "n");
    client.send({
      typeUrl: "type.googleapis.com/own.v1.Flag",
      resourceNamesSubscribe: ["xdstp://a.example/own.v1.Flag/dark"],
    });
    await client.arrived();
    const response = client.next();
    expect(Buffer.from(response.resources[0]?.resource?.value ?? []).toString("latin1")).toBe(
      "\n\u0002on",
    );
    expect(response.controlPlane?.identifier).toBe("mine");
    client.close();
  });
});
