import { createChannels, nodeParams, type SourceConfig } from "@xdstp/bootstrap";
import { createCache } from "@xdstp/cache";
import type { Clock, ResourceFeed } from "@xdstp/core";
import {
  createFederation,
  createFederationServer,
  type BootstrapFacts,
  type ClientNotice,
  type Federation,
  type FederationOptions,
  type FederationSource,
  type ServerOptions,
  type SharedServers,
} from "@xdstp/federation";
import { envoyTypes } from "@xdstp/resource-types";

import { type ClientOptions, createNodeWarner, resolveBy } from "./client-options.ts";
import { createHub, type HubParts } from "./hub.ts";
import { Hubs, type FedHub } from "./hubs.ts";
import { createNaming } from "./naming.ts";
import { createTaking, type Taking } from "./taking.ts";

/** The parts of a client, other than its options, that its hubs use. */
export interface HubsHost {
  readonly bootstrap: BootstrapFacts;
  readonly clock: Clock;
  /** Shared by all hubs. */
  readonly servers: SharedServers;
  /** Returns the encoded node. */
  readonly node: () => Uint8Array;
  /** Called for each event of a stream. */
  readonly onNotice: (event: ClientNotice) => void;
  /** Throws an XdsError if the client is closed. */
  readonly checkOpen: () => void;
}

const processChannels = createChannels();

/**
 * Creates the hubs of a client. Each hub is a cache over a federation; all hubs use the same
 * servers and channels.
 */
export function createHubs(options: ClientOptions, host: HubsHost): Hubs {
  const { idleMs = 10_000, sourceOf: readSource } = options;
  const { bootstrap, clock } = host;
  const serverOptions = serverOptionsOf(options, host);
  const taking = createTaking(clock);
  const naming = createNaming(namingOf(bootstrap, options));
  return new Hubs({
    sources: [...(options.sources ?? []), ...bootstrap.sources(serverOptions)],
    ads: bootstrap.ads,
    readSource,
    clock,
    idleMs,
    sourceOf: (config) => sourceOf(config, serverOptions),
    make: (sources, onIdle) => {
      const fed = createFed(
        { sources, servers: host.servers, ...federationOptionsOf(options, serverOptions) },
        taking,
        options,
        clock,
        bootstrap.node.id,
      );
      return {
        ...createHub({
          cache: fed.cache,
          restoredAt: fed.restoredAt,
          taking,
          nodeId: bootstrap.node.id,
          onIdle,
          interestOf: (...asked) => (host.checkOpen(), naming(...asked)),
        }),
        federation: fed.federation,
      };
    },
  });
}

function createFed(
  options: FederationOptions,
  taking: Taking,
  { types = envoyTypes, onEvent, snapshot }: ClientOptions,
  clock: Clock,
  nodeId: string,
): Pick<FedHub, "cache" | "federation"> & Pick<HubParts, "restoredAt"> {
  const federation = createFederation(options);
  const inWildcard = (name: string): boolean => federation.inWildcard(name);
  const cache = createCache({
    types,
    clock,
    directives: true,
    wildcard: (_, name) => inWildcard(name),
    ...(onEvent !== undefined && { onEvent }),
  });
  const feed = takenBy(federation, taking);
  const kept = snapshot?.keep(feed, { inWildcard, space: spaceOf(nodeId, options.sources) });
  cache.addFeed(kept ?? feed);
  return { federation, cache, restoredAt: kept?.restoredAt };
}

/**
 * Returns the space of a hub in a snapshot. The resources of an opaque name depend on the node and
 * on the server, so another node id, or other servers, have another space. Credentials and
 * features of a server may change.
 */
function spaceOf(nodeId: string, sources: readonly FederationSource[]): string {
  return JSON.stringify([nodeId, ...sources.map(({ servers }) => servers.map(({ name }) => name))]);
}

function serverOptionsOf(
  options: ClientOptions,
  { clock, node, onNotice }: HubsHost,
): ServerOptions {
  const {
    types = envoyTypes,
    onEvent,
    variant = "delta",
    channels = processChannels,
    nodeVersion = process.versions.node,
    backoff,
    limits,
    rate,
    fetchMs,
    idleMs,
    random,
  } = options;
  const warn = createNodeWarner(nodeVersion, (event) => {
    onEvent?.(event);
  });
  return {
    variant,
    channels,
    node,
    clock,
    types: new Map(types.map((type) => [type.typeUrl, type])),
    onEvent: (event) => {
      warn();
      onNotice(event);
      onEvent?.(event);
    },
    ...(backoff !== undefined && { backoff }),
    ...(limits !== undefined && { limits }),
    ...(rate !== undefined && { rate }),
    ...(fetchMs !== undefined && { fetchMs }),
    ...(idleMs !== undefined && { idleMs }),
    ...(random !== undefined && { random }),
  };
}

/** Converts a ConfigSource that was read. Other members of it are not used here. */
function sourceOf(
  { servers, authorities, reachabilityOnly, place }: SourceConfig,
  options: ServerOptions,
): FederationSource {
  return {
    servers: servers.map((server) => createFederationServer(server, options)),
    ...(authorities !== undefined && { authorities }),
    ...(reachabilityOnly !== undefined && { reachabilityOnly }),
    ...(place !== undefined && { place }),
  };
}

/**
 * Wraps a federation as a feed: its streams read the next response only when the readers have
 * consumed the last one (C-ACK-13).
 */
function takenBy(federation: Federation, taking: Taking): ResourceFeed {
  return {
    run: (sink, signal) => federation.run(taking.over(sink), signal),
    want: (...updates) => {
      federation.want(...updates);
    },
  };
}

function federationOptionsOf(
  {
    clock,
    random,
    idleMs,
    follow,
    maxHops,
    altOn,
    altOnUnreachable,
    resolveAuthority,
    resolveMs,
    dynamicParameters,
    onEvent,
  }: ClientOptions,
  servers: ServerOptions,
): Omit<FederationOptions, "sources" | "servers"> {
  const byAuthority = parametersByAuthority(dynamicParameters);
  return {
    parametersOf: (authority) => byAuthority.get(authority),
    ...(onEvent !== undefined && { onEvent }),
    ...(clock !== undefined && { clock }),
    ...(random !== undefined && { random }),
    ...(idleMs !== undefined && { idleMs }),
    ...(follow !== undefined && { follow }),
    ...(maxHops !== undefined && { maxHops }),
    ...(altOn !== undefined && { altOn }),
    ...(altOnUnreachable !== undefined && { altOnUnreachable }),
    ...(resolveAuthority !== undefined && {
      resolveAuthority: resolveBy(resolveAuthority, servers),
    }),
    ...(resolveMs !== undefined && { resolveMs }),
  };
}

function namingOf(
  { node, nodeContextParams }: BootstrapFacts,
  { nodeContextParams: fields = nodeContextParams, dynamicParameters }: ClientOptions,
): Parameters<typeof createNaming>[0] {
  return {
    node: nodeParams(node, fields),
    dynamic: {
      opaque: new Map(Object.entries(dynamicParameters?.opaque ?? {})),
      byAuthority: parametersByAuthority(dynamicParameters),
    },
  };
}

function parametersByAuthority(
  dynamic: ClientOptions["dynamicParameters"],
): ReadonlyMap<string, ReadonlyMap<string, string>> {
  return new Map(
    Object.entries(dynamic?.authorities ?? {}).map(([name, parameters]) => [
      name,
      new Map(Object.entries(parameters)),
    ]),
  );
}
