import { createCache, type CacheEvent } from "@xdstp/cache";
import { systemClock, XdsError, type Clock, type ResourceFeed, type ResourceType } from "@xdstp/core";
import type { BackoffOptions, ClientLimits, RequestRate } from "@xdstp/core/client";
import {
  bootstrapFacts, createChannels, createFederation, createFederationServer, createSharedServers, encodeNode, nodeParams,
  type AnyBootstrap, type BootstrapFacts, type Channels, type ClientNotice, type Federation, type FederationOptions, type FederationServerStatus, type FederationSource, type NodeOptions, type ResolveAuthority, type ServerOptions, type SharedServers, type SourceConfig, type Trace,
} from "@xdstp/federation";
import type { ClientConfig } from "@xdstp/protos/status";
import { envoyTypes } from "@xdstp/resource-types";

import { callBack } from "./call-back.ts";
import { checkMethod } from "./check-method.ts";
import { watchCollection, type CollectionOptions, type CollectionWatch } from "./collection-watch.ts";
import { dump } from "./dump.ts";
import { createHub } from "./hub.ts";
import { Hubs, type FedHub } from "./hubs.ts";
import { watchList, type ListOptions, type ListWatch } from "./list-watch.ts";
import type { NameOptions } from "./name-options.ts";
import { watchName } from "./name-watch.ts";
import { createNaming } from "./naming.ts";
import { createNodeWarner, type ClientWarning } from "./node-warner.ts";
import { readOnce } from "./read-once.ts";
import { recordMetrics, type Metrics, type MetricsMeter } from "./record-metrics.ts";
import { serverStatuses } from "./server-statuses.ts";
import type { Snapshot } from "./snapshot.ts";
import { createTaking, type Taking } from "./taking.ts";
import type { Watch, WatchCalls, WatchOptions } from "./watch.ts";
import { watchedType, type TypeSource, type ValueOf } from "./watched-type.ts";
import type { PartTypes } from "./walk/configuration.ts";
import { walkName } from "./walk/walk-name.ts";
import type { Walk, WalkOptions } from "./walk/walk.ts";

/** Options of {@link createClient}: each has a default. */
export interface ClientOptions extends NodeOptions {
  /** Whom to ask, and who asks: the bootstrap of gRPC, or what `readEnvoyBootstrap` of `@xdstp/federation/envoy` gives. Default: the bootstrap that the environment names (C-GRPC-1). */
  readonly bootstrap?: AnyBootstrap;
  /** The variant of xDS that the servers are spoken to in. SotW has no globs but of types of full state (C-GLOB-10). Default: `delta`. */
  readonly variant?: "delta" | "sotw";
  /** The data of types. Default: Envoy's. */
  readonly types?: readonly ResourceType[];
  /** `client_scope` of client status (C-CSDS-6). Default: none. */
  readonly scope?: string;
  /** Fields of the node that become context parameters of globs, such as `user_agent_name` (C-CTX-3). Default: those of the bootstrap (Envoy's `node_context_params`), else none. */
  readonly nodeContextParams?: readonly string[];
  /** Dynamic parameters (C-DYN-1): of opaque names, and by authority of xdstp names. Default: none. */
  readonly dynamicParameters?: { readonly opaque?: Readonly<Record<string, string>>; readonly authorities?: Readonly<Record<string, Readonly<Record<string, string>>>> };
  /** How long to wait between streams. Default: as gRPC waits. */
  readonly backoff?: BackoffOptions;
  /** Overrides of what is taken from a server. */
  readonly limits?: Partial<ClientLimits>;
  /** `rate_limit_settings`. Default: no limit. */
  readonly rate?: RequestRate;
  /** Milliseconds after which what has not come does not exist (C-MISS-4). Default: 15,000; 30,000 with the server feature of C-GRPC-10. */
  readonly fetchMs?: number;
  /** Milliseconds after which a server of which nothing is watched any more is let go (C-STREAM-14); what is watched next asks it again at once. `Infinity`: never. Default: 10,000. */
  readonly idleMs?: number;
  /** How many redirects are followed from one name (C-REDIR-4). Default: 5. */
  readonly maxHops?: number;
  /** When the alternative of a name is asked: `unreachable`, when nobody can be reached who could say (C-ALT-2); `missing`, also when the first says that there is none. Default: `unreachable`. */
  readonly altOn?: "unreachable" | "missing";
  /** Authorities of which the alternative takes the place also of what is held, as soon as they cannot be reached (C-ALT-3). Default: none. */
  readonly altOnUnreachable?: (authority: string) => boolean;
  /** Finds the servers of an authority that the bootstrap does not have; while one is not found and somebody waits for it, it is asked again, after 1 s and then longer, up to 120 s. Default: nothing is looked for, such a name is an error (C-AUTH-5). */
  readonly resolveAuthority?: ResolveAuthority;
  /** Milliseconds in which `resolveAuthority` has to answer; then its names have an error that says so. A late answer is still taken. Default: 15,000. */
  readonly resolveMs?: number;
  /** Reads the ConfigSources in payloads, which a walk follows (C-AUTH-4): `configSourceReader()` of `@xdstp/federation/envoy`. It may throw an XdsError. Default: what stands beside one that says neither `ads` nor `self` is not asked for, and `pending` says so. */
  readonly sourceOf?: (configSource: Uint8Array) => SourceConfig;
  /** Channels that this client shares with others (C-GRPC-12). Default: those of the process. */
  readonly channels?: Channels;
  /** Where to measure (C-GRPC-14): a `Meter` of the OpenTelemetry API. Default: nothing is measured. */
  readonly meter?: MetricsMeter;
  /** The target of the data plane, for metrics. Default: none. */
  readonly target?: string;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** From 0 up to 1, for jitter. Default: `Math.random`. */
  readonly random?: () => number;
  /** Default: that of this process. Below the versions with known security fixes the event `warning` says so, and all works. */
  readonly nodeVersion?: string;
  /** Told what happens. It must not throw. */
  readonly onEvent?: (event: ClientNotice | CacheEvent | ClientWarning) => void;
}

