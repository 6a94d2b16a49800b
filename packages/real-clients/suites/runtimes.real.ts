import { cpSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";

import { describeProgram } from "../src/describe-program.ts";
import { replaceFile } from "../src/replace-file.ts";
import {
  type RuntimeClient,
  type RuntimeName,
  startRuntime,
} from "../src/runtimes/start-runtime.ts";
import { until } from "../src/until.ts";
import { startServe } from "../src/use-cli.ts";
import { useFolder } from "../src/use-folder.ts";

const flags = resolve(import.meta.dirname, "../../../examples/flags");
const runtimes: readonly RuntimeName[] = ["bun", "deno", "workerd"];

for (const name of runtimes)
  describeProgram(name, "@xdstp/web", (command) => {
    it("shows a change, keeps the value while the server is away, and shows the next one [C-HTTP-11] [C-HTTP-7]", async () => {
      const dir = useFolder();
      cpSync(join(flags, "config"), dir, { recursive: true });
      const more = ["--descriptors", join(flags, "gen/flags.binpb")];
      const http = ["--http", "--http-authority", "flags.example"];
      const edit = (percent: number): void => {
        const file = join(dir, "flags.example/flags.v1.Flag/checkout/new-cart.yaml");
        replaceFile(file, `"on": true\npercent: ${percent}\n`);
      };
      const server = await startServe(dir, 0, [...more, ...http]);
      const client = await startRuntime(name, command, server.port);
      await untilShown(client, /^current: 10 %$/);
      const began = performance.now();
      edit(25);
      await untilShown(client, /^current: 25 %$/);
      console.log(
        `${name}: ${Math.round(performance.now() - began)} ms from an edit to the client`,
      );
      await server.stop("SIGKILL");
      await untilShown(client, /^current: 25 %, [A-Z_]+$/);
      edit(50);
      await startServe(dir, server.port, [...more, ...http]);
      await untilShown(client, /^current: 50 %$/);
      expect(valuesOf(client)).toEqual(["waiting: 0", "current: 10", "current: 25", "current: 50"]);
      expect(client.process.ended).toBeUndefined();
    });
  });

async function untilShown({ states, process }: RuntimeClient, pattern: RegExp): Promise<void> {
  await until(
    `the client shows ${String(pattern)}`,
    () => pattern.test(states.at(-1) ?? ""),
    () => ({ states, lines: process.lines.slice(-10), ended: process.ended }),
  );
}

/** Returns the phases and values that the client showed, each once in a row, without errors. */
function valuesOf({ states }: RuntimeClient): readonly string[] {
  const values = states.map((line) => line.replace(/ %.*$/, ""));
  return values.filter((value, at) => value !== values[at - 1]);
}
