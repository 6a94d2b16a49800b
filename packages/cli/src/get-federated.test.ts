import { createFakeClock } from "@xdstp/testing";
import { describe, expect, it } from "vitest";
import { alt, lead, listOf, of, typeName, useFederation } from "../test/use-federation.ts";
import { createRawServer } from "../test/raw-server.ts";
import { runToEnd } from "../test/use-cli.ts";
import { useOrigin } from "../test/use-origin.ts";

const typeUrl = `type.googleapis.com/${typeName}`;

/** Removes what differs from run to run. */
const timeless = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/(?<=version: )[\w-]{22}$|(?<= )[\w-]{8}(?= {2})/gm, "HASH");

describe("xdstp get, over several authorities", () => {
  const get = async (
    dir: string,
    ...args: readonly string[]
  ): Promise<{ readonly code: number; readonly out: string; readonly err: string }> => {
    const { code, out, err } = await runToEnd(["get", ...args, "--bootstrap", "boot.json"], {
      cwd: dir,
    });
    return { code, out: timeless(out), err };
  };

  it("follows redirects, and shows each step with its authority and its server [C-REDIR-1, C-REDIR-3]", async () => {
    const { a, b, dir } = await useFederation(["a", "b"]);
    a.redirect(of("a", "x"), of("a", "y"));
    a.redirect(of("a", "y"), of("b", "z"));
    b.cluster(of("b", "z"), 3);
    const { code, out, err } = await get(dir, of("a", "x"));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(
      [
        `# name: ${of("a", "x")}`,
        "# version: HASH",
        "# received: TIME (xDS does not say how old it is)",
        "# authority: a",
        `# server: ${a.address} (xdstp), delta`,
        `# redirected to ${of("a", "y")}`,
        `#   authority a, server ${a.address}`,
        `# redirected to ${of("b", "z")}`,
        `#   authority b, server ${b.address}`,
        `'@type': ${typeUrl}`,
        `name: ${of("b", "z")}`,
        "connect_timeout: 3s",
        "",
      ].join("\n"),
    );
    expect(JSON.parse((await get(dir, of("a", "x"), "--json")).out)).toMatchObject({
      name: of("a", "x"),
      authority: "a",
      server: a.address,
      hops: [
        { kind: "redirect", to: of("a", "y"), authority: "a", server: a.address },
        { kind: "redirect", to: of("b", "z"), authority: "b", server: b.address },
      ],
    });
  });

  it("looks in DNS for authorities that a redirect leads to, where --dns says so [C-AUTH-5]", async () => {
    const { a, dir } = await useFederation(["a"]);
    const none = (): Promise<never> =>
      Promise.reject(Object.assign(new Error("none"), { code: "ENOTFOUND" }));
    const dns = {
      resolve4: none,
      resolve6: none,
      resolveSrv: (name: string) =>
        name === "_xds._tcp.c.example"
          ? Promise.resolve([{ name: "localhost", port: 1, priority: 0, weight: 0 }])
          : none(),
    };
    a.redirect(of("a", "x"), of("c.example", "x"));
    a.redirect(of("a", "y"), of("d.example", "y"));
    const ask = async (...args: readonly string[]): Promise<string> =>
      (await runToEnd(["get", ...args, "--bootstrap", "boot.json"], { cwd: dir, dns })).err;
    expect(await ask(of("a", "y"))).toContain(
      'authority "d.example"; known: "a"; add a source for it',
    );
    expect(await ask(of("a", "y"), "--dns")).toContain(
      "DNS has no SRV _xds._tcp.d.example and no address of d.example",
    );
    expect(await ask(of("a", "x"), "--dns", "--timeout", "1")).toContain("localhost:1");
    expect(await ask(of("c.example", "x"), "--dns", "--timeout", "1")).toContain("localhost:1");
  });

  it("shows the alternative and why it is in use, and sends nothing of the directive [C-ALT-1, C-ALT-6]", async () => {
    const { b, c, dir } = await useFederation(["b", "c"], { a: "127.0.0.1:1" });
    b.cluster(of("b", "x"));
    c.cluster(of("c", "x"));
    const name = `${of("a", "x")}${alt(of("b", "x"))}`;
    const { code, out, err } = await get(dir, name);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(
      [
        `# server: 127.0.0.1:1, delta`,
        `# alternative ${of("b", "x")}`,
        `#   authority b, server ${b.address}`,
        "#   since cannot connect to 127.0.0.1:1: nothing listens there (ECONNREFUSED); check the port, and that the server runs",
        "",
      ].join("\n"),
    );
    expect(b.asked).toEqual([of("b", "x")]);
    const live = `${of("c", "x")}${alt(of("b", "x"))}`;
    expect(JSON.parse((await get(dir, live, "--json")).out)).not.toHaveProperty("hops");
    expect(c.asked).toEqual([of("c", "x")]);
  });

  it("asks the alternative of what does not exist where that is wanted", async () => {
    const { a, b, dir } = await useFederation(["a", "b"]);
    b.cluster(of("b", "x"));
    const name = `${of("a", "x")}${alt(of("b", "x"))}`;
    expect(await get(dir, name)).toEqual({
      code: 1,
      out: "",
      err: `xdstp get: ${a.address} has no ${JSON.stringify(name)}\n`,
    });
    expect(await get(dir, name, "--alt-on", "missing")).toMatchObject({ code: 0, err: "" });
    b.cache.remove(typeUrl, of("b", "x"));
    expect((await get(dir, name, "--alt-on", "missing")).err).toMatch(
      /^xdstp get: .*does not exist; its alternative: .*does not exist.*\n$/,
    );
  });

  it("waits for a silent server only a part of the time, so that its alternative has the rest [C-ALT-2]", async () => {
    const clock = createFakeClock();
    const silent = await createRawServer(() => {
      clock.advance(1_000);
    });
    const { b, dir } = await useFederation(["b"], { a: silent.address });
    b.cluster(of("b", "x"));
    const { code, err, out } = await runToEnd(
      ["get", `${of("a", "x")}${alt(of("b", "x"))}`, "--bootstrap", "boot.json", "--timeout", "3"],
      { cwd: dir, clock },
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(
      `# alternative ${of("b", "x")}\n#   authority b, server ${b.address}\n#   since ${silent.address} is connected and has not answered\n`,
    );
  });

  it("waits no longer for a member of a list, which may have an alternative of its own [C-ALT-2, C-LIST-5]", async () => {
    const clock = createFakeClock();
    const silent = await createRawServer(() => {
      clock.advance(2_000);
    });
    const { b, dir } = await useFederation(["b"], { a: silent.address });
    b.cluster(of("b", "x"));
    b.list(listOf("b", "all"), `${of("a", "x")}${alt(of("b", "x"))}`);
    const { code, err, out } = await runToEnd(
      ["get", listOf("b", "all"), "--bootstrap", "boot.json", "--timeout", "3"],
      { cwd: dir, clock },
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(
      `    alternative ${of("b", "x")}\n      authority b, server ${b.address}\n      since ${silent.address} is connected and has not answered\n`,
    );
  });

  it("says of each alternative of an alternative why it is asked [C-ALT-5]", async () => {
    const { c, dir } = await useFederation(["c"], { a: "127.0.0.1:1", b: "127.0.0.1:2" });
    c.cluster(of("c", "x"));
    const { out } = await get(
      dir,
      `${of("a", "x")}${alt(`${of("b", "x")}${alt(of("c", "x"))}`)}`,
      "--json",
    );
    const cannot = (port: number): unknown =>
      expect.stringMatching(`^cannot connect to 127\\.0\\.0\\.1:${port}: [^;]+; [^;]+$`);
    expect(JSON.parse(out)).toMatchObject({
      hops: [
        { kind: "alt", authority: "b", server: "127.0.0.1:2", reason: cannot(1) },
        { kind: "alt", to: of("c", "x"), authority: "c", server: c.address, reason: cannot(2) },
      ],
    });
  });

  it("says of an authority that nobody answers for which are known, and where it was met [C-AUTH-5, C-REDIR-3]", async () => {
    const { a, dir } = await useFederation(["a"]);
    a.redirect(of("a", "x"), of("nowhere", "y"));
    const known = 'known: "a"; add a source for it [C-AUTH-5]';
    const noSubscribers = `no server is configured for the authority "nowhere"; ${known}`;
    expect((await get(dir, of("a", "x"))).err).toBe(
      `xdstp get: ${of("a", "x")} -> ${of("nowhere", "y")}: ${noSubscribers}\n`,
    );
    for (const name of [of("nowhere", "y"), of("nowhere", "*"), listOf("nowhere", "all")])
      expect(await get(dir, name)).toEqual({
        code: 1,
        out: "",
        err: `xdstp get: ${noSubscribers}\n`,
      });
  });

  it("shows the whole chain of a circle, and of too many redirects, with the way out [C-REDIR-4]", async () => {
    const { a, b, dir } = await useFederation(["a", "b"]);
    a.redirect(of("a", "x"), of("b", "x"));
    b.redirect(of("b", "x"), of("a", "x"));
    expect((await get(dir, of("a", "x"))).err).toBe(
      `xdstp get: ${of("a", "x")} -> ${of("b", "x")} -> ${of("a", "x")}: the redirects go in a circle [C-REDIR-4]\n`,
    );
    const failed = JSON.parse((await get(dir, of("a", "x"), "--json")).err) as object;
    expect(failed).toMatchObject({
      event: "failed",
      rule: "C-REDIR-4",
      message: expect.stringMatching(/the redirects go in a circle$/) as string,
    });
    for (const [from, to] of ["1", "2", "3", "4", "5", "6"].entries())
      a.redirect(of("a", String(from)), of("a", to));
    a.cluster(of("a", "6"));
    const chain = ["0", "1", "2", "3", "4", "5", "6"].map((id) => of("a", id)).join(" -> ");
    expect((await get(dir, of("a", "0"))).err).toBe(
      `xdstp get: ${chain}: more than 5 redirects; --max-hops allows more [C-REDIR-4]\n`,
    );
    expect(await get(dir, of("a", "0"), "--max-hops", "6")).toMatchObject({ code: 0, err: "" });
  });

  it("says where a name leads that does not exist there", async () => {
    const { a, b, dir } = await useFederation(["a", "b"]);
    a.redirect(of("a", "x"), of("b", "y"));
    expect((await get(dir, of("a", "x"))).err).toBe(
      `xdstp get: ${b.address} has no "${of("b", "y")}", where "${of("a", "x")}" leads\n`,
    );
  });

  it("lists a list in its order, with what its members lack and where they lead [C-LIST-5, C-LIST-9]", async () => {
    const { a, b, dir } = await useFederation(["a", "b"]);
    b.cluster(of("b", "far"), 3);
    a.redirect(of("a", "moved"), of("b", "far"));
    a.list(listOf("a", "all"), of("b", "far"), "=inline", of("a", "none"), of("a", "moved"));
    const { code, out, err } = await get(dir, listOf("a", "all"));
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.split("\n").map((line) => line.trimEnd().replaceAll(/ {2,}(?=\S)/g, "  "))).toEqual([
      "NAME  STATE  VERSION  AUTHORITY  BYTES",
      `${of("b", "far")}  held  HASH  b  51`,
      `${of("a", "inline")}  held  1  a  8`,
      `${of("a", "none")}  missing  a`,
      `  "${of("a", "none")}" does not exist`,
      `${of("a", "moved")}  held  HASH  a  51`,
      `  redirected to ${of("b", "far")}`,
      `  authority b, server ${b.address}`,
      "",
    ]);
    expect(JSON.parse((await get(dir, listOf("a", "all"), "--json")).out)).toMatchObject({
      name: listOf("a", "all"),
      type: typeUrl,
      complete: true,
      server: a.address,
      resources: [
        {
          name: of("b", "far"),
          state: "held",
          authority: "b",
          resource: { connect_timeout: "3s" },
        },
        { name: of("a", "inline"), state: "held", version: "1" },
        { name: of("a", "none"), state: "missing", reason: expect.any(String) as string },
        { name: of("a", "moved"), hops: [{ kind: "redirect", server: b.address }] },
      ],
    });
    const yaml = (await get(dir, listOf("a", "all"), "--output", "yaml")).out;
    expect(yaml).toContain(`# ${of("a", "none")} is missing: `);
    expect(yaml.split("---\n")).toHaveLength(3);
  });

  it("shows as the authority of a member at an HTTP address its host, and of one in a file that it is one, never the authority of the list [C-LIST-5]", async () => {
    const { a, dir } = await useFederation(["a"]);
    a.list(listOf("a", "all"), "http://cdn.example/clusters/web", "file:///etc/clusters/web");
    const { out } = await get(dir, listOf("a", "all"), "--timeout", "1");
    const rows = out
      .split("\n")
      .filter((line) => /^(?:http|file):/.test(line))
      .map((line) => line.trimEnd().replaceAll(/ {2,}(?=\S)/g, "  "));
    expect(rows).toEqual([
      "http://cdn.example/clusters/web  failed  cdn.example",
      "file:///etc/clusters/web  failed  (file)",
    ]);
  });

  it("shows where a list itself leads, above its members, and why [C-REDIR-6, C-ALT-7]", async () => {
    const { a, b, dir } = await useFederation(["a", "b"], { c: "127.0.0.1:1" });
    a.redirect(listOf("a", "moved"), listOf("b", "all"));
    a.redirect(listOf("a", "lost"), listOf("b", "none"));
    b.list(listOf("b", "all"), "=one");
    const way = [`redirected to ${listOf("b", "all")}`, `  authority b, server ${b.address}`];
    const { out } = await get(dir, listOf("a", "moved"));
    expect(out.split("\n").slice(0, 4)).toEqual([
      listOf("a", "moved"),
      ...way.map((line) => `  ${line}`),
      expect.stringMatching(/^NAME /),
    ]);
    expect(
      (await get(dir, listOf("a", "moved"), "--output", "yaml")).out.split("\n").slice(0, 4),
    ).toEqual([
      `# ${listOf("a", "moved")}`,
      ...way.map((line) => `#   ${line}`),
      `# name: ${of("a", "one")}`,
    ]);
    expect(JSON.parse((await get(dir, listOf("a", "moved"), "--json")).out)).toMatchObject({
      name: listOf("a", "moved"),
      hops: [{ kind: "redirect", to: listOf("b", "all"), authority: "b", server: b.address }],
      resources: [{ name: of("a", "one") }],
    });
    expect((await get(dir, `${listOf("c", "all")}${alt(listOf("b", "all"))}`)).out).toContain(
      `  alternative ${listOf("b", "all")}\n    authority b, server ${b.address}\n    since cannot connect to 127.0.0.1:1`,
    );
    expect((await get(dir, listOf("a", "lost"))).err).toBe(
      `xdstp get: ${b.address} has no "${listOf("b", "none")}", where "${listOf("a", "lost")}" leads\n`,
    );
  });

  it("takes one entry out of a list, and says which there are not [C-LIST-7]", async () => {
    const { a, dir } = await useFederation(["a"]);
    a.list(listOf("a", "all"), "=inline");
    expect((await get(dir, `${listOf("a", "all")}#entry=inline`)).out).toContain(
      `# entry of ${listOf("a", "all")}\n#   authority a, server ${a.address}\n`,
    );
    expect((await get(dir, `${listOf("a", "all")}#entry=other`)).err).toBe(
      `xdstp get: the list ${listOf("a", "all")} has no inline entry "other" [C-LIST-7]\n`,
    );
  });

  it("tells an empty list from none, and shows a list as it came by its own type [S-LIST-11]", async () => {
    const { a, dir } = await useFederation(["a"]);
    a.list(listOf("a", "all"));
    expect(await get(dir, listOf("a", "all"))).toEqual({
      code: 0,
      out: `${listOf("a", "all")} has no members\n`,
      err: "",
    });
    expect(await get(dir, listOf("a", "none"))).toMatchObject({
      code: 1,
      err: `xdstp get: ${a.address} has no "${listOf("a", "none")}"\n`,
    });
    expect((await get(dir, listOf("a", "all"), "--type", `${typeName}Collection`)).out).toContain(
      `# name: ${listOf("a", "all")}\n`,
    );
  });
});

describe.each(["delta", "sotw"] as const)(
  "xdstp get of one server for everything (%s)",
  (variant) => {
    it("follows all authorities there [C-AUTH-1]", async () => {
      const origin = lead(await useOrigin());
      origin.redirect(of("a", "x"), of("b", "y"));
      origin.cluster(of("b", "y"), 3);
      origin.list(listOf("a", "all"), of("b", "y"), "=inline");
      const get = async (name: string): Promise<string> =>
        (await runToEnd(["get", name, "--server", origin.address, `--${variant}`])).out;
      expect(await get(of("a", "x"))).toContain(
        `# redirected to ${of("b", "y")}\n#   authority b, server ${origin.address}\n`,
      );
      expect((await get(listOf("a", "all"))).split("\n").map((line) => line.split(" ")[0])).toEqual(
        ["NAME", of("b", "y"), of("a", "inline"), ""],
      );
    });
  },
);

it("adds fields of the node to globs where it is told to [C-CTX-1, C-CTX-3]", async () => {
  const origin = lead(await useOrigin());
  origin.cluster(of("a", "x?xds.node.id=n1"));
  const { out } = await runToEnd([
    "get",
    of("a", "*"),
    "--server",
    origin.address,
    "--node",
    "n1",
    "--node-context-params",
    "id",
  ]);
  expect(out).toContain(of("a", "x?xds.node.id=n1"));
  expect(origin.asked).toEqual([of("a", "*?xds.node.id=n1")]);
});
