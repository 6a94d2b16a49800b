import { describe, expect, it } from "vitest";
import { askForClusters } from "../test/cluster-stream.ts";
import { runToEnd, useCli } from "../test/use-cli.ts";
import { useFolder } from "../test/use-folder.ts";
import { useOrigin } from "../test/use-origin.ts";

/** These tests show that each limit is passed to its command. `each-limit.test.ts` of the package that owns a limit tests its effect, and `limits-flag.test.ts` tests that the commands know all limits. */
describe("the limits of a command", () => {
  it.each([
    [
      "serve",
      /Z loaded /,
      () => ["serve", useFolder({ "_opaque/clusters/ab.yaml": "type: STATIC\n" }).dir],
    ],
    ["relay", /Z listening /, async () => ["relay", "--server", (await useOrigin()).address]],
  ] as const)("reach the server of %s", async (_, ready, argv) => {
    const cli = useCli([
      ...(await argv()),
      ...["--listen", "127.0.0.1:0", "--limit", "nameLength=1"],
    ]);
    await cli.stdout.line(ready);
    const client = await askForClusters(await cli.port(), "n1", "ab");
    expect(await client.status).toBe(8);
    expect(await cli.stdout.line(/a name is longer than 1 bytes/)).toContain("n1");
  });

  it.each([
    ["get", ["get", "blue"]],
    ["watch", ["watch", "blue", "--count", "1"]],
    ["record", ["record", "r.jsonl", "blue", "--count", "5"]],
  ] as const)("reach the channels of %s", async (_, argv) => {
    const origin = await useOrigin();
    origin.cluster("blue");
    const cli = useCli(
      [
        ...argv,
        ...["--type", "clusters", "--server", origin.address],
        ...["--channel-limit", "maxMessageBytes=1"],
      ],
      { cwd: useFolder().dir },
    );
    await Promise.any([
      cli.stdout.line(/cannot read a message of the server/),
      cli.stderr.line(/cannot read a message of the server/),
    ]);
    cli.signal("SIGINT");
    await cli.exit;
  });

  it("reach the channels of relay", async () => {
    const origin = await useOrigin();
    origin.cluster("blue");
    const cli = useCli([
      ...["relay", "--server", origin.address, "--listen", "127.0.0.1:0", "--opaque-key", "none"],
      ...["--channel-limit", "maxMessageBytes=1"],
    ]);
    await askForClusters(await cli.port(), "n1", "blue");
    await cli.stdout.line(/cannot read a message of the server/);
  });

  it("are not taken by resolve, which asks no server", async () => {
    const { code, err } = await runToEnd(["resolve", "a", "--channel-limit", "pingMs=1"]);
    expect([code, err]).toEqual([2, expect.stringContaining("--channel-limit") as string]);
  });
});
