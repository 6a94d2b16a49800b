import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { useFolder } from "./use-folder.ts";

const bin = join(import.meta.dirname, "../src/bin.ts");
const command = ["--conditions=@xdstp/source", bin, "import", "envoy", "envoy.yaml", "config"];
const original = `node: { id: a, cluster: b }
static_resources:
  clusters: [{ name: web }]
  secrets: [{ name: token, generic_secret: { secret: { inline_string: S3CRET } } }]
`;
const isRoot = process.getuid?.() === 0;
const other = 65_534;
/** The rights of root do not end at a folder that is read-only. */
const asUser = isRoot ? { uid: other, gid: other } : {};
const { status: reading } = spawnSync(
  process.execPath,
  ["-e", `require("node:fs").accessSync(${JSON.stringify(bin)})`],
  asUser,
);
/** A checkout or a Node below a folder of root cannot be read by another user. */
const canBeUser = process.platform !== "win32" && reading === 0;
if (!canBeUser)
  console.log(
    "skipped: another user may not run this Node or read this checkout, so no folder is read-only",
  );

/** `envoy.yaml`, and an empty folder `config`. */
function usePlace(): string {
  const { dir } = useFolder({ "envoy.yaml": original });
  mkdirSync(join(dir, "config"));
  return dir;
}

it.skipIf(!canBeUser).each([
  ["the folder", "config", "config"],
  ["the folder above the bootstrap", ".", "."],
])("xdstp import writes nothing where %s is read-only", (_, path, named) => {
  const dir = usePlace();
  if (isRoot) for (const one of [".", "config"]) chownSync(join(dir, one), other, other);
  chmodSync(join(dir, path), 0o555);
  const { status, stderr } = spawnSync(process.execPath, command, {
    cwd: dir,
    encoding: "utf8",
    ...asUser,
  });
  chmodSync(join(dir, path), 0o755);
  expect(stderr).toBe(
    `xdstp import: nothing is written: ${join(dir, named)} may not be written by this user; give the right to, or give another DIR (EACCES)\n`,
  );
  expect(status).toBe(1);
  expect(readdirSync(join(dir, "config"))).toEqual([]);
  expect(readdirSync(dir).sort()).toEqual(["config", "envoy.yaml"]);
});

/** Runs a script in which this process may mount file systems, which others do not see. */
const mounting = (script: string, cwd: string) =>
  spawnSync(
    "unshare",
    ["--map-root-user", "--mount", "sh", "-c", script, process.execPath, ...command],
    {
      cwd,
      encoding: "utf8",
    },
  );
const mount = "mount -t tmpfs none config";
/** A container may not have the right to. */
const canMount = mounting("mount -t tmpfs none .", tmpdir()).status === 0;

it.skipIf(!canMount)("xdstp import writes into a mount point", () => {
  const dir = usePlace();
  const { stdout, stderr } = mounting(`${mount} && "$0" "$@" && find config -type f | sort`, dir);
  expect(stderr).toBe("");
  expect(stdout).toContain("Wrote config: 1 cluster, 1 secret");
  expect(stdout.split("\n").slice(-3)).toEqual([
    "config/_opaque/clusters/web.yaml",
    "config/_opaque/secrets/token.yaml",
    "",
  ]);
  expect(readdirSync(dir).sort()).toEqual(["config", "config.bootstrap.yaml", "envoy.yaml"]);
});

it.skipIf(!canMount)("xdstp import writes nothing into a mount point that is read-only", () => {
  const dir = usePlace();
  const { stdout, stderr, status } = mounting(`${mount} -o ro && "$0" "$@"`, dir);
  expect(stderr).toBe(
    `xdstp import: nothing is written: ${join(dir, "config")} is on a file system that is read-only; give another DIR (EROFS)\n`,
  );
  expect({ stdout, status }).toEqual({ stdout: "", status: 1 });
  expect(readdirSync(dir).sort()).toEqual(["config", "envoy.yaml"]);
});
