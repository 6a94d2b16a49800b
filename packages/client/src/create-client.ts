import { encodeNode } from "@xdstp/bootstrap";
import { systemClock, XdsError, type Clock, type ResourceSnapshot } from "@xdstp/core";
import {
  bootstrapFacts,
  createSharedServers,
  type SharedServers,
  type FederationServerStatus,
} from "@xdstp/federation";
import type { ClientConfig } from "@xdstp/protos/status";
import { collectionTypeOf, isGlob, parseLocator, typeFromTypeUrl } from "@xdstp/uri";

import { callBack } from "./call-back.ts";
import type { ClientOptions } from "./client-options.ts";
import type { Client } from "./client.ts";
import {
  watchCollection,
  type CollectionOptions,
  type CollectionWatch,
} from "./collection-watch.ts";
import { createHubs } from "./create-hubs.ts";
import { dump } from "./client-status.ts";
import type { FedHub, Hubs } from "./hubs.ts";
import { watchList, type ListOptions, type ListWatch } from "./list-watch.ts";
import {
  type DefaultOption,
  type DefinedSnapshot,
  type NameOptions,
  type Snapshot,
  type TypeSource,
  type ValueOf,
  type Watch,
  type WatchCalls,
  watchedType,
  type WatchOptions,
} from "./watch.ts";
import { watchName } from "./name-watch.ts";
import { readOnce } from "./read-watch.ts";
import { recordMetrics, type Metrics } from "./record-metrics.ts";
import type { PartTypes, Walk, WalkOptions } from "./walk/graph.ts";
import { walkName } from "./walk/walk-name.ts";

