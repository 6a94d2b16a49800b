import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runToEnd } from "../test/use-cli.ts";

const { version } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as { readonly version: string };

describe("runCli()", () => {
  it("shows the version of its package", async () => {
    expect(await runToEnd(["--version"])).toEqual({ code: 0, out: `${version}\n`, err: "" });
  });

  it.each([["--help"], ["-h"], ["help"]])("with %s lists each command", async (word) => {
    const { code, out, err } = await runToEnd([word]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^ {2}serve +Serve a folder/m);
    expect(out).toMatch(/^ {2}bootstrap +Print a bootstrap/m);
  });

  it.each([["serve"], ["relay"], ["get"], ["watch"], ["record"], ["replay"], ["bootstrap"]])(
    "shows usage, options and one example of %s",
    async (name) => {
      const { code, out } = await runToEnd([name, "--help"]);
      expect(code).toBe(0);
      expect(out).toContain(`\nUsage: xdstp ${name} `);
      expect(out.match(/^Example:\n {2}xdstp /gm)).toHaveLength(1);
      const [, usage = ""] = /^Usage: (.*?)\n\n/ms.exec(out) ?? [];
      const text = out.slice(0, out.indexOf("\nExample:"));
      expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(96);
      for (const [option] of usage.matchAll(/--[a-z-]+/g))
        expect(out).toMatch(new RegExp(`^  ${option}\\b`, "m"));
    },
  );

  it("shows the help of a command behind help too, and names one that there is not", async () => {
    expect(await runToEnd(["help", "serve"])).toEqual(await runToEnd(["serve", "--help"]));
    expect(await runToEnd(["help", "srve"])).toMatchObject({
      code: 2,
      out: "",
      err: expect.stringContaining(
        'the command "srve" does not exist; did you mean serve?\n',
      ) as string,
    });
  });

  it("says on a Node that is too old which one it needs, and still shows its version and its help", async () => {
    const old = { nodeVersion: "20.20.2" };
    expect(await runToEnd(["serve", "config"], old)).toMatchObject({
      code: 1,
      out: "",
      err: "xdstp serve: Node 22 or newer is needed, and this is Node 20.20.2; install a newer Node\n",
    });
    for (const args of [["--version"], ["--help"], ["serve", "--help"]])
      expect(await runToEnd(args, old)).toMatchObject({ code: 0, err: "" });
  });

  it("breaks a long usage into lines between its options", async () => {
    const { err } = await runToEnd(["serve"]);
    expect(err.split("\n").slice(1)).toEqual([
      "Usage: xdstp serve DIR [--listen HOST:PORT] [--json] [--descriptors FILE]... [--partial]",
      "       [--for envoy|grpc]... [--allow CODE]... [--allow-mass-delete] [--authority NAME]...",
      "       [--node-key FIELD] [--control-plane NAME] [--stream-names N] [--limit NAME=NUMBER]...",
      "       [--rest] [--http [--http-authority NAME]] [--openfeature NAME] [--http-host NAME]...",
      "       [--http-origin ORIGIN] [--transport PACKAGE=HOST:PORT]... [--metrics HOST:PORT]",
      "       [--tls-cert FILE --tls-key FILE [--tls-client-ca FILE]] [--policy FILE]",
      "See xdstp serve --help",
      "",
    ]);
  });

  it.each([
    [
      ["bootstrap", "grpc", "--node", "a", "--node", "b"],
      "--node is given 2 times (a, b); give it once",
    ],
    [
      ["get", "x", "--server", "h:1", "--server", "h:2"],
      "--server is given 2 times (h:1, h:2); give it once",
    ],
  ])("rejects an option of one value that is given twice: %j", async (argv, text) => {
    expect(await runToEnd(argv)).toMatchObject({
      code: 2,
      err: expect.stringContaining(text) as string,
    });
  });

  it("shows the help of a command whatever else is asked", async () => {
    expect(await runToEnd(["bootstrap", "envoy", "--server", "nonsense", "--help"])).toMatchObject({
      code: 0,
      err: "",
    });
  });

  it("takes --help behind -- as an argument", async () => {
    expect(await runToEnd(["bootstrap", "--", "--help"])).toMatchObject({ code: 2, out: "" });
  });

  it.each([
    [
      [],
      "xdstp: which command?\nUsage: xdstp\n       serve|validate|import|export|plan|relay|status|explain|get|watch|resolve|route-check|record|replay|lsp|schema|bootstrap\n       [ARGS]\nSee xdstp --help\n",
    ],
    [
      ["srve"],
      'xdstp: the command "srve" does not exist; did you mean serve?\nUsage: xdstp\n       serve|validate|import|export|plan|relay|status|explain|get|watch|resolve|route-check|record|replay|lsp|schema|bootstrap\n       [ARGS]\nSee xdstp --help\n',
    ],
  ])("answers %j with the usage and exit code 2", async (argv, err) => {
    expect(await runToEnd(argv)).toEqual({ code: 2, out: "", err });
  });

  it.each([
    [["serve", "a", "--prot", "1"], "Unknown option '--prot'"],
    [["serve", "a", "--listen"], "Option '--listen <value>'"],
    [["serve", "a", "--json=yes"], "Option '--json'"],
    [["serve", "a", "--control-plane", ""], "--control-plane is empty; give NAME"],
    [["serve", "a", "--stream-names", "0"], '--stream-names "0": give a number from 1'],
    [["serve"], "which folder?"],
    [["serve", ""], "which folder?"],
    [["serve", "a", "b"], '"b" is one argument too many'],
    [["serve", "a", "--listen", "x18000"], '--listen "x18000": give HOST:PORT'],
    [
      ["serve", "a", "--listen", "18993", "--metrics", "18993"],
      "--metrics 127.0.0.1:18993 needs another port than --listen 127.0.0.1:18993; port 0 takes a free one",
    ],
    [
      ["serve", "a", "--metrics", "0.0.0.0:18000"],
      "--metrics 0.0.0.0:18000 needs another port than --listen 127.0.0.1:18000",
    ],
  ])("answers %j with one line, the usage and exit code 2", async (argv, text) => {
    const { code, out, err } = await runToEnd(argv);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    const [line = "", usage = "", ...rest] = err.split("\n");
    expect(line).toContain(`xdstp serve: ${text}`);
    expect(usage).toMatch(/^Usage: xdstp serve DIR /);
    expect(rest.filter((more) => !/^ {7}\S/.test(more))).toEqual(["See xdstp serve --help", ""]);
  });

  it("answers with --json in one JSON object, with the exit code, and the usage where it was called the wrong way", async () => {
    const [missing, wrong, nonsense] = await Promise.all([
      runToEnd(["serve", "/no/such\u001b", "--json"]),
      runToEnd(["status", "--json"]),
      runToEnd(["srve", "--json"]),
    ]);
    expect(missing).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^\{"schema":1,"time":"\d{4}-[^\n]*\}\n$/) as string,
    });
    expect(JSON.parse(missing.err)).toEqual({
      schema: 1,
      time: expect.any(String) as string,
      level: "error",
      from: "serve",
      event: "failed",
      exitCode: 1,
      message:
        "/no/such\u001b: the folder does not exist; make it (it may be empty), or name another",
    });
    expect(JSON.parse(wrong.err)).toMatchObject({
      from: "status",
      exitCode: 2,
      message: "which server? Give HOST:PORT, or set XDSTP_SERVER",
      usage: expect.stringMatching(/^xdstp status \[HOST:PORT\] /) as string,
    });
    expect(JSON.parse(nonsense.err)).toMatchObject({
      from: "xdstp",
      exitCode: 2,
      message: 'the command "srve" does not exist; did you mean serve?',
    });
    expect((await runToEnd(["serve", "--", "a", "b", "--json"])).err).toMatch(/^xdstp serve: /);
  });

  it("names the command or option that was probably meant", async () => {
    expect((await runToEnd(["stauts"])).err).toContain(
      'the command "stauts" does not exist; did you mean status?',
    );
    expect((await runToEnd(["serve", "x", "--lsten", "127.0.0.1:0"])).err).toContain(
      "Unknown option '--lsten'; did you mean --listen?",
    );
  });

  it.each(["-V", "version"])("shows its version by %s too", async (word) => {
    expect((await runToEnd([word])).out).toBe((await runToEnd(["--version"])).out);
  });

  it("escapes what it repeats of its arguments", async () => {
    const { err } = await runToEnd(["serve", "no\u001b[31mfolder"]);
    expect(err).toContain("no\\u{1b}[31mfolder");
    expect(err).not.toContain("\u001b");
  });

  it("says where a fault of its own is, and fails", async () => {
    const stdout = {
      write: () => {
        throw new RangeError("out of paper");
      },
    };
    const { code, err } = await runToEnd(["--version"], { stdout });
    expect(code).toBe(1);
    expect(err).toMatch(/^xdstp: this should not happen: RangeError: out of paper\n +at /);
  });
});
