import { pathToFileURL } from "node:url";
import {
  createClient,
  type Channels,
  type Client,
  type ClientNotice,
  type ClientOptions,
  type FederationEvent,
  type NameOptions,
  type WatchedType,
} from "@xdstp/client";
import { fromBinary, type Registry } from "@bufbuild/protobuf";
import { type Status, StatusCode } from "@xdstp/core";
import { authoritiesIn, isHttpServer } from "@xdstp/federation";
import { observeStream, type StreamObserver } from "@xdstp/recording";
import type { AskFlags } from "./ask-flags.ts";
import type { TypedName } from "./asked-name.ts";
import { askFailure, CliError, type Spoken, streamFailure } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { configuredSources, serversAsked, type ConfiguredSources } from "./configured-sources.ts";
import { dnsOf } from "./asked-bootstrap.ts";
import { answering, authorityIn, shownHops, type ShownHop } from "./shown-hop.ts";

/** An open client of a command. */
export interface AskClient {
  readonly client: Client;
  /** The id of the node. */
  readonly node: string;
  /** Returns the server that has answered for a name, else the first one that gets its request. `controlPlane` is the identifier that the server sends of itself. */
  server(asked: TypedName): {
    readonly server: string;
    readonly controlPlane: string;
    readonly variant: Spoken["variant"];
  };
  /** Throws a CliError if one of the names is read without a stream, from a server of native HTTP or from a directory. `need`: what needs streams. */
  requireStreams(names: readonly TypedName[], need: string): void;
  /** Returns the options for watches of a type: the attributes given with `--attribute`, and the ConfigSource of the type in an Envoy bootstrap. */
  nameOptions(typeUrl: string): NameOptions;
  /** Returns the current redirects and alternatives between a name of the type and its resource. The list is empty if the name leads nowhere else. */
  hops(typeUrl: string): (name: string) => readonly ShownHop[];
  /** Returns true if no server of the name has sent a response yet, or no server is configured. An error is then about the request, not about a response. */
  isUnanswered(asked: TypedName): boolean;
  /** Returns the state of the servers in one line, for the error after a timeout. `some`: part of the requested resources has arrived. Default: false. */
  heard(some?: boolean): string;
  /** Returns the servers that sent names which the configuration maps to other servers, with the number of these names (C-AUTH-7). */
  ignored(): readonly { readonly server: string; readonly names: number }[];
  /** Converts an error of the client to one that names the options of the command. */
  failure(error: unknown): CliError;
  close(): Promise<void>;
}

/** Names of one type in one response of a server that the configuration maps to other servers. */
export type ForeignNames = Omit<FederationEvent, "kind">;

/** The options of {@link openAskClient}. */
export interface AskClientOptions {
  /** Called for each event on a stream. */
  readonly onEvent?: (event: ClientNotice, spoken: Spoken) => void;
  /** Called for a response with names that the configuration maps to other servers (C-AUTH-7). */
  readonly onForeign?: (event: ForeignNames) => void;
  /** Milliseconds after which a resource that has not arrived is reported as missing. 0: never. Default: that of `createClient`. */
  readonly fetchMs?: number;
  /** The largest number of members of a collection. Default: that of `createClient`. */
  readonly members?: number;
  /** The requested names. Their authorities get the dynamic parameters. Default: none. */
  readonly names?: readonly string[];
  /** Creates the observer of each new stream. */
  readonly observe?: (server: string, variant: Spoken["variant"]) => StreamObserver;
}

