import { expect, it } from "vitest";
import type { CliIo } from "./cli-io.ts";
import { showRows } from "./style.ts";

it("shows a table of as many rows as there are members", () => {
  const lines: string[] = [];
  const rows = Array.from({ length: 200_000 }, (_, n) => ({ cells: [`c${n}`, "1"], below: [] }));
  showRows(["NAME", "BYTES"], rows, {
    terminal: () => undefined,
    stdout: { write: (text: string) => lines.push(text) > 0 },
    env: {},
  } as unknown as CliIo);
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([
    200_001,
    "NAME      BYTES\n",
    "c199999       1\n",
  ]);
});
