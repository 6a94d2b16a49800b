import type { FederationServerStatus, Trace } from "@xdstp/federation";
import type { ClientConfig } from "@xdstp/protos/status";

import type { CollectionWatch } from "./collection-watch.ts";
import type { ListWatch } from "./list-watch.ts";
import type { PartTypes, Walk, WalkOptions } from "./walk/graph.ts";
import type { Snapshot, TypeSource, ValueOf, Watch, WatchCalls, WatchOptions } from "./watch.ts";

/** Reads typed configuration by name, and keeps it up to date. Open watches and connections keep the process alive until they are closed. */
export interface Client extends AsyncDisposable {
  /**
   * Watches a name: an opaque one, or an xdstp name. Watches of one name share a subscription. With `onChanged` or `onAmbientError` it makes the two calls of gRPC instead of being read in a loop (C-GRPC-8).
   * The name may have directives: `#alt=` for another place when no server that could answer is reachable, `#entry=` for an entry of a list. Redirects are followed (see {@link Client.traces}).
   * Throws an XdsError for a broken name, a name of another type, or a closed client. The watch reports an authority without servers.
   */
  watch<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options?: WatchOptions<ValueOf<S>> & WatchCalls<ValueOf<S>>,
  ): Watch<Snapshot<ValueOf<S>>>;
  /** Watches the members of a glob (`xdstp://authority/type/path/*`), or all of a type (`*`), as one changing set. */
  watchAll<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options?: WatchOptions<ValueOf<S>> & {
      /**
       * `on-arrival`: every member is decoded and validated when it comes; a bad one is rejected. `on-demand`: only what is read is decoded, so that ten of a hundred thousand cost ten;
       * when it comes it is only looked at whether it is of the type and, with a schema, a message at all; `validate` is not called. Default: `on-arrival`.
       */
      readonly decode?: "on-arrival" | "on-demand";
    },
  ): CollectionWatch<ValueOf<S>>;
  /**
   * Watches a list collection (`xdstp://authority/typeCollection/id`) and its members, inline and located, as one changing set in the order of the list. `type` is that of the members.
   * A list with an entry that cannot be taken is rejected as a whole; a located member is rejected, fails or is missing by itself (C-LIST-9).
   */
  watchList<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options?: WatchOptions<ValueOf<S>> & {
      /** How many entries the list may have; one with more is rejected (C-LIM-7). Default: 100,000. */
      readonly maxEntries?: number;
    },
  ): ListWatch<ValueOf<S>>;
  /** The resource of a name, once. Rejects with an XdsError: NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT with why it was rejected, DEADLINE_EXCEEDED, CANCELLED where the client is closed; or with the reason of the signal. */
  read<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options?: WatchOptions<ValueOf<S>> & {
      /** Milliseconds until DEADLINE_EXCEEDED. Default: 20,000. */
      readonly timeoutMs?: number;
    },
  ): Promise<Snapshot<ValueOf<S>> & { readonly value: ValueOf<S> }>;
  /**
   * Follows a name and all that it refers to, and hands out complete configurations only (C-ORD-7): `walk(ListenerSchema, "public", { types: { routes: RouteConfigurationSchema, clusters: ClusterSchema } })`.
   * While something is not there, the configuration before stays in force. What it names as a collection is in `pending` with the reason. Throws as `watch` does.
   */
  walk<S extends TypeSource<unknown>, P extends PartTypes = PartTypes>(
    type: S,
    name: string,
    options?: WalkOptions<P>,
  ): Walk<ValueOf<S>, P>;
  /** The state of this client in the form of CSDS; secrets are blanked. A name that is watched at several ConfigSources is there once for each. `contents`: with the resources. Default: true. */
  dump(options?: { readonly contents?: boolean }): Promise<ClientConfig>;
  /** The servers of the bootstrap in order of preference, with what is known of each, and those of ConfigSources next to names while they are in use; with an authority (null: of opaque names) those that the bootstrap has for its names. */
  status(authority?: string | null): readonly FederationServerStatus[];
  /** The names that lead elsewhere, by redirects and directives, and where each leads now. */
  traces(): readonly Trace[];
  /** Ends all watches and streams: loops end, a `read` that waits rejects with CANCELLED. Calling it again does nothing. */
  close(): Promise<void>;
}
