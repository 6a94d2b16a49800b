import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";
import { useOrigin } from "../test/use-origin.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

/** The calls of the README that ask a server, in their order, as arguments. */
const calls = [...readme.matchAll(/^xdstp ((?:get|watch|record|replay) [^#\n]*)/gm)].map(([, words = ""]) => words.trim().split(/ +/).map((word) => word.replaceAll("'", "")));

describe("the examples of the README", () => {
  it("that ask a server work as they are written, one after the other", async () => {
    expect(calls.map(([name]) => name)).toEqual(["get", "watch", "record", "replay", "replay"]);
    const origin = await useOrigin();
    origin.cluster("xdstp://example.com/envoy.config.cluster.v3.Cluster/web");
    const { dir } = useFolder();
    for (const words of calls) {
      const cli = useCli(words.map((word) => word.replace(/^127\.0\.0\.1:18000$/, origin.address).replace(/:18001$/, ":0")), { cwd: dir });
      if (words.includes("--serve")) await cli.stdout.line(/listening/);
      if (words[0] === "watch") await cli.stdout.line(/complete/);
      if (words.includes("--serve") || words[0] === "watch") cli.signal("SIGINT");
      expect([words[0], await cli.exit, cli.stderr.text]).toEqual([words[0], 0, ""]);
    }
  });
});
