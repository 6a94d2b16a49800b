// node tools/envoy-image/make.mjs [--envoy VERSION]: writes proto/envoy.binpb.gz. See README.md.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";

const here = import.meta.dirname;
const image = join(here, "../../proto/envoy.binpb.gz");
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
  for (const file of ["go.mod", "go.sum", "main.go"])
    copyFileSync(join(here, file), join(folder, file));
  if (values.envoy !== undefined) raise(values.envoy);
  linkAll();
  go("run", "-mod=mod", ".", "image.binpb");
  for (const file of ["go.mod", "go.sum"]) copyFileSync(join(folder, file), join(here, file));
  keepImage(readFileSync(join(folder, "image.binpb")));
} finally {
  rmSync(folder, { recursive: true });
}

function raise(version) {
  go("get", `${modules.envoy}@v${version}`, `${modules.contrib}@latest`, `${modules.xds}@latest`);
}

/** Every package registers its descriptors when it is linked in. */
function linkAll() {
  const paths = go("list", "-mod=mod", ...packages)
    .trim()
    .split("\n")
    .toSorted();
  const imports = paths.map((path) => `\t_ "${path}"\n`).join("");
  writeFileSync(join(folder, "imports.go"), `package main\n\nimport (\n${imports})\n`);
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
  console.log(
    `proto/envoy.binpb.gz: ${bytes.length} bytes, ${packed.length} compressed. Now run: node tools/generate.mjs`,
  );
}
