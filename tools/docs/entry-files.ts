import { readFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/** Returns the sources of the entries of a package, without those that only re-export generated code of Envoy. */
export function entryFiles(folder: string): readonly string[] {
  const { exports = {} } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  ) as Manifest;
  return Object.values(exports)
    .flatMap((conditions) =>
      typeof conditions === "string" ? [] : [conditions["@xdstp/source"] ?? ""],
    )
    .filter((path) => path !== "" && !/\/resources\/|xdstp\/src\/envoy/.test(join(folder, path)))
    .map((path) => join(folder, path));
}
