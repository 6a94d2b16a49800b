import type { SourceConfig } from "@xdstp/bootstrap";
import { XdsError, type Clock, type Reference } from "@xdstp/core";
import {
  authoritiesIn,
  sourcesBeside,
  type Federation,
  type FederationSource,
} from "@xdstp/federation";

import type { Hub } from "./hub.ts";
import type { NameOptions } from "./watch.ts";
import { readSourceKind } from "./walk/read-source-kind.ts";

/** A hub, and the federation that feeds its cache. */
export interface FedHub extends Hub {
  readonly federation: Federation;
}

/** What has to be given to make hubs. */
export interface HubsParts {
  /** Those of the bootstrap. */
  readonly sources: readonly FederationSource[];
  /** The ADS source of the bootstrap, if it has one. */
  readonly ads: SourceConfig | undefined;
  readonly clock: Clock;
  /** Milliseconds that a hub stays of which nothing is watched any more. */
  readonly idleMs: number;
  /** Reads ConfigSources of payloads; throws an XdsError. */
  readonly readSource: ((configSource: Uint8Array) => SourceConfig) | undefined;
  /** The servers of a ConfigSource as they are asked. */
  sourceOf(config: SourceConfig): FederationSource;
  /** `onIdle`: called each time the last watch has ended. */
  make(sources: readonly FederationSource[], onIdle: () => void): FedHub;
}

/**
 * The hubs of a client: the one for all that is subscribed as the bootstrap says, and one for each ConfigSource next to names that is none of these,
 * since contents of different sources under one opaque name are not one (C-AUTH-6).
 */
export class Hubs implements Iterable<FedHub> {
  readonly ordinary: FedHub;
  readonly #parts: HubsParts;
  readonly #others = new Map<string, FedHub>();
  /** ConfigSources of payloads, as long as these are cached. */
  readonly #known = new WeakMap<Uint8Array, SourceConfig>();

  constructor(parts: HubsParts) {
    this.#parts = parts;
    this.ordinary = parts.make(parts.sources, () => undefined);
  }

  *[Symbol.iterator](): Iterator<FedHub> {
    yield this.ordinary;
    yield* this.#others.values();
  }

  /** The hub of a name that stands next to this source. */
  of(name: string, source: NameOptions["source"]): FedHub {
    const config = source === "ads" ? this.#parts.ads : source;
    if (config === undefined || config === "self") return this.ordinary;
    const ownSource = sourcesBeside(this.#parts.sources, name, this.#parts.sourceOf(config));
    return ownSource === undefined
      ? this.ordinary
      : (this.#others.get(ownSource.id) ?? this.#open(ownSource.id, ownSource.sources));
  }

  /** The hub of a name in a payload that `from` has delivered. Throws an XdsError where its ConfigSource cannot be read. */
  ofReference({ typeUrl, name, source }: Reference, from: Hub): Hub {
    if (source === undefined) return this.ordinary;
    const { ads } = this.#parts;
    const { kind, authorities } = readSourceKind(source);
    if (!isFor(authorities, name)) return this.ordinary;
    if (kind === "self") return from;
    if (kind === "ads")
      return ads === undefined ? this.ordinary : this.of(name, { ...ads, authorities });
    return this.of(name, this.#read(source, { typeUrl, name }));
  }

  #read(source: Uint8Array, { typeUrl, name }: Reference): SourceConfig {
    const { readSource } = this.#parts;
    if (readSource === undefined)
      throw new XdsError(
        "UNIMPLEMENTED",
        `${JSON.stringify(name)} comes from a ConfigSource of its own; give the client sourceOf: configSourceReader() of @xdstp/bootstrap/envoy`,
        { typeUrl, resource: name },
      );
    const known = this.#known.get(source) ?? readSource(source);
    this.#known.set(source, known);
    return known;
  }

  /** A hub is there from its first use until nothing has been watched through it for a while. */
  #open(id: string, sources: readonly FederationSource[]): FedHub {
    const { clock, idleMs } = this.#parts;
    const letGo = (): void => {
      if (hub.open.size > 0 || this.#others.get(id) !== hub) return;
      this.#others.delete(id);
      void hub.cache.close();
    };
    let timer = clock.after(idleMs, letGo);
    const hub = this.#parts.make(sources, () => {
      timer.cancel();
      timer = clock.after(idleMs, letGo);
    });
    this.#others.set(id, hub);
    return hub;
  }

  async close(): Promise<void> {
    for (const { open } of this) for (const watch of [...open]) watch.close();
    await Promise.all([...this].map(({ cache }) => cache.close()));
  }
}

/** Whether a ConfigSource counts for a name, or for an alternative of it: for opaque ones always (C-AUTH-1, C-AUTH-6). */
function isFor(authorities: readonly string[], name: string): boolean {
  return authoritiesIn(name).some(
    (authority) => authority === null || authorities.includes(authority),
  );
}
