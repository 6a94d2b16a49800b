import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";

/** Why Envoy rejects a bootstrap; undefined: it accepts it. Relative paths in it start at `cwd`. */
export async function envoyVerdict(
  command: string,
  file: string,
  cwd: string,
): Promise<string | undefined> {
  // A file, since an Envoy whose output is a pipe cannot open /dev/stdout for an access log.
  const log = openSync(`${file}.log`, "w");
  try {
    const child = spawn(command, ["--mode", "validate", "-c", file, "-l", "error"], {
      cwd,
      stdio: ["ignore", log, log],
    });
    const [code] = (await once(child, "close")) as [number | null];
    if (code === 0) return undefined;
  } finally {
    closeSync(log);
  }
  const text = readFileSync(`${file}.log`, "utf8");
  return /error initializing config\S* '\S*': (.*)/s.exec(text)?.[1]?.trim() ?? text.slice(-500);
}
