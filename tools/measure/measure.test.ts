import { describe, expect, it } from "vitest";
import { differences } from "./ceilings.ts";
import { countExports } from "./exports.ts";
import { measureSource } from "./measure-source.ts";
import { countPhrases, phrases } from "./phrases.ts";

describe("measureSource()", () => {
  it("counts lines of code, and of each function, without comments and empty lines", () => {
    const text = `
/** A comment
 * of two lines. */
export function sum(a: number, b: number): number {
  // another

  const add = () => a + b; // behind code

  return \`
\${add()}
  \`.length;
}

declare function without(): void;
`;
    expect(measureSource(text)).toEqual({ lines: 7, characters: 149, functions: [6, 1] });
  });
});

describe("countExports()", () => {
  it("counts a symbol of two entry points once, and no re-exports, as distinct", () => {
    const client = [
      "import { Status } from '@xdstp/core';",
      "export { Status }",
      "export interface Channel {",
      "    export(): void;",
      "export function nodeWarning(version: string): string | undefined;",
    ];
    const server = [
      "export abstract class Server {",
      "export const limits: object;",
      "export type Cut = never;",
      "export function nodeWarning(version: string): string | undefined;",
    ];
    const reports = [client, server].map((lines) => lines.join("\n"));
    expect(countExports(reports)).toEqual({ all: 7, own: 5 });
  });
});

describe("countPhrases()", () => {
  it("counts each where it occurs, in one text or in several", () => {
    const counts = countPhrases([
      "it is told, they were told",
      "this is no folder; there is no end",
    ]);
    const found = [...counts].filter(([, count]) => count > 0);
    expect(found.map(([{ instead }, count]) => [instead, count])).toEqual([
      ["is sent, is reported", 2],
      ["is not a", 1],
    ]);
    expect(counts.size).toBe(phrases.length);
  });
});

describe("differences()", () => {
  it("says which count is above its ceiling or below it, and what to do", () => {
    const ceilings = { filesInImportCycles: 2, allPhrases: 10 };
    expect(differences(ceilings, ceilings)).toEqual([]);
    expect(differences({ filesInImportCycles: 3, allPhrases: 9 }, ceilings)).toEqual([
      "filesInImportCycles: 3, and 2 is the ceiling; npm run measure -- --list shows where they are",
      "allPhrases: 9, and 10 is the ceiling; lower the ceiling in tools/measure/ceilings.json",
    ]);
  });
});
