import { describe, expect, it } from "vitest";
import { runToEnd } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";
import { useOrigin } from "../test/use-origin.ts";

const closed = { env: { XDSTP_SERVER: "127.0.0.1:1" } };

describe("XDSTP_SERVER", () => {
  it.each([
    ["status", []],
    ["get", ["web", "--type", "clusters", "--timeout", "0.5"]],
  ])(
    "names the server that %s asks where the call names none, and the error says so",
    async (command, args) => {
      const { code, err } = await runToEnd([command, ...args], closed);
      expect(code).toBe(1);
      expect(err).toContain("127.0.0.1:1");
      expect(err).toContain("(XDSTP_SERVER names this server)\n");
    },
  );

  it("gives way to a server that is typed", async () => {
    const { err } = await runToEnd(["status", "127.0.0.1:2"], closed);
    expect(err).toContain("127.0.0.1:2 does not accept connections");
    expect(err).not.toContain("XDSTP_SERVER");
  });

  it.each(["get", "watch", "record"])("is the server of %s", async (command) => {
    const { dir } = useFolder({});
    const origin = await useOrigin();
    origin.cluster("web");
    const file = command === "record" ? ["r.jsonl"] : [];
    const { code, out } = await runToEnd(
      [
        command,
        ...file,
        "*",
        "--type",
        "clusters",
        "--timeout",
        "5",
        "--json",
        ...(command === "get" ? [] : ["--count", "1"]),
      ],
      { env: { XDSTP_SERVER: origin.address }, cwd: dir },
    );
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining(origin.address) as string,
    });
  });

  it.each([
    [
      ["get", "web", "--type", "clusters", "--server", "foo://x"],
      '--server "foo://x": the scheme foo is not known; give HOST:PORT, an origin such as https://HOST, or --transport with the package that knows it',
    ],
    [
      ["relay", "--server", "https://config.example/path"],
      'the server "https://config.example/path" is not an origin; give https://HOST or https://HOST:PORT',
    ],
    [
      ["get", "web", "--type", "clusters", "--server", "http://h", "--tls"],
      'the server "http://h" has TLS credentials, which http: would not use; give https:',
    ],
    [
      ["status", "https://config.example"],
      'the server "https://config.example" is a URL, and this command needs a server of gRPC; give HOST:PORT',
    ],
  ])("is a URL that has to fit the command: %j", async (args, problem) => {
    const { code, err } = await runToEnd(args);
    expect(code).toBeGreaterThan(0);
    expect(err.replaceAll(/\n +/g, " ")).toContain(problem);
  });

  it.each(["https://me:pa55@config.example", "ws://me:secret@config.example"])(
    "is %s: its password is not shown",
    async (server) => {
      const env = { XDSTP_SERVER: server };
      for (const args of [["get", "x", "--type", "clusters"], ["status"]]) {
        const { code, err } = await runToEnd(args, { env });
        expect(code).toBeGreaterThan(0);
        expect(err).toContain("//***@config.example");
        expect(err).not.toContain("pa55");
      }
    },
  );

  it("is shown by resolve as what says whom to ask", async () => {
    const { out } = await runToEnd(
      ["resolve", "xdstp://a/envoy.config.cluster.v3.Cluster/x", "--json"],
      closed,
    );
    expect(JSON.parse(out)).toMatchObject({ from: "XDSTP_SERVER" });
  });

  it("gives way to --bootstrap", async () => {
    const { dir } = useFolder({
      "b.json": JSON.stringify({
        xds_servers: [{ server_uri: "127.0.0.1:3", channel_creds: [{ type: "insecure" }] }],
      }),
    });
    const { out } = await runToEnd(["resolve", "x", "--bootstrap", "b.json", "--json"], {
      ...closed,
      cwd: dir,
    });
    expect(JSON.parse(out)).toMatchObject({ from: expect.stringContaining("b.json") as string });
  });

  it.each(["status", "get"])("is named where it is not a server, by %s", async (command) => {
    const { code, err } = await runToEnd(
      [command, ...(command === "get" ? ["x", "--type", "clusters"] : [])],
      { env: { XDSTP_SERVER: "nowhere" } },
    );
    expect({ code, line: err.split("\n")[0] }).toEqual({
      code: 2,
      line: expect.stringContaining('XDSTP_SERVER "nowhere": give HOST:PORT') as string,
    });
  });
});
