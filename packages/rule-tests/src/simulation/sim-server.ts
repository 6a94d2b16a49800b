import { createCache, type Cache } from "@xdstp/cache";
import type {
  ByteStream,
  ByteStreamHandler,
  Clock,
  Put,
  Removal,
  ResourceSource,
} from "@xdstp/core";
import { createScheduler, createServerContext, type ServerStream } from "@xdstp/protocol/server";
import type { Connection, Network } from "@xdstp/testing";
import { createDeltaServer } from "@xdstp/transport-delta/server";
import { createSotwServer } from "@xdstp/transport-sotw/server";

import { payloadOf } from "../harness/payload.ts";
import type { Change } from "./action.ts";
import type { Defect } from "./defects/defect.ts";
import { forwardTo } from "./defects/forward.ts";
import { BAD, ROUTES, types } from "./types.ts";
import type { WorldShape } from "./world-shape.ts";

/** The options of a server. */
export interface SimServerOptions {
  readonly clock: Clock;
  readonly network: Network;
  readonly shape: WorldShape;
  readonly defect: Defect;
  readonly onCommit: (server: string, values: readonly Value[]) => void;
  /** A call has arrived. */
  readonly onOpen: (connection: Connection) => void;
  /** A relay of another server. Absent: it has a store of its own. */
  readonly relay?: RelayOf;
}

/** The origin of a relay, and the function that starts one. */
export interface RelayOf {
  /** The server that publishes its resources. */
  readonly root: SimServer;
  open(): RelayProcess;
}

/** A relay that runs. */
export interface RelayProcess {
  readonly cache: Cache;
  readonly source: ResourceSource;
  /** Ends the process. A crash loses everything that is not stored. */
  end(crash: boolean): void;
}

/** The new value of a server under a name or an alias. Absent text: none. */
export type Value = Pick<Change, "typeUrl" | "name" | "text">;

/** A process with a cache and servers of both variants, and a store that outlives it. */
export interface SimServer {
  readonly name: string;
  /** The cache of the process that runs now, or ran last. */
  readonly cache: Cache;
  readonly running: boolean;
  /** The server that publishes its resources: itself, or the origin of which it is a relay. */
  readonly root: SimServer;
  /** Open streams of the process that runs. */
  readonly streams: ReadonlyMap<Connection, ServerStream>;
  start(): void;
  /** Stops the process. A crash notifies the clients only, whose machine sees it. */
  stop(crash: boolean): void;
  commit(changes: readonly Change[]): void;
  /** Puts a good version of every bad resource. */
  mend(): void;
}

/** A server that runs, and has nothing yet. */
export function createSimServer(name: string, options: SimServerOptions): SimServer {
  return new Server(name, options);
}

/** Returns the address at which the clients of a variant find a server. */
export function addressOf(name: string, variant: "delta" | "sotw"): string {
  return `${name}/${variant}`;
}

class Server implements SimServer {
  readonly name: string;
  readonly #options: SimServerOptions;
  readonly #store = new Map<string, Change>();
  /** Resources that were bad since the last rest. Behind a relay that subscribes in SotW, a bad resource stays when it is removed. So does one that became good while the relay was disconnected. It is then rejected together with every new response. */
  readonly #everBad = new Map<string, Change>();
  #listeners: readonly { close(): void }[] = [];
  #streams = new Map<Connection, ServerStream>();
  #relay: RelayProcess | undefined;
  cache: Cache;

  constructor(name: string, options: SimServerOptions) {
    this.name = name;
    this.#options = options;
    this.cache = this.#run();
  }

  get root(): SimServer {
    return this.#options.relay?.root ?? this;
  }
  get running(): boolean {
    return this.#listeners.length > 0;
  }
  get streams(): ReadonlyMap<Connection, ServerStream> {
    return this.#streams;
  }

  start(): void {
    if (!this.running) this.cache = this.#run();
  }

