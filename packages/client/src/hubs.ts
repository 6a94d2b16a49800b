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

/** The parameters of `Hubs`. */
export interface HubsParts {
  /** The sources of the bootstrap. */
  readonly sources: readonly FederationSource[];
  /** The ADS source of the bootstrap, if it has one. */
  readonly ads: SourceConfig | undefined;
  readonly clock: Clock;
  /** Milliseconds until a hub is closed after its last watch has ended. */
  readonly idleMs: number;
  /** Reads the ConfigSources of payloads. Throws an XdsError. */
  readonly readSource: ((configSource: Uint8Array) => SourceConfig) | undefined;
  /** Returns the source for a ConfigSource, with servers that can be opened. */
  sourceOf(config: SourceConfig): FederationSource;
  /** Creates a hub. `onIdle`: called each time its last watch has ended. */
  make(sources: readonly FederationSource[], onIdle: () => void): FedHub;
}

/**
 * The hubs of a client: one for all names that are subscribed as the bootstrap says, and one for
 * each ConfigSource next to a name that is not in the bootstrap.
 * They are separate, since two sources may have different contents under one opaque name
 * (C-AUTH-6).
 */
export class Hubs implements Iterable<FedHub> {
  readonly ordinary: FedHub;
  readonly #parts: HubsParts;
  readonly #others = new Map<string, FedHub>();
  /** ConfigSources that were read from payloads, as long as the payloads are cached. */
  readonly #known = new WeakMap<Uint8Array, SourceConfig>();

  constructor(parts: HubsParts) {
    this.#parts = parts;
    this.ordinary = parts.make(parts.sources, () => undefined);
  }

  *[Symbol.iterator](): Iterator<FedHub> {
    yield this.ordinary;
    yield* this.#others.values();
  }

  /** Returns the hub for a name with this ConfigSource next to it. */
  of(name: string, source: NameOptions["source"]): FedHub {
    const config = source === "ads" ? this.#parts.ads : source;
    if (config === undefined || config === "self") return this.ordinary;
    const ownSource = sourcesBeside(this.#parts.sources, name, this.#parts.sourceOf(config));
    return ownSource === undefined
      ? this.ordinary
      : (this.#others.get(ownSource.id) ?? this.#open(ownSource.id, ownSource.sources));
  }

  /**
   * Returns the hub for a name in a payload that `from` has delivered. Throws an XdsError if the
   * ConfigSource of the name cannot be read.
   */
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

  /** Creates a hub. It is closed when it has had no watches for `idleMs`. */
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

/**
 * Returns true if a ConfigSource applies to a name, or to an alternative of the name. It always
 * applies to opaque names (C-AUTH-1, C-AUTH-6).
 */
function isFor(authorities: readonly string[], name: string): boolean {
  return authoritiesIn(name).some(
    (authority) => authority === null || authorities.includes(authority),
  );
}
