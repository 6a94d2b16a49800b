import { describe, expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";

/** The module of a transport that cannot reach its servers. */
const closed = `
export const transports = {
  acme: ({ uri }) => ({
    open: (call, { onClosed }) => {
      queueMicrotask(() => onClosed({ code: 14, message: uri + " is closed" }));
      return { opening: true, send: () => false, close: () => undefined };
    },
    close: () => undefined,
  }),
};
`;
const ask = ["get", "web", "--type", "clusters", "--timeout", "1"];

describe("--transport", () => {
  it("loads a path, and a package of the working directory, for the servers of their schemes", async () => {
    const { dir } = useFolder({
      "acme.mjs": closed,
      "node_modules/acme/package.json": '{"name":"acme","type":"module","exports":"./index.js"}',
      "node_modules/acme/index.js": closed,
    });
    for (const transport of ["./acme.mjs", "acme"]) {
      const args = [...ask, "--transport", transport, "--server", "acme://x"];
      const { code, err } = await runToEnd(args, { cwd: dir });
      expect([code, err]).toEqual([1, expect.stringContaining("acme://x is closed")]);
    }
  });

  it("is chosen by the channel_creds of a bootstrap too [C-GRPC-1]", async () => {
    const server = { server_uri: "x", channel_creds: [{ type: "acme" }] };
    const { dir } = useFolder({
      "acme.mjs": closed,
      "grpc.json": JSON.stringify({ xds_servers: [server] }),
    });
    const args = [...ask, "--bootstrap", "grpc.json"];
    const { err } = await runToEnd([...args, "--transport", "./acme.mjs"], { cwd: dir });
    expect(err).toContain("x is closed");
    const without = await runToEnd(args, { cwd: dir });
    expect(without.err).toContain('channel_creds has only "acme", unknown here');
  });

  it.each([
    [["none"], "--transport none: it does not exist; install the package here with npm"],
    [["./none.mjs"], "--transport ./none.mjs: it does not exist; install the package here with"],
    [["./broken.mjs"], "--transport ./broken.mjs: it cannot be loaded: not today"],
    [["./empty.mjs"], "--transport ./empty.mjs: it exports neither transports nor listen"],
    [["./number.mjs"], '--transport ./number.mjs: its export transports has "acme", which is not'],
    [["./door.mjs"], "--transport ./door.mjs: its export listen is not a function"],
    [
      ["./acme.mjs", "./again.mjs"],
      '--transport ./again.mjs: another package has the transport "acme" too; leave one out',
    ],
  ])("says of %j what is wrong with it", async (transports, problem) => {
    const { dir } = useFolder({
      "acme.mjs": closed,
      "again.mjs": closed,
      "empty.mjs": "export const x = 1;",
      "number.mjs": "export const transports = { acme: 5 };",
      "door.mjs": "export const listen = 5;",
      "broken.mjs": "throw new Error('not today');",
    });
    const args = transports.flatMap((transport) => ["--transport", transport]);
    const { code, err } = await runToEnd([...ask, "--server", "h:1", ...args], { cwd: dir });
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(problem);
  });
});

describe("--transport of a server", () => {
  const listening = `
export const listen = ({ host, port }) =>
  port === 7 ? Promise.reject(new Error("no port 7")) : Promise.resolve({ url: "acme://" + host, close: async () => {} });
`;

  it("is shown with its URL, with a warning if other machines may reach it", async () => {
    const { dir } = useFolder({ "acme.mjs": listening });
    const args = ["serve", ".", "--listen", "0", "--transport", "./acme.mjs=0.0.0.0:9"];
    const { stdout, signal, exit } = useCli(args, { cwd: dir });
    expect(await stdout.line(/listening/)).toContain("; also at acme://0.0.0.0");
    expect(stdout.text).toContain("0.0.0.0 may be reached from other machines");
    signal("SIGINT");
    expect(await exit).toBe(0);
  });

  it.each([
    [["serve", "."], "./acme.mjs", "--transport ./acme.mjs: give PACKAGE=HOST:PORT"],
    [["serve", "."], "./acme.mjs=x", '--transport ./acme.mjs "x": give HOST:PORT'],
    [["serve", "."], "./acme.mjs=7", "--transport ./acme.mjs=127.0.0.1:7: it cannot listen: no po"],
    [
      ["serve", "."],
      "./client.mjs=8",
      "--transport ./client.mjs: it does not export listen, so it is only for clients; leave =127",
    ],
    [
      ["serve", "."],
      "./broken.mjs=8",
      "--transport ./broken.mjs=127.0.0.1:8: it cannot listen: its",
    ],
    [
      ["relay", "--server", "127.0.0.1:1", "--workers", "2"],
      "./acme.mjs=8",
      "a --transport that listens needs one process: leave --workers out",
    ],
  ])("of %j with %s has a problem that is named", async (command, transport, problem) => {
    const { dir } = useFolder({
      "acme.mjs": listening,
      "client.mjs": closed,
      "broken.mjs": "export const listen = async () => ({ url: 'acme://x' });",
    });
    const args = [...command, "--listen", "0", "--transport", transport];
    const { code, err } = await runToEnd(args, { cwd: dir });
    expect(code).toBeGreaterThan(0);
    expect(err).toContain(problem);
  });
});