/** Opens a client. Throws a CliError if no server is configured. */
export async function openAskClient(
  flags: AskFlags,
  io: CliIo,
  { onEvent, onForeign, fetchMs, members, observe, names = [] }: AskClientOptions = {},
): Promise<AskClient> {
  const configured = await configuredSources(flags, io);
  const { spoken } = configured;
  const foreign: IgnoredNames = new Map();
  /** The files of a bootstrap that do not exist, by URL, as one line each. */
  const missingFiles = new Map<string, string>();
  const channels = await configured.openChannels(io.clock, ({ kind, path, ...event }) => {
    const url = pathToFileURL(path).href;
    if (kind === "missing" && "message" in event) missingFiles.set(url, event.message);
    else missingFiles.delete(url);
  });
  const client = createClient({
    bootstrap: configured.bootstrap,
    sources: configured.more,
    variant: flags.variant,
    clock: io.clock,
    channels: observe === undefined ? channels : observed(channels, observe),
    nodeContextParams: [...configured.nodeContextParams, ...(flags.nodeContextParams ?? [])],
    ...(members !== undefined && { limits: { members } }),
    ...(flags.altOn !== undefined && { altOn: flags.altOn }),
    ...(flags.maxHops !== undefined && { maxHops: flags.maxHops }),
    ...(flags.follow !== undefined && { follow: flags.follow }),
    ...(flags.parameters !== undefined && {
      dynamicParameters: parametersOf(flags.parameters, names),
    }),
    ...(flags.dns === true && { resolveAuthority: dnsOf(io) }),
    onEvent(event) {
      if (event.kind === "foreign") {
        noteForeign(foreign, event);
        onForeign?.(event);
      } else if ("server" in event)
        onEvent?.(event, { ...spoken(event.server), variant: event.variant });
    },
    ...(fetchMs !== undefined && { fetchMs }),
  });
  // The timer that waits for the next attempt does not keep the process alive, so this one does.
  const alive = setInterval(() => undefined, 0x7fff_ffff);
  const rowsOf = (asked?: TypedName): Rows =>
    asked === undefined ? client.status() : rowsAsked(client, configured, asked);
  const failures = (asked?: TypedName): readonly string[] =>
    rowsOf(asked).flatMap(({ id, name, status }) =>
      status?.lastEnd === undefined || status.connected
        ? []
        : [streamFailure(name, status.lastEnd, spoken(name, id))],
    );
  const heard = (rows: Rows, some: boolean): string => {
    const streams = rows.flatMap(({ id, name, status }) =>
      status === undefined
        ? []
        : [missingFiles.get(name) ?? heardOf(name, status, spoken(name, id), some)],
    );
    return (streams.length > 0 ? streams : rows.map(({ name }) => `${name} has not answered`)).join(
      "; ",
    );
  };
  const server = (asked: TypedName): Rows[number] | undefined =>
    answering(rowsOf(asked)) ?? answering(client.status());
  return {
    client,
    node: configured.node.id,
    server(asked) {
      const row = server(asked);
      return {
        server: row?.name ?? "",
        controlPlane: row?.status?.controlPlane ?? "",
        variant: spoken(row?.name ?? "", row?.id).variant,
      };
    },
    requireStreams(names, need) {
      for (const { name, typeUrl } of names)
        for (const { name: server, config } of serversAsked(configured, name, typeUrl))
          if (config === undefined || isHttpServer(config))
            throw new CliError(
              1,
              `${JSON.stringify(name)} is read from ${server}, which has no streams, and ${need}; give --server HOST:PORT of gRPC`,
            );
    },
    nameOptions(typeUrl) {
      const source = configured.ownSource(typeUrl)?.config;
      return {
        ...(source !== undefined && { source }),
        ...(flags.attributes !== undefined && { attributes: flags.attributes }),
      };
    },
    hops: (typeUrl) =>
      shownHops(
        {
          client,
          failures,
          server: (asked) => answering(rowsOf(asked))?.name ?? "",
          heard: (asked) => heard(rowsOf(asked), false),
        },
        typeUrl,
      ),
    isUnanswered: (asked) =>
      rowsOf(asked).every(
        ({ status, answers }) => answers !== true && (status?.counts.responses ?? 0) === 0,
      ),
    heard: (some = false) => heard(client.status(), some),
    ignored: () =>
      Array.from(foreign, ([from, byType]) => ({
        server: from,
        names: Array.from(byType.values()).reduce((sum, names) => sum + names, 0),
      })),
    failure: (error) => askFailure(error, failures()),
    async close() {
      clearInterval(alive);
      await client.close();
    },
  };
}

