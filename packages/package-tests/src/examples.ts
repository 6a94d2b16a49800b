import { readFileSync } from "node:fs";

/** The `ts` blocks of a README, in their order. Throws where there is none: every public package shows how to begin. */
export function examplesOf(readme: string): readonly [string, ...string[]] {
  const [first, ...more] = Array.from(
    readFileSync(readme, "utf8").matchAll(/^```ts\n(?<code>[\s\S]*?)^```$/gm),
    ({ groups }) => groups?.code ?? "",
  );
  if (first === undefined) throw new Error(`${readme} has no example: begin a block with \`\`\`ts`);
  return [first, ...more];
}

/** The packages that a README tells to install, in its first `npm install` line: what its examples may import. */
export function installLine(readme: string): readonly string[] {
  const line = /^ *npm install (.+)$/m.exec(readFileSync(readme, "utf8"))?.[1];
  return (line ?? "").split(" ").filter((name) => name !== "" && !name.startsWith("-"));
}
