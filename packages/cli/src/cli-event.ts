import type { CacheEvent } from "@xdstp/cache";
import type { FolderEvent } from "@xdstp/folder";
import type { ServerEvent } from "@xdstp/server";
import type { StopSignal } from "./cli-io.ts";
import type { ServedTls } from "./connect-commands.ts";
import type { Endpoint } from "./parse-endpoint.ts";

/** What the command itself has to say. */
export type ServeEvent =
  | { readonly kind: "listening"; readonly dir: string; readonly address: Endpoint; readonly tls?: ServedTls; readonly metrics?: Endpoint }
  | { readonly kind: "warning"; readonly message: string }
  /** The files of the certificate have changed. `problem`: why they are not used; what was used before stays. */
  | { readonly kind: "certificate"; readonly problem?: string }
  /** The policy file has changed. `problem`: why its rules are not used; those before stay. */
  | { readonly kind: "policy"; readonly problem?: string }
  | { readonly kind: "stopping"; readonly signal: StopSignal; readonly streams: number }
  | { readonly kind: "stopped" };

/** Everything that `serve` shows, with where it comes from: kinds are unique only there. */
export type CliEvent =
  | { readonly from: "serve"; readonly event: ServeEvent }
  | { readonly from: "folder"; readonly event: FolderEvent }
  | { readonly from: "cache"; readonly event: CacheEvent }
  | { readonly from: "server"; readonly event: ServerEvent };