/** Returns the same parameters for opaque names and for the authorities of `names` and of their alternatives (C-DYN-1). */
function parametersOf(
  parameters: NonNullable<AskFlags["parameters"]>,
  names: readonly string[],
): NonNullable<ClientOptions["dynamicParameters"]> {
  const authorities = names.flatMap(authoritiesIn).filter((authority) => authority !== null);
  return {
    opaque: parameters,
    authorities: Object.fromEntries(authorities.map((authority) => [authority, parameters])),
  };
}

/** The number of ignored names: by server, then by type and variant. */
export type IgnoredNames = Map<string, Map<string, number>>;

/** Adds the names of one response. A SotW server repeats the same names in each response, so its last response replaces the ones before. */
export function noteForeign(
  ignored: IgnoredNames,
  { server, typeUrl, names, variant }: ForeignNames,
): void {
  const byType = ignored.get(server) ?? new Map<string, number>();
  const key = `${typeUrl} ${variant ?? ""}`;
  byType.set(key, names + (variant === "sotw" ? 0 : (byType.get(key) ?? 0)));
  ignored.set(server, byType);
}

type Rows = ReturnType<Client["status"]>;

/** Returns the servers of a name, in the order in which they are used. If no configuration lists any, these are the servers that were found for its authority, for example in DNS. */
function rowsAsked(
  client: Client,
  configured: ConfiguredSources,
  { name, typeUrl }: TypedName,
): Rows {
  const [rows, servers] = [client.status(), serversAsked(configured, name, typeUrl)];
  if (servers.length === 0) return client.status(authorityIn(name));
  return servers.map(
    (server) => rows.find(({ id }) => id === server.id) ?? { id: server.id, name: server.name },
  );
}

interface ServerState {
  readonly connected: boolean;
  readonly lastEnd?: Status;
  readonly counts: { readonly responses: number };
}

function heardOf(
  name: string,
  { connected, lastEnd, counts: { responses } }: ServerState,
  spoken: Spoken,
  some: boolean,
): string {
  if (!connected && lastEnd !== undefined && lastEnd.code !== StatusCode.OK)
    return streamFailure(name, lastEnd, spoken);
  if (!connected) return `${name} has not been reached`;
  if (some) return `${name} is connected`;
  if (responses === 0) return `${name} is connected and has not answered`;
  const silent =
    spoken.variant === "sotw" ? ", and by SotW a server is silent about what it does not have" : "";
  return `${name} has answered ${responses === 1 ? "once" : `${responses} times`}, but not of this${silent}`;
}

function observed(channels: Channels, observe: NonNullable<AskClientOptions["observe"]>): Channels {
  return {
    acquire(server) {
      const channel = channels.acquire(server);
      return {
        open: (call, handler) =>
          observeStream(
            (own) => channel.open(call, own),
            () => observe(server.uri, variantIn(call.path)),
          )(handler),
        release: () => {
          channel.release();
        },
      };
    },
  };
}

/** Returns the variant of a gRPC method. The methods of the delta variant begin with `Delta`, both those of ADS and those of one type (B-STREAM-2). */
function variantIn(path: string): Spoken["variant"] {
  return path.slice(path.lastIndexOf("/") + 1).startsWith("Delta") ? "delta" : "sotw";
}

/** Returns a type whose values are encoded bytes. If the registry has the message type, bytes that cannot be decoded as it are rejected. */
export function shownType(typeUrl: string, registry: Registry): WatchedType<Uint8Array> {
  const schema = registry.getMessage(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
  return {
    typeUrl,
    decode(payload) {
      if (schema !== undefined) fromBinary(schema, payload);
      return new Uint8Array(payload);
    },
    redirect: (payload) => new Uint8Array(payload),
  };
}
