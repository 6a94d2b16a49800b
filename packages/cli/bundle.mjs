// Joins what `xdstp validate` loads into a few files, after `tsc` has written all files: Node takes longer to find and read 280 modules than to check a file.
// Errors and what is known of the process stay in their own files, since the rest of the command shares them.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const source = join(import.meta.dirname, "src");
const dist = join(import.meta.dirname, "dist");
const folder = join(dist, "bundle");
const shared = ["cli-error", "process-io"];

rmSync(folder, { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    validate: join(source, "validate.ts"),
    // A process of its own, which is started by its path.
    "parse-program": join(import.meta.dirname, "../folder/src/parse-program.ts"),
  },
  platform: "node",
  resolve: { conditionNames: ["@xdstp/source", "node", "import", "default"] },
  plugins: [
    {
      name: "shared",
      resolveId: (id) => {
        const name = shared.find((one) => id === `./${one}.ts`);
        return name === undefined ? undefined : { id: `../${name}.js`, external: true };
      },
    },
  ],
});
const { output } = await bundle.write({
  dir: folder,
  format: "esm",
  sourcemap: true,
  sourcemapExcludeSources: true,
});
writeFileSync(join(dist, "validate.js"), 'export * from "./bundle/validate.js";\n');
rmSync(join(dist, "validate.js.map"), { force: true });
// Not named like a licence: pnpm would leave out the licence of this package.
writeFileSync(join(folder, "third-party.txt"), licences(output));

/** The licence of each package that is in the files: its text, or else the headers of its modules. */
function licences(chunks) {
  const modules = chunks.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
  const byPackage = Map.groupBy(
    modules.filter((id) => id.includes("/node_modules/")),
    (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)[0],
  );
  return [...byPackage]
    .map(([path, ids]) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(path, "package.json"), "utf8"),
      );
      return `${name} ${version}, ${license}\n\n${textIn(path) ?? headersOf(ids)}`;
    })
    .sort()
    .join("\n----------\n\n");
}

function textIn(path) {
  const file = readdirSync(path).find((name) => /^licen[cs]e(\.\w+)?$/i.test(name));
  return file === undefined ? undefined : readFileSync(join(path, file), "utf8");
}

function headersOf(ids) {
  const headers = ids.map((id) => /^(?:\/\/.*\n)+/.exec(readFileSync(id, "utf8"))?.[0] ?? "");
  return [...new Set(headers.filter((header) => header.includes("Copyright")))].join("\n");
}
