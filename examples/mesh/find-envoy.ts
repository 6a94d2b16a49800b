import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The Envoy of the machine: the variable ENVOY_BIN, else `envoy` on the PATH, else undefined. Throws where ENVOY_BIN names what cannot be run. */
export function findEnvoy(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = env.ENVOY_BIN;
  if (named !== undefined && named !== "") {
    if (canRun(named)) return named;
    throw new Error(`ENVOY_BIN names "${named}", which cannot be run`);
  }
  return (env.PATH ?? "")
    .split(delimiter)
    .map((folder) => join(folder, "envoy"))
    .find(canRun);
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
