import type { FederationServerStatus, Trace } from "@xdstp/federation";
import type { ClientConfig } from "@xdstp/protos/status";

import type { CollectionWatch } from "./collection-watch.ts";
import type { ListWatch } from "./list-watch.ts";
import type { PartTypes, Walk, WalkOptions } from "./walk/graph.ts";
import type {
  DefaultOption,
  DefinedSnapshot,
  Snapshot,
  TypeSource,
  ValueOf,
  Watch,
  WatchCalls,
  WatchOptions,
} from "./watch.ts";

/**
 * Reads typed configuration by name and keeps it up to date. Open watches and connections keep the
 * process alive until they are closed.
 */
export interface Client extends AsyncDisposable {
  /**
   * Watches an opaque name or an xdstp name. Watches of one name share a subscription. With
   * `onChanged` or `onAmbientError` the watch makes the two calls of gRPC, and is not read in a
   * loop (C-GRPC-8).
   * The name may have directives: `#alt=` names another place, used when no server that could
   * answer is reachable; `#entry=` names an entry of a list. Redirects are followed (see {@link
   * Client.traces}).
   * Throws an XdsError for an invalid name, a name of another type, or a closed client. An
   * authority without servers is reported by the watch.
   */
  watch<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options: WatchOptions<ValueOf<S>> & WatchCalls<ValueOf<S>> & DefaultOption<ValueOf<S>>,
  ): Watch<DefinedSnapshot<ValueOf<S>>>;
  /** The same without `default`: a state has a value, an error, or both. */
  watch<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options?: WatchOptions<ValueOf<S>> & WatchCalls<ValueOf<S>>,
  ): Watch<Snapshot<ValueOf<S>>>;
  /**
   * Watches the members of a glob (`xdstp://authority/type/path/*`), or all resources of a type
   * (`*`), as one set that changes.
   */
  watchAll<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options?: WatchOptions<ValueOf<S>> & {
      /**
       * `on-arrival`: each member is decoded and validated when it arrives, and an invalid one is
       * rejected.
       * `on-demand`: a member is decoded when its value is read, so reading 10 of 100,000 members
       * decodes 10. On arrival only its type is checked and, with a schema, that it is a message;
       * `validate` is not called. Default: `on-arrival`.
       */
      readonly decode?: "on-arrival" | "on-demand";
    },
  ): CollectionWatch<ValueOf<S>>;
  /**
   * Watches a list collection (`xdstp://authority/typeCollection/id`) and its members, inline and
   * located, as one set that changes, in the order of the list. `type` is the type of the members.
   * A list with an invalid entry is rejected as a whole. A located member is rejected, fails or is
   * missing by itself (C-LIST-9).
   */
  watchList<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options?: WatchOptions<ValueOf<S>> & {
      /**
       * The maximum number of entries. A list with more is rejected (C-LIM-7). Default: 100,000.
       */
      readonly maxEntries?: number;
    },
  ): ListWatch<ValueOf<S>>;
  /**
   * Reads the resource of a name once. With the option `snapshot` of the client, the last known
   * value is returned if a server fails or does not answer in time. Rejects with an XdsError: NOT_FOUND, PERMISSION_DENIED,
   * INVALID_ARGUMENT with the reason of the rejection, DEADLINE_EXCEEDED, or CANCELLED if the
   * client is closed. Rejects with the reason of the signal if it aborts.
   * With `default` it returns that value in place of each of these errors except CANCELLED; while
   * no server can be reached it waits until `timeoutMs`.
   */
  read<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options?: WatchOptions<ValueOf<S>> &
      Partial<DefaultOption<ValueOf<S>>> & {
        /** Milliseconds until DEADLINE_EXCEEDED. Default: 20,000. */
        readonly timeoutMs?: number;
      },
  ): Promise<DefinedSnapshot<ValueOf<S>>>;
  /**
   * Follows a name and all names that it refers to, and returns complete configurations only
   * (C-ORD-7):
   * `walk(ListenerSchema, "public", { types: { routes: RouteConfigurationSchema, clusters: ClusterSchema } })`.
   * While a resource is absent, the previous configuration stays in force. A reference to a
   * collection is in `pending` with the reason. Throws as `watch` does.
   */
  walk<S extends TypeSource<unknown>, P extends PartTypes = PartTypes>(
    type: S,
    name: string,
    options?: WalkOptions<P>,
  ): Walk<ValueOf<S>, P>;
  /**
   * Returns the state of this client as a CSDS message, with secrets blanked. A name that is
   * watched at several ConfigSources has one row for each. `contents`: true if the resources are
   * included. Default: true.
   */
  dump(options?: { readonly contents?: boolean }): Promise<ClientConfig>;
  /**
   * Without an authority: returns the servers of the bootstrap in order of preference with the
   * state of each, then servers that only ConfigSources name, while they are in use. With an
   * authority (`null`: opaque names): returns the servers that the bootstrap has for its names.
   */
  status(authority?: string | null): readonly FederationServerStatus[];
  /** Returns the names with redirects or directives, each with the name that it leads to now. */
  traces(): readonly Trace[];
  /**
   * Ends all watches and streams: loops end, and a `read` that waits rejects with CANCELLED.
   * Another call does nothing.
   */
  close(): Promise<void>;
}
