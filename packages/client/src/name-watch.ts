import { XdsError, type StoredResource } from "@xdstp/core";

import { BaseWatch } from "./base-watch.ts";
import type { Decoder } from "./decoder.ts";
import type { Hub } from "./hub.ts";
import type { Snapshot } from "./snapshot.ts";
import type { Watch, WatchOptions } from "./watch.ts";
import { watchedType, type TypeSource, type ValueOf, type WatchedType } from "./watched-type.ts";

/** Watches one name. */
export function watchName<S extends TypeSource<unknown>>(
  hub: Hub,
  source: S,
  name: string,
  options: WatchOptions<ValueOf<S>>,
): Watch<Snapshot<ValueOf<S>>> {
  return new NameWatch<ValueOf<S>>(hub, source as TypeSource<ValueOf<S>>, name, options);
}

/** What a consumer knows: a snapshot is a change where this differs. */
interface Known {
  readonly resource: StoredResource | undefined;
  readonly error: XdsError | undefined;
}

class NameWatch<T> extends BaseWatch<Snapshot<T>> {
  readonly #decoder: Decoder<T>;
  #known: Known | undefined;
  #unfit: { readonly resource: StoredResource; readonly error: XdsError } | undefined;

  constructor(
    hub: Hub,
    source: TypeSource<T>,
    name: string,
    { validate, signal, ...nameOptions }: WatchOptions<T>,
  ) {
    const type = watchedType(source) as WatchedType<T>;
    const decoder = hub.decoder<T>(source, type);
    super(hub, {
      typeUrl: type.typeUrl,
      name,
      options: nameOptions,
      check: (resource, checked) => decoder.check(resource, checked, validate),
    });
    this.#decoder = decoder;
    this.#judge(validate);
    this.begin(signal);
  }

  wake(): void {
    const now = this.#now();
    if (
      now === undefined ||
      (this.#known !== undefined &&
        this.#known.resource === now.resource &&
        this.#known.error === now.error)
    )
      return;
    this.#known = now;
    this.announce(() => this.#snapshot());
  }

  /** undefined: nothing is known yet. */
  #now(): Known | undefined {
    const { settled, stale } = this.topic;
    const [entry] = this.topic.members();
    const resource = entry?.resource;
    const error = stale ?? entry?.error;
    if (resource !== undefined) return this.#readable(resource, error);
    if (error !== undefined) return { resource, error };
    return settled ? { resource, error: this.#missing() } : undefined;
  }

  /** What was taken before this watch began need not be what it wants. */
  #judge(validate: WatchOptions<T>["validate"]): void {
    const resource = this.topic.members()[0]?.resource;
    const error =
      resource === undefined ? undefined : this.#decoder.check(resource, resource.name, validate);
    if (resource !== undefined && error !== undefined) this.#unfit = { resource, error };
  }

  /** What came by an alias was checked under its own name. */
  #readable(resource: StoredResource, error: XdsError | undefined): Known {
    if (resource === this.#unfit?.resource)
      return { resource: undefined, error: this.#unfit.error };
    try {
      this.#decoder.read(resource);
      return { resource, error };
    } catch (failure) {
      this.#unfit = { resource, error: XdsError.from(failure) };
      return { resource: undefined, error: this.#unfit.error };
    }
  }

  #missing(): XdsError {
    return this.#known?.resource === undefined && this.#known?.error?.code === "NOT_FOUND"
      ? this.#known.error
      : new XdsError("NOT_FOUND", `${JSON.stringify(this.name)} does not exist`, {
          resource: this.name,
          reason: "missing",
        });
  }

  #snapshot(): Snapshot<T> | undefined {
    const { resource, error } = this.#known ?? {};
    const told = error === undefined ? {} : { error: this.hub.tell(error) };
    if (resource === undefined) return { name: this.name, version: "", ...told };
    return {
      name: this.name,
      value: this.#decoder.read(resource),
      version: resource.given,
      ...told,
    };
  }
}
