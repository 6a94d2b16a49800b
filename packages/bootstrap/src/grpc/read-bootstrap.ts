import { readFileSync } from "node:fs";
import { XdsError } from "@xdstp/core";
import type { Bootstrap } from "./bootstrap.ts";
import { parseBootstrap } from "./parse-bootstrap.ts";

/** Where {@link readBootstrap} looks, in this order: `json`, `file`, the environment. */
export interface BootstrapSources {
  /** The bootstrap itself, as text or parsed. */
  readonly json?: string | object;
  /** The path of a file. */
  readonly file?: string;
  /** Default: that of the process. An empty variable counts as absent. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * The bootstrap that a program is given, or finds as every gRPC program does: the file that `GRPC_XDS_BOOTSTRAP` names, else the JSON in
 * `GRPC_XDS_BOOTSTRAP_CONFIG` (C-GRPC-1). The first source there is counts, broken or not.
 *
 * Throws an XdsError: FAILED_PRECONDITION says that there is none and what was tried, NOT_FOUND that a file cannot be read,
 * INVALID_ARGUMENT what is wrong where (see {@link parseBootstrap}).
 */
export function readBootstrap({ json, file, env = process.env }: BootstrapSources = {}): Bootstrap {
  if (json !== undefined) return parseBootstrap(json);
  if (file !== undefined) return fromFile(file, file);
  const { GRPC_XDS_BOOTSTRAP: path, GRPC_XDS_BOOTSTRAP_CONFIG: text } = env;
  if (path !== undefined && path !== "") return fromFile(path, `GRPC_XDS_BOOTSTRAP=${path}`);
  if (text !== undefined && text !== "") return parseBootstrap(text, "GRPC_XDS_BOOTSTRAP_CONFIG");
  throw new XdsError(
    "FAILED_PRECONDITION",
    "there is no bootstrap: GRPC_XDS_BOOTSTRAP (a path) and GRPC_XDS_BOOTSTRAP_CONFIG (JSON) are not set; set one, or give one",
  );
}

function fromFile(path: string, source: string): Bootstrap {
  return parseBootstrap(textOf(path, source), source);
}

function textOf(path: string, source: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    const problem = code === "ENOENT" ? "there is no such file" : `it cannot be read (${code})`;
    throw new XdsError("NOT_FOUND", `${source}: ${problem}; give the path of a bootstrap in JSON`, {
      cause,
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new XdsError(
      "INVALID_ARGUMENT",
      `${source}: the bootstrap is not UTF-8; save it as UTF-8`,
      { cause },
    );
  }
}
