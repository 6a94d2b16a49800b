import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import type { WorkspacePackage } from "@xdstp/tools/workspace";
import { run } from "./run.ts";

/** A function that packs a package once, however often it is asked, and gives the path of its tarball. The tarballs go when the file's tests have ended. */
export function usePack(): (target: WorkspacePackage) => Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "xdstp-tarballs-"));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });
  const packed = new Map<string, Promise<string>>();
  return async (target) => {
    const pending = packed.get(target.name) ?? pack(target, folder);
    packed.set(target.name, pending);
    return pending;
  };
}

async function pack(target: WorkspacePackage, folder: string): Promise<string> {
  if (!existsSync(join(target.folder, "dist")))
    throw new Error(`${target.name} is not built: run "npm run build" before it is packed`);
  const file = join(folder, `${target.name.replace("@", "").replace("/", "-")}.tgz`);
  await run("pnpm", ["pack", "--out", file], target.folder);
  return file;
}
