import { cp, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A folder of configuration that may be edited while it is served. */
export interface WorkingCopy {
  readonly dir: string;
  remove(): Promise<void>;
}

/** Copies the configuration into a new folder whose path begins with `prefix`, and replaces port numbers, since each mesh listens on its own. */
export async function createWorkingCopy(
  source: string,
  prefix: string,
  ports: ReadonlyMap<number, number>,
): Promise<WorkingCopy> {
  const dir = await mkdtemp(prefix);
  await cp(source, dir, { recursive: true });
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) await replacePorts(join(entry.parentPath, entry.name), ports);
  }
  return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
}

async function replacePorts(file: string, ports: ReadonlyMap<number, number>): Promise<void> {
  const text = await readFile(file, "utf8");
  await writeFile(
    file,
    text.replace(/(?<=port_value: )\d+/g, (port) => String(ports.get(Number(port)) ?? port)),
  );
}
