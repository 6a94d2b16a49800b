import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createFakeClock } from "@xdstp/testing";
import { parseRecording } from "@xdstp/recording";
import { describe, expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";
import { clusterUrl, encode, secretUrl, useOrigin, type Origin } from "../test/use-origin.ts";

const timeless = (text: string): string =>
  text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME").replaceAll(/127\.0\.0\.1:\d+/g, "SERVER");

/** Records a cluster and a change of it. Returns the path of the recording. */
async function recorded(
  origin: Origin,
  variant: "delta" | "sotw",
): Promise<{ readonly dir: string; readonly file: string; readonly out: string }> {
  const { dir } = useFolder();
  origin.cluster("blue", 1);
  const { stdout, exit } = useCli(
    [
      "record",
      "bug.jsonl",
      "blue",
      "--type",
      "clusters",
      "--server",
      origin.address,
      `--${variant}`,
      "--count",
      "2",
      "--node",
      "n1",
    ],
    { cwd: dir },
  );
  await stdout.line(/ACK/);
  origin.cluster("blue", 2);
  expect(await exit).toBe(0);
  return { dir, file: join(dir, "bug.jsonl"), out: stdout.text };
}

describe.each(["delta", "sotw"] as const)("xdstp record and replay (%s)", (variant) => {
  it("writes every message of both sides, with times and bytes, and shows it in short", async () => {
    const origin = await useOrigin();
    const { file, out } = await recorded(origin, variant);
    const recording = parseRecording(readFileSync(file, "utf8"));
    expect(recording).toMatchObject({
      variant,
      server: origin.address,
      node: "n1",
      path: expect.stringContaining("AggregatedResources") as string,
    });
    expect(recording.events.map(({ kind }) => kind)).toEqual([
      "open",
      "request",
      "response",
      "request",
      "response",
      "request",
      "end",
    ]);
    expect(recording.events.at(-1)).toMatchObject({ by: "client" });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(timeless(out).split("\n").slice(0, 3)).toEqual([
      "TIME #1 asks SERVER",
      `TIME #1 client clusters: ${variant === "delta" ? "subscribes to" : "is subscribed to"} blue`,
      expect.stringMatching(/^TIME #1 server clusters: version \w+; 1 resource \(blue\)$/),
    ]);
    expect(out).toMatch(/\nrecorded 5 messages of 1 stream in .*bug\.jsonl\n$/);
  });

  it("plays the server to a client, which gets the recorded states one after the other", async () => {
    const { file } = await recorded(await useOrigin(), variant);
    const server = useCli(["replay", file, "--serve", "127.0.0.1:0", "--count", "1"]);
    const address = `127.0.0.1:${await server.port()}`;
    const { code, out } = await runToEnd([
      "watch",
      "blue",
      "--type",
      "clusters",
      "--server",
      address,
      `--${variant}`,
      "--count",
      "2",
    ]);
    expect(code).toBe(0);
    expect(out).toContain("-connect_timeout: 1s\n+connect_timeout: 2s\n");
    expect(await server.exit).toBe(0);
    expect(server.stdout.text).toMatch(/ #1 closed with code \d+\n/);
  });

  it("plays a recording of one response to a client that unsubscribes then, and finds no difference", async () => {
    const origin = await useOrigin();
    origin.cluster("blue", 1);
    const { dir } = useFolder();
    await runToEnd(
      [
        "record",
        "one.jsonl",
        "blue",
        "--type",
        "clusters",
        "--server",
        origin.address,
        `--${variant}`,
        "--count",
        "1",
      ],
      { cwd: dir },
    );
    const server = useCli(["replay", "one.jsonl", "--serve", "127.0.0.1:0", "--count", "1"], {
      cwd: dir,
    });
    const { code } = await runToEnd([
      "get",
      "blue",
      "--type",
      "clusters",
      "--server",
      `127.0.0.1:${await server.port()}`,
      `--${variant}`,
    ]);
    expect(code).toBe(0);
    expect(await server.exit, server.stdout.text).toBe(0);
  });

  it("says what a client asks for that the recording has not, and fails", async () => {
    const { file } = await recorded(await useOrigin(), variant);
    const server = useCli(["replay", file, "--serve", "127.0.0.1:0", "--count", "1"]);
    const address = `127.0.0.1:${await server.port()}`;
    const clock = createFakeClock();
    const { exit } = useCli(
      ["get", "red", "--type", "clusters", "--server", address, `--${variant}`, "--timeout", "0.3"],
      { clock },
    );
    await server.stdout.line(/unknown/);
    clock.advance(300);
    expect(await exit).toBe(1);
    expect(await server.exit).toBe(1);
    expect(timeless(server.stdout.text)).toContain(
      "TIME #1 unknown clusters: the recording has no answer to red\n",
    );
    expect(server.stdout.text).toMatch(/ 2 responses not sent; the recording has also blue/);
  });

  it("plays the client to a server that gives the same, and finds no difference", async () => {
    const { file } = await recorded(await useOrigin(), variant);
    const replayed = useCli(["replay", file, "--serve", "127.0.0.1:0"]);
    const { code, out } = await runToEnd([
      "replay",
      file,
      "--server",
      `127.0.0.1:${await replayed.port()}`,
    ]);
    expect({ code, last: out.trimEnd().split("\n").at(-1) }).toEqual({
      code: 0,
      last: "no difference",
    });
  });

  it("plays the client to a server that gives something else, and shows what", async () => {
    const { file } = await recorded(await useOrigin(), variant);
    const other = await useOrigin();
    other.cluster("blue", 1);
    const replay = async (
      ...more: readonly string[]
    ): Promise<{ readonly code: number; readonly out: string }> => {
      const clock = createFakeClock();
      // After the client has accepted everything, it waits for further responses.
      const unlisten = other.server.events(({ kind }) => {
        if (kind === "ack") clock.advance(300);
      });
      return runToEnd(["replay", file, "--server", other.address, "--timeout", "0.3", ...more], {
        clock,
      }).finally(unlisten);
    };
    const { code, out } = await replay();
    expect(code).toBe(1);
    expect(timeless(out).split("\n").slice(-7)).toEqual(
      [
        "TIME #1 difference clusters blue: the content differs, recorded (-) and now (+)",
        "@@ -1,3 +1,3 @@",
        ` '@type': ${clusterUrl}`,
        " name: blue",
        "-connect_timeout: 2s",
        "+connect_timeout: 1s",
        "1 difference",
        "",
      ].slice(-7),
    );
    const json = await replay("--json");
    expect(
      json.out
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as { readonly event: string })
        .filter(({ event }) => event === "difference"),
    ).toMatchObject([
      {
        name: "blue",
        recorded: { resource: { connect_timeout: "2s" } },
        now: { resource: { connect_timeout: "1s" } },
      },
    ]);
  });

  it("warns of secrets in a recording, and leaves them out with --redact", async () => {
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
    const { dir } = useFolder();
    const record = async (
      file: string,
      ...more: readonly string[]
    ): Promise<{ readonly err: string; readonly bytes: string }> => {
      const { code, err } = await runToEnd(
        [
          "record",
          file,
          "key",
          "--type",
          "secrets",
          "--server",
          origin.address,
          `--${variant}`,
          "--count",
          "1",
          ...more,
        ],
        { cwd: dir },
      );
      expect(code).toBe(0);
      const text = readFileSync(join(dir, file), "utf8");
      return {
        err,
        bytes: parseRecording(text)
          .events.map((event) =>
            "bytes" in event ? Buffer.from(event.bytes).toString("latin1") : "",
          )
          .join("\n"),
      };
    };
    const open = await record("open.jsonl");
    expect(open.err).toMatch(
      /^xdstp record: warning: .*open\.jsonl holds what may be secret \(the first in key\); --redact leaves it out\n$/,
    );
    expect(open.bytes).toContain("PEM!");
    const redacted = await record("redacted.jsonl", "--redact");
    expect([
      redacted.err,
      redacted.bytes.includes("PEM!"),
      redacted.bytes.includes("[redacted]"),
    ]).toEqual(["", false, true]);
  });
});

describe("xdstp record and replay, what they cannot do", () => {
  it("do not write over a file, read none that is not there, and name the line that is broken", async () => {
    const origin = await useOrigin();
    const { dir } = useFolder({
      there: "",
      broken:
        '{"xdstp":"recording","format":1,"variant":"delta","time":"","path":"/a.B/C","server":"","node":""}\nno\n',
    });
    const run = async (...argv: readonly string[]): Promise<string> =>
      (await runToEnd(argv, { cwd: dir })).err.replaceAll(`${dir}/`, "");
    expect(
      await run("record", "there", "a", "--type", "clusters", "--server", origin.address),
    ).toBe("xdstp record: there is there already; remove it, or name another file\n");
    expect(await run("replay", "none", "--serve", "127.0.0.1:0")).toBe(
      "xdstp replay: none: the file does not exist; give what `xdstp record` has written\n",
    );
    expect(await run("replay", "broken", "--serve", "127.0.0.1:0")).toBe(
      "xdstp replay: broken:2: is not a JSON object\n",
    );
    expect(await run("replay", "there", "--serve", "127.0.0.1:0")).toBe(
      "xdstp replay: there: is empty; give what `xdstp record` has written\n",
    );
  });

  it("say that there is no server", async () => {
    const { file } = await recorded(await useOrigin(), "delta");
    const gone = await useOrigin();
    await gone.close();
    expect(
      timeless((await runToEnd(["replay", file, "--server", gone.address, "--timeout", "2"])).err),
    ).toBe(
      "xdstp replay: cannot connect to SERVER: nothing listens there (ECONNREFUSED); check the port, and that the server runs\n",
    );
    const clock = createFakeClock();
    const { stdout, stderr, exit } = useCli(
      [
        "record",
        "x.jsonl",
        "a",
        "--type",
        "clusters",
        "--server",
        gone.address,
        "--timeout",
        "0.3",
      ],
      { cwd: useFolder().dir, clock },
    );
    await stdout.line(/ended by the/);
    clock.advance(300);
    expect(await exit).toBe(1);
    expect(timeless(stderr.text)).toMatch(
      /^xdstp record: only 0 responses came within 0\.3 s: cannot connect to SERVER: .*; .*x\.jsonl has what was sent\n$/,
    );
  });

  it("keep to --limit as a server and to --channel-limit as a client", async () => {
    const origin = await useOrigin();
    const { file } = await recorded(origin, "delta");
    const server = useCli([
      "replay",
      file,
      "--serve",
      "127.0.0.1:0",
      "--limit",
      "maxMessageBytes=1",
      "--limit",
      "maxFirstMessageBytes=1",
    ]);
    const address = `127.0.0.1:${await server.port()}`;
    const get = useCli(["get", "blue", "--type", "clusters", "--server", address]);
    await server.stdout.line(/closed with code 8/);
    get.signal("SIGINT");
    const { code, out } = await runToEnd([
      "replay",
      file,
      "--server",
      origin.address,
      "--timeout",
      "1",
      "--channel-limit",
      "maxMessageBytes=1",
    ]);
    expect([code, out]).toEqual([
      1,
      expect.stringContaining("the server ended the stream with code 8") as string,
    ]);
  });

  it("turn a client of the other variant away, and say so", async () => {
    const { file } = await recorded(await useOrigin(), "delta");
    const server = useCli(["replay", file, "--serve", "127.0.0.1:0"]);
    const { err } = await runToEnd([
      "get",
      "blue",
      "--type",
      "clusters",
      "--sotw",
      "--server",
      `127.0.0.1:${await server.port()}`,
    ]);
    expect(timeless(err)).toMatch(
      /^xdstp get: SERVER does not serve the sotw variant \(a client asks by .*; try --delta\n$/,
    );
    await server.stdout.line(/rejected: a client asks by/);
  });

  it.each([
    [["record"], "which file?"],
    [["record", "f"], "which name? It stands behind the file"],
    [["replay"], "which file?"],
    [
      ["replay", "f"],
      "which side? Give --serve to play the server, or --server to play its client",
    ],
    [
      ["replay", "f", "--serve", "a:1", "--tls"],
      "options of TLS go with --server; a recording is served without TLS",
    ],
    [
      ["replay", "f", "--serve", "a:1", "--show-secrets"],
      "--show-secrets and --descriptors go with --server; a recording is served as it is",
    ],
    [
      ["replay", "f", "--serve", "a:1", "--descriptors", "d.binpb"],
      "--show-secrets and --descriptors go with --server; a recording is served as it is",
    ],
    [["replay", "f", "--server", "a:1", "--count", "1"], "--count goes with --serve"],
    [
      ["replay", "f", "--server", "a:1", "--limit", "pingMs=1"],
      "--limit goes with --serve; with --server it is --channel-limit",
    ],
    [
      ["replay", "f", "--serve", "a:1", "--channel-limit", "pingMs=1"],
      "--channel-limit goes with --server; with --serve it is --limit",
    ],
  ])("show the usage when they are called the wrong way: %j", async (argv, said) => {
    const { code, err } = await runToEnd(argv);
    expect(code).toBe(2);
    expect(err).toContain(`xdstp ${argv[0] ?? ""}: ${said}\nUsage: xdstp ${argv[0] ?? ""} FILE`);
  });
});
