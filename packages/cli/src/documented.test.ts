import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { listOf, of, useFederation } from "../test/use-federation.ts";
import { useFolder } from "../test/use-folder.ts";
import { useOrigin } from "../test/use-origin.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** The arguments of the calls in the README that connect to a server, in their order. */
const calls = [
  ...readme.matchAll(/^xdstp ((?:get|watch|resolve|record|replay) .*?)(?: +#.*)?$/gm),
].map(([, words = ""]) =>
  words
    .trim()
    .split(/ +/)
    .map((word) => word.replaceAll("'", "")),
);

/** Removes what differs from run to run: times and versions. */
const timeless = (text: string): string =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/(?<=version: )[\w-]{22}$|(?<= )[\w-]{8}(?= {2})/gm, "HASH");

/** Starts the servers that the README describes. `grpc.json` is in `dir`. */
async function useExample(): Promise<{
  readonly dir: string;
  readonly main: string;
  readonly backup: string;
}> {
  const {
    dir,
    "example.com": main,
    "backup.example": backup,
  } = await useFederation(["example.com", "backup.example"]);
  renameSync(join(dir, "boot.json"), join(dir, "grpc.json"));
  for (const name of ["web", "api"]) main.cluster(of("example.com", name));
  backup.cluster(of("backup.example", "web"));
  main.redirect(of("example.com", "old"), of("backup.example", "web"));
  main.list(
    listOf("example.com", "all"),
    of("backup.example", "web"),
    "=inline",
    of("example.com", "none"),
    of("example.com", "old"),
  );
  return { dir, main: main.address, backup: backup.address };
}

describe("the examples of the README", () => {
  it("that ask a server work as they are written, one after the other", async () => {
    expect(calls.map(([name]) => name)).toEqual([
      "get",
      "watch",
      "resolve",
      "record",
      "replay",
      "replay",
    ]);
    const origin = await useOrigin();
    origin.cluster("xdstp://example.com/envoy.config.cluster.v3.Cluster/web");
    const { dir } = useFolder();
    for (const words of calls) {
      const cli = useCli(
        words.map((word) =>
          word.replace(/^127\.0\.0\.1:18000$/, origin.address).replace(/:18001$/, ":0"),
        ),
        { cwd: dir },
      );
      if (words.includes("--serve")) await cli.stdout.line(/listening/);
      if (words[0] === "watch") await cli.stdout.line(/complete/);
      if (words.includes("--serve") || words[0] === "watch") cli.signal("SIGINT");
      expect([words[0], await cli.exit, cli.stderr.text]).toEqual([words[0], 0, ""]);
    }
  });

  it("that ask several authorities say what the README says", async () => {
    const blocks = [...readme.matchAll(/^\$ xdstp (.* --bootstrap grpc\.json)\n([^`]*)```/gm)];
    expect(blocks.map(([, words = ""]) => words.split(" ")[0])).toEqual(["get", "get", "resolve"]);
    const { dir, main, backup } = await useExample();
    for (const [, words = "", said = ""] of blocks) {
      const { out, err } = await runToEnd(
        words.split(" ").map((word) => word.replaceAll("'", "")),
        { cwd: dir, terminal: () => ({ columns: 120, rows: 40 }), env: { NO_COLOR: "1" } },
      );
      const shown = out
        .replaceAll(main, "127.0.0.1:18000")
        .replaceAll(backup, "127.0.0.1:18001")
        .replaceAll(`${dir}/`, "");
      expect([timeless(shown), err]).toEqual([timeless(said), ""]);
    }
  });
});