/** Options of {@link Client.read}. */
export interface ReadOptions<T> extends WatchOptions<T> {
  /** Milliseconds until DEADLINE_EXCEEDED. Default: 20,000. */
  readonly timeoutMs?: number;
}

/** Reads typed configuration by name, and keeps it up to date. Open watches and connections keep the process alive until they are closed. */
export interface Client extends AsyncDisposable {
  /**
   * Watches a name: an opaque one, or an xdstp name. Watches of one name share a subscription. With `onChanged` or `onAmbientError` it makes the two calls of gRPC instead of being read in a loop (C-GRPC-8).
   * The name may have directives: `#alt=` for where to look when nobody can be reached who could say, `#entry=` for an entry of a list. Redirects are followed (see {@link Client.traces}).
   * Throws an XdsError where nothing can be asked for: a broken name, one of another type, a client that is closed. That nobody answers for its authority, the watch says.
   */
  watch<S extends TypeSource<unknown>>(type: S, name: string, options?: WatchOptions<ValueOf<S>> & WatchCalls<ValueOf<S>>): Watch<Snapshot<ValueOf<S>>>;
  /** Watches the members of a glob (`xdstp://authority/type/path/*`), or all of a type (`*`), as one changing set. */
  watchAll<S extends TypeSource<unknown>>(type: S, name: string, options?: CollectionOptions<ValueOf<S>>): CollectionWatch<ValueOf<S>>;
  /**
   * Watches a list collection (`xdstp://authority/typeCollection/id`) and its members, inline and located, as one changing set in the order of the list. `type` is that of the members.
   * A list with an entry that cannot be taken is refused as a whole; a located member is refused, fails or is missing by itself (C-LIST-9).
   */
  watchList<S extends TypeSource<unknown>>(type: S, name: string, options?: ListOptions<ValueOf<S>>): ListWatch<ValueOf<S>>;
  /** The resource of a name, once. Rejects with an XdsError: NOT_FOUND, PERMISSION_DENIED, INVALID_ARGUMENT with why it was refused, DEADLINE_EXCEEDED, CANCELLED where the client is closed; or with the reason of the signal. */
  read<S extends TypeSource<unknown>>(type: S, name: string, options?: ReadOptions<ValueOf<S>>): Promise<Snapshot<ValueOf<S>> & { readonly value: ValueOf<S> }>;
  /**
   * Follows a name and all that it refers to, and hands out complete configurations only (C-ORD-7): `walk(ListenerSchema, "public", { types: { routes: RouteConfigurationSchema, clusters: ClusterSchema } })`.
   * While something is not there, the configuration before stays in force. What it names as a collection stands in `pending` with the reason. Throws as `watch` does.
   */
  walk<S extends TypeSource<unknown>, P extends PartTypes = PartTypes>(type: S, name: string, options?: WalkOptions<P>): Walk<ValueOf<S>, P>;
  /** The state of this client in the form of CSDS; secrets are blanked. A name that is watched at several ConfigSources is there once for each. `contents`: with the resources. Default: true. */
  dump(options?: { readonly contents?: boolean }): Promise<ClientConfig>;
  /** The servers of the bootstrap in order of preference, with what is known of each, and those of ConfigSources beside names while they are in use; with an authority (null: of opaque names) those that the bootstrap has for its names. */
  status(authority?: string | null): readonly FederationServerStatus[];
  /** The names that lead elsewhere, by redirects and directives, and where each leads now. */
  traces(): readonly Trace[];
  /** Ends all watches and streams: loops end, a `read` that waits rejects with CANCELLED. Calling it again does nothing. */
  close(): Promise<void>;
}

