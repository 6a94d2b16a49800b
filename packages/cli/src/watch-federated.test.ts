import { expect, it } from "vitest";
import { alt, listOf, of, typeName, useFederation } from "../test/use-federation.ts";
import { useCli } from "../test/use-cli.ts";
import { useOrigin } from "../test/use-origin.ts";

const typeUrl = `type.googleapis.com/${typeName}`;
const timeless = (text: string): readonly string[] =>
  text
    .split("\n")
    .map((line) =>
      line
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
        .replaceAll(/(?<=version |> )[\w-]{8}(?=[ ,:\n]|$)/g, "HASH"),
    );

/** Returns the head lines of the events, without the YAML of resources. */
const heads = (text: string): readonly string[] =>
  timeless(text)
    .filter((line) => line.startsWith("TIME ") || line.startsWith("  "))
    .map((line) => line.replace("TIME ", ""));

it("shows where a name leads before what it has, and again when that changes [C-REDIR-2]", async () => {
  const { a, b, dir } = await useFederation(["a", "b"]);
  a.cluster(of("a", "x"), 1);
  b.cluster(of("b", "y"), 2);
  const { stdout, signal, exit } = useCli(["watch", of("a", "x"), "--bootstrap", "boot.json"], {
    cwd: dir,
  });
  await stdout.line(/state/);
  a.redirect(of("a", "x"), of("b", "y"));
  await stdout.line(/connect_timeout: 2s/);
  a.cluster(of("a", "x"), 3);
  await stdout.line(/connect_timeout: 3s/);
  signal("SIGINT");
  expect(await exit).toBe(0);
  expect(heads(stdout.text)).toEqual([
    `connected ${a.address}`,
    `state ${of("a", "x")} version HASH, 49 bytes`,
    `connected ${b.address}`,
    `leads ${of("a", "x")}`,
    `  redirected to ${of("b", "y")}`,
    `    authority b, server ${b.address}`,
    `changed ${of("a", "x")} version HASH > HASH`,
    `leads ${of("a", "x")}: nowhere else any more`,
    `changed ${of("a", "x")} version HASH > HASH`,
  ]);
});

it("shows that an alternative is in use, why, and with --json as hops [C-ALT-2, C-ALT-6]", async () => {
  const { b, dir } = await useFederation(["b"], { a: "127.0.0.1:1" });
  b.cluster(of("b", "x"));
  const { stdout, exit } = useCli(
    [
      "watch",
      `${of("a", "x")}${alt(of("b", "x"))}`,
      "--bootstrap",
      "boot.json",
      "--json",
      "--count",
      "1",
    ],
    { cwd: dir },
  );
  expect(await exit).toBe(0);
  const events = stdout.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly event: string });
  expect(events.find(({ event }) => event === "leads")).toMatchObject({
    hops: [
      {
        kind: "alt",
        to: of("b", "x"),
        authority: "b",
        server: b.address,
        reason: expect.stringContaining("cannot connect to 127.0.0.1:1") as string,
      },
    ],
  });
});

it("shows the members of a list that come and go, and their order [C-LIST-5, C-LIST-6]", async () => {
  const { a, b, dir } = await useFederation(["a", "b"]);
  b.cluster(of("b", "far"), 1);
  a.list(listOf("a", "all"), of("b", "far"), "=inline");
  const { stdout, signal, exit } = useCli(
    ["watch", listOf("a", "all"), "--bootstrap", "boot.json"],
    { cwd: dir },
  );
  await stdout.line(/complete/);
  b.cluster(of("b", "far"), 2);
  await stdout.line(/changed/);
  a.list(listOf("a", "all"), "=inline", of("b", "far"), of("b", "none"));
  await stdout.line(/missing/);
  a.list(listOf("a", "all"), of("b", "far"));
  await stdout.line(/removed .*inline/);
  b.cache.remove(typeUrl, of("b", "far"));
  await stdout.line(/removed .*far/);
  a.cache.remove(`${typeUrl}Collection`, listOf("a", "all"));
  await stdout.line(/missing .*Collection/);
  signal("SIGINT");
  expect(await exit).toBe(0);
  const list = `list ${listOf("a", "all")} version HASH`;
  const [far, inline, none] = [of("b", "far"), of("a", "inline"), of("b", "none")];
  expect(heads(stdout.text).filter((line) => !line.startsWith("connected"))).toEqual([
    `${list}: 2 members`,
    `  ${far}`,
    `  ${inline}`,
    `state ${inline} version 1, 8 bytes`,
    `state ${far} version HASH, 51 bytes`,
    `complete ${listOf("a", "all")}: 2 members`,
    `changed ${far} version HASH > HASH`,
    `${list}: 3 members`,
    `  ${inline}`,
    `  ${far}`,
    `  ${none}`,
    `incomplete ${listOf("a", "all")}: not all members are known`,
    `missing ${none}: "${none}" does not exist`,
    `complete ${listOf("a", "all")}: 3 members`,
    `${list}: 1 member`,
    `  ${far}`,
    `removed ${inline}, version 1 was the last`,
    `removed ${far}, version HASH was the last`,
    expect.stringMatching(/^missing \S+Collection\/all: /),
  ]);
});

it("shows where a list itself leads before what it has, and again when that changes [C-REDIR-2, C-REDIR-6]", async () => {
  const { a, b, dir } = await useFederation(["a", "b"]);
  const [moved, all, other] = [listOf("a", "moved"), listOf("b", "all"), listOf("b", "other")];
  for (const name of [all, other]) b.list(name, "=one");
  a.redirect(moved, all);
  const { stdout, signal, exit } = useCli(["watch", moved, "--bootstrap", "boot.json"], {
    cwd: dir,
  });
  await stdout.line(/complete/);
  a.redirect(moved, other);
  await stdout.line(/redirected to .*other/);
  signal("SIGINT");
  expect(await exit).toBe(0);
  const told = heads(stdout.text).filter((line) => /^(leads|list| +redirected)/.test(line));
  expect(told.slice(0, 5)).toEqual([
    `leads ${moved}`,
    `  redirected to ${all}`,
    `list ${moved} version HASH: 1 member`,
    `leads ${moved}`,
    `  redirected to ${other}`,
  ]);
});

it("reports that no server is configured for a name and for a glob [C-AUTH-5]", async () => {
  const { dir } = await useFederation(["a"]);
  const { stdout, signal, exit } = useCli(
    ["watch", of("c", "x"), of("c", "*"), listOf("c", "all"), "--bootstrap", "boot.json"],
    { cwd: dir },
  );
  await stdout.line(/error .*Collection/);
  signal("SIGINT");
  await exit;
  const why =
    'no server is configured for the authority "c"; known: "a"; add a source for it [C-AUTH-5]';
  expect(heads(stdout.text)).toEqual(
    [of("c", "x"), of("c", "*"), listOf("c", "all")].map((name) => `error ${name}: ${why}`),
  );
});

it("is quiet of ways where nothing leads elsewhere", async () => {
  const origin = await useOrigin();
  origin.cluster(of("a", "x"));
  const { stdout, exit } = useCli([
    "watch",
    of("a", "*"),
    "--server",
    origin.address,
    "--count",
    "1",
  ]);
  expect(await exit).toBe(0);
  expect(stdout.text).not.toContain("leads");
});
