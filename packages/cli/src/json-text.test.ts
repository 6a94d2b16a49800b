import { describe, expect, it } from "vitest";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";
import { useOrigin } from "../test/use-origin.ts";

/** Returns the objects of an output: one object over several lines, or one object per line. */
function objectsIn(text: string): readonly Record<string, unknown>[] {
  return (text.startsWith("{\n") ? [text] : text.trimEnd().split("\n")).map(
    (one) => JSON.parse(one) as Record<string, unknown>,
  );
}

/** Numbers that may be times: milliseconds since the epoch, after 2001. */
function momentsIn(value: unknown): readonly number[] {
  if (typeof value === "number") return value > 1e12 ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(momentsIn) : [];
}

describe("--json", () => {
  it("has the version of its form in each object of each command, and moments in ISO 8601", async () => {
    const origin = await useOrigin();
    origin.cluster("web");
    const { dir } = useFolder({ "config/_opaque/clusters/web.yaml": "type: STATIC\n" });
    const ask = ["web", "--type", "clusters", "--server", origin.address, "--json"];
    const serve = useCli(["serve", "config", "--listen", "0", "--json"], { cwd: dir });
    await serve.stdout.line(/listening/);
    const ended = [
      await runToEnd(["record", "r.jsonl", ...ask, "--count", "1"], { cwd: dir }),
      ...(await Promise.all(
        [
          ["get", ...ask],
          ["watch", ...ask, "--count", "1"],
          ["resolve", ...ask],
          ["status", origin.address, "--json"],
          ["status", "--json"],
        ].map(async (argv) => runToEnd(argv)),
      )),
      await runToEnd(["replay", "r.jsonl", "--server", origin.address, "--json"], { cwd: dir }),
    ];
    const objects = [
      ...ended.map(({ out, err }) => (out === "" ? err : out)),
      serve.stdout.text,
    ].map(objectsIn);
    expect(
      objects.map((some) => some.length > 0 && some.every(({ schema }) => schema === 1)),
    ).toEqual(objects.map(() => true));
    expect(objects.flatMap(momentsIn)).toEqual([]);
  });
});
