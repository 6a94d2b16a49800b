import { examplesOf } from "./examples.ts";

/** The packages that the `ts` blocks of a README import, types included, without Node's own and the reader's own files. */
export function importedPackages(readme: string): ReadonlySet<string> {
  const imports = examplesOf(readme).flatMap((code) => [
    ...code.matchAll(
      /^(?:(?:import|export)\b[^"=]*\bfrom|import) "(?<from>[^"]+)"|\bimport\("(?<late>[^"]+)"\)/gm,
    ),
  ]);
  const specifiers = imports.map(({ groups }) => groups?.from ?? groups?.late ?? "");
  return new Set(specifiers.filter((specifier) => !/^(?:node:|\.)/.test(specifier)).map(packageOf));
}

function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