  stop(crash: boolean): void {
    for (const listener of this.#listeners) listener.close();
    this.#listeners = [];
    for (const [connection, stream] of [...this.#streams]) {
      if (crash) connection.cut("both");
      else stream.end(14, "the server stops");
    }
    if (this.#relay === undefined) void this.cache.close();
    else this.#relay.end(crash);
  }

  /** A server that does not run puts the changes into its store only. */
  commit(changes: readonly Change[]): void {
    if (this.root !== this) {
      this.root.commit(changes);
      return;
    }
    const values = changes.flatMap((change) => valuesOf(change, this.#store.get(keyOf(change))));
    this.#noteBad(changes);
    for (const change of changes) {
      if (change.text === undefined) this.#store.delete(keyOf(change));
      else this.#store.set(keyOf(change), change);
    }
    this.#options.onCommit(this.name, values);
    if (this.running)
      this.cache.commit({ put: changes.flatMap(this.#putOf), remove: changes.flatMap(removalOf) });
  }

  mend(): void {
    const gone = [...this.#everBad].flatMap(([key, change]) =>
      this.#store.has(key) ? [] : [change],
    );
    const bad = [...this.#store.values().filter(isBad), ...gone];
    this.#everBad.clear();
    this.commit(
      bad.map((change) => ({ ...change, text: change.text?.replace(BAD, "-mended") ?? "" })),
    );
  }

  /** A server with relays gives some types versions of its own: versions of the content would be the same wherever they are made. */
  readonly #putOf = (change: Change): readonly Put[] => {
    const isVersioned = this.#options.shape.hops !== undefined && change.typeUrl !== ROUTES;
    return putOf(change, isVersioned ? `version of ${change.text ?? ""}` : "");
  };

  #noteBad(changes: readonly Change[]): void {
    if (this.#options.shape.hops?.some(({ variant }) => variant === "sotw") !== true) return;
    for (const change of changes) if (isBad(change)) this.#everBad.set(keyOf(change), change);
  }

  #run(): Cache {
    const {
      clock,
      network,
      shape: { responseBytes },
      defect,
      relay,
    } = this.#options;
    this.#relay = relay?.open();
    const cache = this.#relay?.cache ?? this.#load();
    const source: ResourceSource = defect.source?.(cache, clock) ?? this.#relay?.source ?? cache;
    const later = (callback: () => void): void => {
      clock.after(1, callback);
    };
    const context = createServerContext({
      source,
      clock,
      scheduler: createScheduler({ slice: 4, later }),
      limits: { responseBytes },
    });
    const streams = new Map<Connection, ServerStream>();
    this.#streams = streams;
    this.#listeners = [createDeltaServer(context), createSotwServer(context)].map((end, index) => {
      const variant = index === 0 ? "delta" : "sotw";
      return network.listen(addressOf(this.name, variant), (out, connection) =>
        this.#serve(
          streams,
          connection,
          (given) => end.open({ peer: `connection ${connection.id}` }, given),
          out,
          variant,
        ),
      );
    });
    return cache;
  }

  #load(): Cache {
    const {
      clock,
      shape: { tombstoneMs, tombstoneCount },
    } = this.#options;
    const cache = createCache({ types, clock, tombstoneMs, tombstoneCount });
    cache.commit({ put: [...this.#store.values()].flatMap(this.#putOf) });
    return cache;
  }

  #serve(
    streams: Map<Connection, ServerStream>,
    connection: Connection,
    open: (out: ByteStream) => ServerStream,
    out: ByteStream,
    variant: "delta" | "sotw",
  ): ByteStreamHandler {
    const serve = (given: ByteStream): ByteStreamHandler => {
      const stream = open(given);
      streams.set(connection, stream);
      return stream;
    };
    this.#options.onOpen(connection);
    const handler = this.#options.defect.serve?.(serve, out, variant) ?? serve(out);
    return {
      ...forwardTo(handler),
      onClosed: (status) => {
        streams.delete(connection);
        handler.onClosed(status);
      },
    };
  }
}

function isBad({ text }: Change): boolean {
  return text?.includes(BAD) === true;
}

function keyOf({ typeUrl, name }: Change): string {
  return `${typeUrl} ${name}`;
}

/** Under its name, its alias, and the alias that it has given up. */
function valuesOf(
  { typeUrl, name, text, alias }: Change,
  before: Change | undefined,
): readonly Value[] {
  const value = text === undefined ? {} : { text };
  const given = alias === undefined ? [] : [{ typeUrl, name: alias, ...value }];
  const up =
    before?.alias === undefined || before.alias === alias ? [] : [{ typeUrl, name: before.alias }];
  return [{ typeUrl, name, ...value }, ...given, ...up];
}

function putOf({ typeUrl, name, text, ttlMs, alias }: Change, version: string): readonly Put[] {
  if (text === undefined) return [];
  const more = {
    ...(ttlMs === undefined ? {} : { ttlMs }),
    ...(alias === undefined ? {} : { aliases: [alias] }),
  };
  return [
    {
      typeUrl,
      resource: { name, version, payload: { typeUrl, value: payloadOf(name, text) }, ...more },
    },
  ];
}

function removalOf({ typeUrl, name, text }: Change): readonly Removal[] {
  return text === undefined ? [{ typeUrl, name }] : [];
}
