import { readFileSync } from "node:fs";

/** The first `ts` block of a README. Throws where there is none: every public package shows how to begin. */
export function firstExample(readme: string): string {
  const block = /^```ts\n(?<code>[\s\S]*?)^```$/m.exec(readFileSync(readme, "utf8"))?.groups?.code;
  if (block === undefined) throw new Error(`${readme} has no example: begin a block with \`\`\`ts`);
  return block;
}

/** The packages that a README tells to install, in its first `npm install` line: what its example may import. */
export function installLine(readme: string): readonly string[] {
  const line = /^ *npm install (.+)$/m.exec(readFileSync(readme, "utf8"))?.[1];
  return (line ?? "").split(" ").filter((name) => name !== "" && !name.startsWith("-"));
}
