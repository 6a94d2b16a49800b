// node tools/envoy-image/make.mjs [--envoy VERSION]: writes proto/envoy.binpb.gz and proto/envoy-comments.json.br. See README.md.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { markdownOf } from "./comment-text.ts";

const here = import.meta.dirname;
const image = join(here, "../../proto/envoy.binpb.gz");
const comments = join(here, "../../proto/envoy-comments.json.br");
const modules = {
  envoy: "github.com/envoyproxy/go-control-plane/envoy",
  contrib: "github.com/envoyproxy/go-control-plane/contrib",
  xds: "github.com/cncf/xds/go",
};
const packages = [
  `${modules.envoy}/...`,
  `${modules.contrib}/...`,
  `${modules.xds}/xds/...`,
  `${modules.xds}/udpa/...`,
];

const { values } = parseArgs({ options: { envoy: { type: "string" } } });
const folder = mkdtempSync(join(tmpdir(), "envoy-image-"));
try {
  for (const file of ["go.mod", "go.sum", "main.go", "comments.go"])
    copyFileSync(join(here, file), join(folder, file));
  if (values.envoy !== undefined) raise(values.envoy);
  linkAll();
  go("run", "-mod=mod", ".", "image.binpb", "comments.json");
  for (const file of ["go.mod", "go.sum"]) copyFileSync(join(folder, file), join(here, file));
  keepImage(readFileSync(join(folder, "image.binpb")));
  keepComments(JSON.parse(readFileSync(join(folder, "comments.json"), "utf8")));
  console.log("Now run: node tools/generate.mjs");
} finally {
  rmSync(folder, { recursive: true });
}

function raise(version) {
  go("get", `${modules.envoy}@v${version}`, `${modules.contrib}@latest`, `${modules.xds}@latest`);
}

/** Every package registers its descriptors when it is linked in. Its directory has the comments. */
function linkAll() {
  const rows = go("list", "-mod=mod", "-f", "{{.ImportPath}}\t{{.Dir}}", ...packages)
    .trim()
    .split("\n")
    .toSorted()
    .map((line) => line.split("\t"));
  const imports = rows.map(([path]) => `\t_ "${path}"\n`).join("");
  const dirs = rows.map(([path, dir]) => `\t"${path}": ${JSON.stringify(dir)},\n`).join("");
  writeFileSync(
    join(folder, "imports.go"),
    `package main\n\nimport (\n${imports})\n\nvar sourceDirs = map[string]string{\n${dirs}}\n`,
  );
}

function go(...args) {
  try {
    return execFileSync("go", args, {
      cwd: folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
  } catch (cause) {
    const way =
      cause.code === "ENOENT"
        ? "Install Go 1.26 or newer and put it on PATH."
        : "Its own message is above.";
    throw new Error(`go ${args[0]} failed. ${way}`, { cause });
  }
}

function keepImage(bytes) {
  const packed = gzipSync(bytes, { level: 9 });
  writeFileSync(image, packed);
  console.log(`proto/envoy.binpb.gz: ${bytes.length} bytes, ${packed.length} compressed`);
}

function keepComments(found) {
  const texts = Object.entries(found)
    .map(([name, comment]) => [name, markdownOf(comment)])
    .filter(([, text]) => text !== "");
  const bytes = Buffer.from(JSON.stringify(Object.fromEntries(texts)));
  const packed = brotliCompressSync(bytes);
  writeFileSync(comments, packed);
  console.log(
    `proto/envoy-comments.json.br: ${texts.length} comments, ${bytes.length} bytes, ${packed.length} compressed`,
  );
}
