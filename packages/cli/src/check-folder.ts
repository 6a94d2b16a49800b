import { readdir } from "node:fs/promises";
import { CliError } from "./cli-error.ts";

/** Throws a CliError if there is no such folder. One that cannot be read may become readable: that, like later losses, is the feed's matter (S-STREAM-9). */
export async function checkFolder(dir: string): Promise<void> {
  try {
    await readdir(dir);
  } catch (error) {
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ""];
    if (reason !== undefined) throw new CliError(1, `${dir}: ${reason}`, { cause: error });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such folder; make it (it may be empty), or name another",
  ENOTDIR:
    "this is not a folder; name the folder that holds AUTHORITY/TYPE/ID.yaml or _opaque/TYPE/NAME.yaml. Of a static Envoy bootstrap, each entry of static_resources.clusters is a file DIR/_opaque/clusters/NAME.yaml, and each listener DIR/_opaque/listeners/NAME.yaml",
  ELOOP: "this is a symbolic link that leads back to itself; fix it, or name another folder",
};
