import { cruise } from "dependency-cruiser";

/** Returns the sources that are part of an import cycle. Type imports count. */
export async function importCycles(root: string): Promise<readonly string[]> {
  const { output } = await cruise(["packages", "tools", "bench", "examples"], {
    baseDir: root,
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|gen|reports|node_modules)/" },
  });
  if (typeof output === "string") throw new Error("dependency-cruiser has given a text");
  return output.modules
    .filter(({ dependencies }) => dependencies.some(({ circular }) => circular))
    .map(({ source }) => source)
    .sort();
}
