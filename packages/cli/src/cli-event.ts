import type { CacheEvent, DanglingEvent } from "@xdstp/cache";
import type { FolderEvent } from "@xdstp/folder";
import type { ClientNotice } from "@xdstp/federation";
import type { RelayEvent } from "@xdstp/relay";
import type { ServerEvent } from "@xdstp/server";
import type { StopSignal } from "./cli-io.ts";
import type { Endpoint, ServedTls } from "./endpoint.ts";
import type { ServedVersions, Versions } from "./served-versions.ts";

/** Where what is served comes from: a folder, or other servers as some file or option says them. */
export type Served =
  { readonly dir: string } | { readonly upstreams: readonly string[]; readonly by: string };

/** What the command itself has to say. */
export type ServeEvent =
  | ({
      readonly kind: "listening";
      readonly address: Endpoint;
      readonly tls?: ServedTls;
      readonly metrics?: Endpoint;
    } & Served)
  | { readonly kind: "warning"; readonly message: string }
  /** The files of the certificate or of the authorities of clients have changed. `file` and `problem`: which of them is broken and why; what was used before stays. */
  | { readonly kind: "certificate"; readonly file?: string; readonly problem?: string }
  /** The policy file has changed. `problem`: why its rules are not used; those before stay. */
  | { readonly kind: "policy"; readonly problem?: string }
  /** The folder is loaded: the version of each type, by type URL, as clients that have all of it show it. `views`: by node key, types that differ from these; absent: none. `moreViews`: the number of further keys; absent: none. */
  | {
      readonly kind: "versions";
      readonly versions: Versions;
      readonly views?: ServedVersions["views"];
      readonly moreViews?: number;
    }
  | { readonly kind: "stopping"; readonly signal: StopSignal; readonly streams: number }
  | { readonly kind: "stopped" };

/** What becomes of the processes of a relay; 0 is the first, which asks upstream. */
export type WorkerEvent =
  | { readonly kind: "worker-started"; readonly worker: number; readonly pid: number }
  | {
      readonly kind: "worker-ended";
      readonly worker: number;
      readonly reason: string;
      readonly retryMs: number;
    };

/** What a relay tells of those that it asks, and of itself. */
export type UpstreamEvent = Exclude<RelayEvent | ClientNotice, CacheEvent>;

/** The log reports how many lines could not be written before this one. */
export interface LogEvent {
  readonly kind: "lines-lost";
  readonly lines: number;
}

/** Everything that a command shows that serves, with where it comes from: kinds are unique only there. */
export type CliEvent = (
  | { readonly from: "serve"; readonly event: ServeEvent }
  | { readonly from: "relay"; readonly event: ServeEvent | WorkerEvent }
  | { readonly from: "upstream"; readonly event: UpstreamEvent }
  | { readonly from: "folder"; readonly event: FolderEvent }
  | { readonly from: "log"; readonly event: LogEvent }
  | { readonly from: "cache"; readonly event: CacheEvent | DanglingEvent }
  | { readonly from: "server"; readonly event: ServerEvent }
) & {
  /** How many events of the same kind, reason and peer came within the same second and are not shown. Absent: none. */
  readonly more?: number;
  /** Which process of several. Absent: there is one. */
  readonly worker?: number;
};
