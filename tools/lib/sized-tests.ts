import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Returns the test files of a package that read a variable of the environment, themselves or by a file that they import with a relative path.
 * @param folder - absolute
 * @returns paths relative to `folder`, sorted
 */
export function sizedTests(folder: string, variable: string): readonly string[] {
  return globSync("**/*.test.ts", {
    cwd: folder,
    exclude: (name) => name === "node_modules" || name === "dist",
  })
    .filter((test) => filesOf(join(folder, test)).some(({ text }) => text.includes(variable)))
    .map((test) => test.replaceAll("\\", "/"))
    .sort();
}

/** A file, and all files that it needs by relative imports. */
function filesOf(start: string): readonly { readonly text: string }[] {
  const found = new Map<string, { readonly text: string }>();
  const visit = (file: string): void => {
    if (found.has(file) || !existsSync(file)) return;
    const text = readFileSync(file, "utf8");
    found.set(file, { text });
    for (const [, path = ""] of text.matchAll(/(?:from|import) "(\.[^"]+\.ts)"/g))
      visit(join(dirname(file), path));
  };
  visit(start);
  return [...found.values()];
}