/**
 * Creates a client. It connects when the first watch begins. Throws an XdsError if the bootstrap is
 * missing or invalid.
 */
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
  readonly #snapshot: ResourceSnapshot | undefined;
  #closed = false;

  constructor(options: ClientOptions) {
    const { clock = systemClock, scope = "", meter, target = "" } = options;
    const bootstrap = bootstrapFacts(options.bootstrap);
    this.#clock = clock;
    this.#scope = scope;
    this.#snapshot = options.snapshot;
    this.#node = encodeNode(bootstrap.node, options);
    this.#hubs = createHubs(options, {
      bootstrap,
      clock,
      servers: this.#servers,
      node: () => this.#node,
      onNotice: (event) => {
        this.#metrics?.note(event);
      },
      checkOpen: () => {
        this.#checkOpen();
      },
    });
    this.#metrics =
      meter && recordMetrics({ meter, servers: () => this.status(), caches: this.#hubs, target });
  }

  watch<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options: WatchOptions<ValueOf<S>> & WatchCalls<ValueOf<S>> & DefaultOption<ValueOf<S>>,
  ): Watch<DefinedSnapshot<ValueOf<S>>>;
  watch<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options?: WatchOptions<ValueOf<S>> & WatchCalls<ValueOf<S>>,
  ): Watch<Snapshot<ValueOf<S>>>;
  watch<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options: WatchOptions<ValueOf<S>> &
      WatchCalls<ValueOf<S>> &
      Partial<DefaultOption<ValueOf<S>>> = {},
  ): Watch<Snapshot<ValueOf<S>>> {
    checkMethod("watch", watchedType(type).typeUrl, name);
    const hub = this.#hubOf(name, options);
    const watch = watchName(hub, type, name, options);
    if (options.onChanged !== undefined || options.onAmbientError !== undefined)
      void callBack(watch, options, () => hub.open.has(watch), options.signal);
    return watch;
  }

  watchAll<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options: CollectionOptions<ValueOf<S>> = {},
  ): CollectionWatch<ValueOf<S>> {
    checkMethod("watchAll", watchedType(type).typeUrl, name);
    return watchCollection(this.#hubOf(name, options), type, name, options);
  }

  watchList<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    options: ListOptions<ValueOf<S>> = {},
  ): ListWatch<ValueOf<S>> {
    checkMethod("watchList", watchedType(type).typeUrl, name);
    return watchList(this.#hubOf(name, options), type, name, options);
  }

  async read<S extends TypeSource<unknown>>(
    type: S,
    name: string,
    {
      timeoutMs = 20_000,
      ...options
    }: WatchOptions<ValueOf<S>> &
      Partial<DefaultOption<ValueOf<S>>> & { readonly timeoutMs?: number } = {},
  ): Promise<DefinedSnapshot<ValueOf<S>>> {
    return readOnce<ValueOf<S>>(this.watch(type, name, options), this.#clock, {
      timeoutMs,
      defaultValue: options.default,
    });
  }

  walk<S extends TypeSource<unknown>, P extends PartTypes = PartTypes>(
    type: S,
    name: string,
    options: WalkOptions<P> = {},
  ): Walk<ValueOf<S>, P> {
    return walkName<S, P>(this.#hubOf(name, options), this.#clock, type, name, options, this.#hubs);
  }

  async dump({ contents = true }: { readonly contents?: boolean } = {}): Promise<ClientConfig> {
    const { envoyRegistry, withoutSecrets } = await import("@xdstp/protos/envoy");
    const registry = contents ? envoyRegistry() : undefined;
    return dump({
      caches: this.#hubs,
      node: this.#node,
      scope: this.#scope,
      show: registry === undefined ? undefined : (payload) => withoutSecrets(payload, registry),
    });
  }

  status(authority?: string | null): ReturnType<Client["status"]> {
    return authority === undefined
      ? serverStatuses(this.#hubs, this.#servers)
      : this.#hubs.ordinary.federation.status(authority);
  }

  traces(): ReturnType<Client["traces"]> {
    return [...this.#hubs].flatMap(({ federation }) => federation.traces());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#metrics?.end();
    await this.#hubs.close();
    await this.#snapshot?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #checkOpen(): void {
    if (this.#closed)
      throw new XdsError("FAILED_PRECONDITION", "the client is closed; make another one");
  }

  #hubOf(name: string, { source }: NameOptions): FedHub {
    this.#checkOpen();
    return this.#hubs.of(name, source);
  }
}

/**
 * Returns the servers of all hubs, each once. The servers of the bootstrap come first, in its
 * order. Servers that only ConfigSources name follow while they are in use.
 */
function serverStatuses(
  hubs: Iterable<FedHub>,
  servers: SharedServers,
): readonly FederationServerStatus[] {
  const all = new Map<string, FederationServerStatus>();
  for (const [index, { federation }] of [...hubs].entries()) {
    for (const one of federation.status())
      if (index === 0 || isInUse(one)) all.set(one.id, { ...all.get(one.id), ...one });
  }
  return Array.from(all.values(), (one) => ({ ...one, ...withStatus(servers.status(one.id)) }));
}

function isInUse({ status, answers, failure }: FederationServerStatus): boolean {
  return status !== undefined || answers !== undefined || failure !== undefined;
}

function withStatus(
  status: FederationServerStatus["status"],
): Pick<FederationServerStatus, "status"> {
  return status === undefined ? {} : { status };
}

/** The method that watches a name. */
type Method = "watch" | "watchAll" | "watchList";

const what = { watch: "one name", watchAll: "a collection", watchList: "a list" } as const;

/**
 * Throws an XdsError that names the right method if a name needs another one. `watch` and `watchList`
 * accept an opaque name, which may be the name of a list, and a malformed name, which is rejected
 * later.
 */
function checkMethod(method: Method, typeUrl: string, name: string): void {
  const right = methodOf(typeUrl, name);
  if (right === method || (right === undefined && method !== "watchAll")) return;
  const list =
    method === "watchList"
      ? ` (a list of ${typeFromTypeUrl(typeUrl) ?? typeUrl} has the type ${collectionTypeOf(typeFromTypeUrl(typeUrl) ?? typeUrl)})`
      : "";
  throw new XdsError(
    "INVALID_ARGUMENT",
    `${JSON.stringify(name)} is ${what[right ?? "watch"]}; use ${right ?? "watch"}()${list}`,
    { typeUrl, resource: name, rule: list === "" ? undefined : "B-LIST-1" },
  );
}

/** Returns `undefined` if the name does not determine the method. */
function methodOf(typeUrl: string, name: string): Method | undefined {
  if (name === "*") return "watchAll";
  const parsed = /^(?:xdstp:|file:\/\/)/.test(name) ? parseLocator(name) : undefined;
  if (parsed?.ok !== true || parsed.value.scheme === "http") return undefined;
  if (isGlob(parsed.value)) return "watchAll";
  if (parsed.value.scheme === "file") return undefined;
  const { resourceType, directives } = parsed.value;
  const isEntry = directives.some(({ kind }) => kind === "entry");
  return !isEntry && resourceType === collectionTypeOf(typeFromTypeUrl(typeUrl) ?? "")
    ? "watchList"
    : "watch";
}
