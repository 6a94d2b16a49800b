import type { Clock, Interest, StoredResource } from "@xdstp/core";

import { followSignal } from "../read-watch.ts";
import type { Hub } from "../hub.ts";
import { createLatest, type Latest } from "../latest.ts";
import { createMember, type Member } from "../member.ts";
import type { Unread } from "../taking.ts";
import { watchedType, type TypeSource, type ValueOf } from "../watch.ts";
import { isNews, nothing, type Composition } from "./composition.ts";
import type { Configuration, Gap, PartTypes, Walk, WalkOptions } from "./graph.ts";
import { createPartDecoders, type PartDecoders } from "./part-decoders.ts";
import { createPlaces, type WalkHubs } from "./places.ts";
import { createResourceFault, referenceFault } from "./faults.ts";
import { watchGraph, type GraphWatch } from "./watch-graph.ts";

/** Starts a walk from a name. Throws an XdsError if the root cannot be requested. */
export function walkName<S extends TypeSource<unknown>, P extends PartTypes>(
  hub: Hub,
  clock: Clock,
  source: S,
  name: string,
  options: WalkOptions<P>,
  hubs: WalkHubs = { ordinary: hub, ofReference: () => hub },
): Walk<ValueOf<S>, P> {
  return new NameWalk<ValueOf<S>, P>({ hub, hubs, clock }, source, name, options);
}

class NameWalk<R, P extends PartTypes> implements Walk<R, P> {
  readonly name: string;
  readonly #hub: Hub;
  readonly #typeUrl: string;
  readonly #types: readonly (readonly [word: string, typeUrl: string])[];
  readonly #decoders: PartDecoders;
  readonly #latest: Latest<Configuration<R, P>>;
  readonly #watch: GraphWatch;
  #unfollow: () => void = () => undefined;
  #told: Composition = nothing;
  #unread = false;
  #update: Unread | undefined;
  #closed = false;

  constructor(
    { hub, hubs, clock }: { readonly hub: Hub; readonly hubs: WalkHubs; readonly clock: Clock },
    source: TypeSource<unknown>,
    name: string,
    {
      types,
      skip,
      signal,
      initialFetchMs,
      maxResources,
      onlyAds = false,
      ...nameOptions
    }: WalkOptions<P>,
  ) {
    this.#typeUrl = watchedType(source).typeUrl;
    this.name = hub.interestOf(this.#typeUrl, name, nameOptions).name;
    const fault = referenceFault({ typeUrl: this.#typeUrl, name: this.name });
    if (fault !== undefined) throw fault;
    this.#hub = hub;
    this.#types = Object.entries(types ?? {}).map(
      ([word, type]) => [word, watchedType(type).typeUrl] as const,
    );
    this.#decoders = createPartDecoders(
      hub,
      [...Object.values(types ?? {}), source],
      createResourceFault(onlyAds),
    );
    this.#latest = createLatest<Configuration<R, P>>(
      () => {
        this.#onTaken();
      },
      () => {
        this.close();
      },
    );
    const followed =
      types === undefined ? undefined : new Set(this.#types.map(([, typeUrl]) => typeUrl));
    const places = createPlaces(hubs, (at, typeUrl, interest) =>
      this.#check(at, typeUrl, interest),
    );
    this.#watch = watchGraph(
      hubs.ordinary.cache,
      { typeUrl: this.#typeUrl, name: this.name },
      {
        clock,
        ...(initialFetchMs !== undefined && { initialFetchMs }),
        ...(maxResources !== undefined && { maxResources }),
        follow: (reference) =>
          followed?.has(reference.typeUrl) !== false &&
          skip?.(reference.typeUrl, reference.name) !== true,
        interestOf: (reference) => hub.interestOf(reference.typeUrl, reference.name, {}),
        placeOf: places.of,
        rootAt: places.at(hub),
        onWanted: (typeUrl, interest) => this.#check(hubs.ordinary, typeUrl, interest),
        faultOf: (typeUrl, resource) => this.#decoders.faultOf(typeUrl, resource),
        restoredAt: hubs.ordinary.restoredAt,
        onWake: (typeUrl, topic) => {
          this.#onWake(typeUrl, topic.members()[0]?.resource);
        },
        onWalk: (composition) => {
          this.#onWalk(composition);
        },
      },
    );
    hub.open.add(this);
    this.#unfollow = followSignal(signal, (reason) => {
      this.#abort(reason);
    });
  }

  get pending(): readonly Gap[] {
    return this.#tell(this.#watch.composition.pending);
  }

  [Symbol.asyncIterator](): AsyncIterator<Configuration<R, P>, undefined> {
    return this.#latest;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#watch.close();
    this.#unfollow();
    this.#hub.open.delete(this);
    this.#onTaken();
    this.#latest.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.close();
    return Promise.resolve();
  }

  #check({ cache }: Hub, typeUrl: string, interest: Interest): () => void {
    return cache.check(typeUrl, interest, (resource, checked) =>
      this.#decoders.check(typeUrl, resource, checked),
    );
  }

  #abort(reason: unknown): void {
    this.#latest.fail(reason);
    this.close();
  }

  /**
   * From here the stream waits until it is known whether there is an update to consume (C-ACK-13).
   * Decodes the resource now, so that the message of its check is kept.
   */
  #onWake(typeUrl: string, resource: StoredResource | undefined): void {
    if (resource !== undefined) this.#decoders.faultOf(typeUrl, resource);
    this.#update?.renew();
    if (this.#latest.started) this.#update ??= this.#hub.taking.begin();
  }

  #onWalk(now: Composition): void {
    if (isNews(this.#told, now)) {
      this.#told = now;
      this.#unread = true;
      this.#latest.mark(() => this.#configuration(now));
    }
    if (!this.#unread) this.#onTaken();
  }

  #onTaken(): void {
    this.#unread = false;
    this.#update?.consumed();
    this.#update = undefined;
  }

  #configuration({ graph, missing, pending, error, restoredAt }: Composition): Configuration<R, P> {
    const resources = new Map<string, Map<string, Member<unknown>>>();
    for (const { typeUrl, name, resource } of graph?.nodes.values() ?? []) {
      const named = resources.get(typeUrl) ?? new Map<string, Member<unknown>>();
      resources.set(
        typeUrl,
        named.set(name, createMember(this.#decoders.of(typeUrl), name, resource)),
      );
    }
    const root = resources.get(this.#typeUrl)?.get(this.name) as Member<R> | undefined;
    const parts = Object.fromEntries(
      this.#types.map(([word, typeUrl]) => [
        word,
        resources.get(typeUrl) ?? new Map<string, never>(),
      ]),
    ) as unknown as Configuration<R, P>["parts"];
    return {
      name: this.name,
      parts,
      resources,
      missing: this.#tell(missing),
      pending: this.#tell(pending),
      ...(root !== undefined && { root }),
      ...(error !== undefined && { error: this.#hub.tell(error) }),
      ...(restoredAt !== undefined && { restoredAt }),
    };
  }

  #tell(gaps: readonly Gap[]): readonly Gap[] {
    return gaps.map((gap) =>
      gap.error === undefined ? gap : { ...gap, error: this.#hub.tell(gap.error) },
    );
  }
}