const processChannels = createChannels();

/** Makes a client. It connects when something is watched for the first time. Throws an XdsError where there is no bootstrap, or a broken one. */
export function createClient(options: ClientOptions = {}): Client {
  return new XdsClient(options);
}

class XdsClient implements Client {
  readonly #hubs: Hubs;
  readonly #servers: SharedServers = createSharedServers();
  readonly #clock: Clock;
  readonly #node: Uint8Array;
  readonly #scope: string;
  readonly #metrics: Metrics | undefined;
  #closed = false;

  constructor(options: ClientOptions) {
    const { types = envoyTypes, clock = systemClock, onEvent, scope = "", variant = "delta", channels = processChannels, nodeVersion = process.versions.node } = options;
    const bootstrap = bootstrapFacts(options.bootstrap);
    const taking = createTaking(clock);
    const naming = createNaming(namingOf(bootstrap, options));
    this.#clock = clock;
    this.#scope = scope;
    this.#node = encodeNode(bootstrap.node, options);
    const { backoff, limits, rate, fetchMs, idleMs, random } = options;
    const warn = createNodeWarner(nodeVersion, (event) => { onEvent?.(event); });
    const serverOptions = {
      variant, channels, node: () => this.#node, clock, types: new Map(types.map((type) => [type.typeUrl, type])),
      onEvent: (event: ClientNotice) => {
        warn();
        this.#metrics?.note(event);
        onEvent?.(event);
      },
      ...(backoff !== undefined && { backoff }), ...(limits !== undefined && { limits }), ...(rate !== undefined && { rate }), ...(fetchMs !== undefined && { fetchMs }), ...(idleMs !== undefined && { idleMs }), ...(random !== undefined && { random }),
    };
    this.#hubs = new Hubs({
      sources: bootstrap.sources(serverOptions), ads: bootstrap.ads, readSource: options.sourceOf, clock, idleMs: idleMs ?? 10_000,
      sourceOf: (config) => sourceOf(config, serverOptions),
      make: (sources, onIdle) => {
        const federation = createFederation({ sources, servers: this.#servers, ...federationOptionsOf(options) });
        const cache = createCache({ types, clock, directives: true, wildcard: (_, name) => federation.inWildcard(name), ...(onEvent !== undefined && { onEvent }) });
        cache.addFeed(takenBy(federation, taking));
        return { ...createHub({ cache, taking, nodeId: bootstrap.node.id, onIdle, interestOf: (...asked) => (this.#checkOpen(), naming(...asked)) }), federation };
      },
    });
    this.#metrics = options.meter && recordMetrics({ meter: options.meter, servers: () => this.status(), caches: this.#hubs, target: options.target ?? "" });
  }

  watch<S extends TypeSource<unknown>>(type: S, name: string, options: WatchOptions<ValueOf<S>> & WatchCalls<ValueOf<S>> = {}): Watch<Snapshot<ValueOf<S>>> {
    checkMethod("watch", watchedType(type).typeUrl, name);
    const hub = this.#hubOf(name, options);
    const watch = watchName(hub, type, name, options);
    if (options.onChanged !== undefined || options.onAmbientError !== undefined) void callBack(watch, options, () => hub.open.has(watch), options.signal);
    return watch;
  }

  watchAll<S extends TypeSource<unknown>>(type: S, name: string, options: CollectionOptions<ValueOf<S>> = {}): CollectionWatch<ValueOf<S>> {
    checkMethod("watchAll", watchedType(type).typeUrl, name);
    return watchCollection(this.#hubOf(name, options), type, name, options);
  }

  watchList<S extends TypeSource<unknown>>(type: S, name: string, options: ListOptions<ValueOf<S>> = {}): ListWatch<ValueOf<S>> {
    checkMethod("watchList", watchedType(type).typeUrl, name);
    return watchList(this.#hubOf(name, options), type, name, options);
  }

  async read<S extends TypeSource<unknown>>(type: S, name: string, { timeoutMs = 20_000, ...options }: ReadOptions<ValueOf<S>> = {}): Promise<Snapshot<ValueOf<S>> & { readonly value: ValueOf<S> }> {
    return readOnce<ValueOf<S>>(this.watch(type, name, options), this.#clock, timeoutMs);
  }

  walk<S extends TypeSource<unknown>, P extends PartTypes = PartTypes>(type: S, name: string, options: WalkOptions<P> = {}): Walk<ValueOf<S>, P> {
    return walkName<S, P>(this.#hubOf(name, options), this.#clock, type, name, options, this.#hubs);
  }

  async dump({ contents = true }: { readonly contents?: boolean } = {}): Promise<ClientConfig> {
    const { envoyRegistry, withoutSecrets } = await import("@xdstp/protos/envoy");
    const registry = contents ? envoyRegistry() : undefined;
    return dump({
      caches: this.#hubs, node: this.#node, scope: this.#scope,
      show: registry === undefined ? undefined : (payload) => withoutSecrets(payload, registry),
    });
  }

  status(authority?: string | null): ReturnType<Client["status"]> {
    return authority === undefined ? serverStatuses(this.#hubs, this.#servers) : this.#hubs.ordinary.federation.status(authority);
  }

  traces(): ReturnType<Client["traces"]> {
    return [...this.#hubs].flatMap(({ federation }) => federation.traces());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#metrics?.end();
    await this.#hubs.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #checkOpen(): void {
    if (this.#closed) throw new XdsError("FAILED_PRECONDITION", "the client is closed; make another one");
  }

  #hubOf(name: string, { source }: NameOptions): FedHub {
    this.#checkOpen();
    return this.#hubs.of(name, source);
  }
}

/** What a ConfigSource says besides is of no concern here. */
function sourceOf({ servers, authorities, reachabilityOnly, place }: SourceConfig, options: ServerOptions): FederationSource {
  return {
    servers: servers.map((server) => createFederationServer(server, options)),
    ...(authorities !== undefined && { authorities }), ...(reachabilityOnly !== undefined && { reachabilityOnly }), ...(place !== undefined && { place }),
  };
}

/** A feed whose streams read on only when what came has been taken (C-ACK-13). */
function takenBy(federation: Federation, taking: Taking): ResourceFeed {
  return {
    run: (sink, signal) => federation.run(taking.over(sink), signal),
    want: (...news) => { federation.want(...news); },
  };
}

function federationOptionsOf({ clock, random, idleMs, maxHops, altOn, altOnUnreachable, resolveAuthority, resolveMs, dynamicParameters }: ClientOptions): Omit<FederationOptions, "sources" | "servers"> {
  const byAuthority = parametersByAuthority(dynamicParameters);
  return {
    parametersOf: (authority) => byAuthority.get(authority),
    ...(clock !== undefined && { clock }), ...(random !== undefined && { random }), ...(idleMs !== undefined && { idleMs }), ...(maxHops !== undefined && { maxHops }),
    ...(altOn !== undefined && { altOn }), ...(altOnUnreachable !== undefined && { altOnUnreachable }), ...(resolveAuthority !== undefined && { resolveAuthority }), ...(resolveMs !== undefined && { resolveMs }),
  };
}

function namingOf({ node, nodeContextParams }: BootstrapFacts, { nodeContextParams: fields = nodeContextParams, dynamicParameters }: ClientOptions): Parameters<typeof createNaming>[0] {
  return {
    node: nodeParams(node, fields),
    dynamic: { opaque: new Map(Object.entries(dynamicParameters?.opaque ?? {})), byAuthority: parametersByAuthority(dynamicParameters) },
  };
}

function parametersByAuthority(dynamic: ClientOptions["dynamicParameters"]): ReadonlyMap<string, ReadonlyMap<string, string>> {
  return new Map(Object.entries(dynamic?.authorities ?? {}).map(([name, parameters]) => [name, new Map(Object.entries(parameters))]));
}
