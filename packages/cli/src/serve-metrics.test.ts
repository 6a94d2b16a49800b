import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { openDeltaStream } from "../test/grpc-stream.ts";
import { createTextSink } from "../test/text-sink.ts";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

const cluster = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const free = ["--listen", "127.0.0.1:0"];

async function get(
  url: string,
  method = "GET",
): Promise<{ readonly status: number; readonly text: string; readonly type: string }> {
  const response = await fetch(url, { method, headers: { connection: "close" } });
  return {
    status: response.status,
    text: await response.text(),
    type: response.headers.get("content-type") ?? "",
  };
}

describe("xdstp serve --metrics", () => {
  it("serves what it measures for Prometheus on loopback, and whether it is well and ready", async () => {
    const folder = useFolder({ "a.example/clusters/web.yaml": "type: [\n" });
    const { stdout, port, signal, exit } = useCli(["serve", folder.dir, ...free, "--metrics", "0"]);
    const base =
      /metrics: (http:\/\/127\.0\.0\.1:\d+)\/metrics$/.exec(await stdout.line(/listening/))?.[1] ??
      "";
    await stdout.line(/rejected/);
    expect(await get(`${base}/healthz`)).toMatchObject({ status: 200, text: "ok\n" });
    expect(await get(`${base}/readyz`)).toMatchObject({ status: 503 });
    folder.write({ "a.example/clusters/web.yaml": "type: STATIC\n" });
    await stdout.line(/Z loaded /);
    expect(await get(`${base}/readyz`)).toMatchObject({ status: 200 });
    const client = await openDeltaStream(await port(), "n1");
    client.send({ typeUrl: cluster, resourceNamesSubscribe: ["*"] });
    await client.arrived();
    const { text, type } = await get(`${base}/metrics?x=1`);
    expect(type).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(text).toContain('\npilot_xds{variant="delta"} 1\n');
    expect(text).toContain('\npilot_xds_pushes{type="envoy.config.cluster.v3.Cluster"} 1\n');
    expect(text).toContain(
      '\nxdstp_types{type="envoy.config.cluster.v3.Cluster",state="STALE"} 1\n',
    );
    expect(text).not.toContain("n1");
    expect(await get(`${base}/other`)).toMatchObject({ status: 404 });
    expect(await get(`${base}/metrics`, "POST")).toMatchObject({ status: 405 });
    client.close();
    signal("SIGINT");
    expect(await exit).toBe(0);
    await expect(get(`${base}/healthz`)).rejects.toThrow();
  });

  it("measures the revision that the log names, also while the folder is broken and where the view of a node key changes with it", async () => {
    const web = "_opaque/clusters/web.yaml";
    const folder = useFolder({
      [web]: "type: STATIC\n",
      [`_nodes/edge/${web}`]: "connect_timeout: 1s\n",
    });
    const cli = useCli(["serve", folder.dir, ...free, "--metrics", "0"]);
    const [, url = ""] = /metrics: (http:\S+)$/.exec(await cli.stdout.line(/listening/)) ?? [];
    const measured = async (): Promise<string | undefined> =>
      /\nxdstp_revision (\d+)\n/.exec((await get(url)).text)?.[1];
    const logged = async (change: string): Promise<string | undefined> =>
      /revision (\d+):/.exec(await cli.stdout.line(new RegExp(`Z loaded .*: ${change}`)))?.[1];
    expect(await logged("2 put")).toBe(await measured());
    folder.remove(`_nodes/edge/${web}`);
    const revision = await logged("0 put, 1 removed");
    expect(await measured()).toBe(revision);
    folder.write({ [web]: "type: EDSX\n" });
    await cli.stdout.line(/Z rejected /);
    expect(await measured()).toBe(revision);
    folder.write({ [web]: "type: STRICT_DNS\n" });
    expect(await logged("1 put")).toBe(await measured());
  });

  it("counts the lines of the log that cannot be written", async () => {
    const { dir } = useFolder({ "a.example/clusters/web.yaml": "type: STATIC\n" });
    const log = createTextSink();
    let isFull = false;
    const stdout = {
      write(text: string): void {
        if (isFull) throw new Error("ENOSPC");
        log.write(text);
      },
    };
    useCli(["serve", dir, ...free, "--metrics", "0"], { stdout });
    const [, port = "", url = ""] =
      /127\.0\.0\.1:(\d+), .*metrics: (http:\S+)$/.exec(await log.line(/listening/)) ?? [];
    await log.line(/Z loaded /);
    expect((await get(url)).text).toContain("\nxdstp_log_lines_lost_total 0\n");
    isFull = true;
    const client = await openDeltaStream(Number(port), "n1");
    client.send({ typeUrl: cluster, resourceNamesSubscribe: ["*"] });
    await client.arrived();
    expect((await get(url)).text).toMatch(/\nxdstp_log_lines_lost_total [1-9]/);
    client.close();
  });

  it("tells programs where, and ends with one line where the port is taken", async () => {
    const { dir } = useFolder();
    const { stdout } = useCli(["serve", dir, ...free, "--json", "--metrics", "127.0.0.1:0"]);
    expect(JSON.parse(await stdout.line(/"listening"/))).toMatchObject({
      metrics: { host: "127.0.0.1" },
    });
    const other = createServer();
    await new Promise<void>((resolve) => {
      other.listen(0, "127.0.0.1", resolve);
    });
    const { port } = other.address() as { readonly port: number };
    expect(await runToEnd(["serve", dir, ...free, "--metrics", String(port)])).toEqual({
      code: 1,
      out: "",
      err: `xdstp serve: --metrics 127.0.0.1:${port}: the port is in use by another program, or by an outgoing connection that has this local port; take another one\n`,
    });
    other.close();
    expect((await runToEnd(["serve", dir, "--metrics", "somewhere"])).code).toBe(2);
  });
});
