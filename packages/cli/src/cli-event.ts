import type { CacheEvent, DanglingEvent } from "@xdstp/cache";
import type { FolderEvent } from "@xdstp/folder";
import type { ClientNotice } from "@xdstp/federation";
import type { RelayEvent } from "@xdstp/relay";
import type { ServerEvent } from "@xdstp/server";
import type { StopSignal } from "./cli-io.ts";
import type { Endpoint, ServedTls } from "./endpoint.ts";
import type { HttpFlags } from "./http-flags.ts";
import type { ServedVersions, Versions } from "./served-versions.ts";

/** The origin of the served resources: a folder, or other servers. `by`: the file, variable or option that lists these servers. */
export type Served =
  { readonly dir: string } | { readonly upstreams: readonly string[]; readonly by: string };

/** An event of the command itself. */
export type ServeEvent =
  | ({
      readonly kind: "listening";
      readonly address: Endpoint;
      readonly tls?: ServedTls;
      readonly metrics?: Endpoint;
      /** The protocols over HTTP on the same port. Absent: gRPC only. */
      readonly http?: HttpFlags;
      /** The URLs of other transports. Absent: none. */
      readonly transports?: readonly string[];
    } & Served)
  | { readonly kind: "warning"; readonly message: string }
  /** The certificate files, or the authorities of client certificates, have changed. `file` and `problem`: the broken file and the reason; the certificate in use stays. Both absent: the new files are used. */
  | { readonly kind: "certificate"; readonly file?: string; readonly problem?: string }
  /** The policy file has changed. `problem`: why its rules are not used; the rules in use stay. Absent: the new rules are used. */
  | { readonly kind: "policy"; readonly problem?: string }
  /** The flags of a resource are not valid; those before stay. `name`: the resource, or the collection if it is too large. */
  | { readonly kind: "flags-rejected"; readonly name: string; readonly reason: string }
  /** The folder is loaded. `versions`: the version of each type, by type URL, as a client that has everything shows it. `views`: the types with another version, by node key; absent: none. `moreViews`: the number of further keys; absent: none. */
  | {
      readonly kind: "versions";
      readonly versions: Versions;
      readonly views?: ServedVersions["views"];
      readonly moreViews?: number;
    }
  | { readonly kind: "stopping"; readonly signal: StopSignal; readonly streams: number }
  | { readonly kind: "stopped" };

/** An event of a process of a relay. Worker 0 is the first process, which connects to the servers upstream. */
export type WorkerEvent =
  | { readonly kind: "worker-started"; readonly worker: number; readonly pid: number }
  | {
      readonly kind: "worker-ended";
      readonly worker: number;
      readonly reason: string;
      readonly retryMs: number;
    };

/** An event of a relay, or of a stream to a server upstream. */
export type UpstreamEvent = Exclude<RelayEvent | ClientNotice, CacheEvent>;

/** Lines of the log could not be written. `lines` is their number since the last line that was written. */
export interface LogEvent {
  readonly kind: "lines-lost";
  readonly lines: number;
}

/** An event of a command that serves, with its origin. `kind` is unique only within one origin. */
export type CliEvent = (
  | { readonly from: "serve"; readonly event: ServeEvent }
  | { readonly from: "relay"; readonly event: ServeEvent | WorkerEvent }
  | { readonly from: "upstream"; readonly event: UpstreamEvent }
  | { readonly from: "folder"; readonly event: FolderEvent }
  | { readonly from: "log"; readonly event: LogEvent }
  | { readonly from: "cache"; readonly event: CacheEvent | DanglingEvent }
  | { readonly from: "server"; readonly event: ServerEvent }
) & {
  /** The number of events with the same kind, reason and peer that came within the same second and are not shown. Absent: none. */
  readonly more?: number;
  /** The number of the process, if there are several. Absent: there is only one. */
  readonly worker?: number;
};
