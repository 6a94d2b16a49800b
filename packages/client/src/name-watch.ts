import { isLate, isSameError, type StoredResource, type Topic, XdsError } from "@xdstp/core";

import type { Decoder } from "./decoder.ts";
import type { Hub } from "./hub.ts";
import { BaseWatch } from "./read-watch.ts";
import {
  type DefaultOption,
  type Snapshot,
  type TypeSource,
  type ValueOf,
  type Watch,
  watchedType,
  type WatchedType,
  type WatchOptions,
} from "./watch.ts";

/** Watches one name. */
export function watchName<S extends TypeSource<unknown>>(
  hub: Hub,
  source: S,
  name: string,
  options: WatchOptions<ValueOf<S>> & Partial<DefaultOption<ValueOf<S>>>,
): Watch<Snapshot<ValueOf<S>>> {
  return new NameWatch<ValueOf<S>>(hub, source as TypeSource<ValueOf<S>>, name, options);
}

class NameWatch<T> extends BaseWatch<Snapshot<T>> {
  readonly #decoder: Decoder<T>;
  readonly #default: T | undefined;
  #state = requested;
  /**
   * Returns the reason why a resource that was cached before the watch began cannot be used.
   * `undefined` once the watch has begun: then resources are checked before they are cached.
   */
  #judge: ((resource: StoredResource) => XdsError | undefined) | undefined;

  constructor(
    hub: Hub,
    source: TypeSource<T>,
    name: string,
    {
      validate,
      signal,
      default: defaultValue,
      ...nameOptions
    }: WatchOptions<T> & Partial<DefaultOption<T>>,
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
    this.#default = defaultValue;
    this.#judge = (resource) => decoder.check(resource, resource.name, validate);
    this.begin(signal);
    this.#judge = undefined;
  }

  wake(): void {
    // A resource that is read by an alias was validated under its own name.
    const judge = this.#judge ?? ((resource) => faultOf(this.#decoder, resource));
    const next = nextNameState(this.#state, this.topic, this.isSupply(), judge);
    if (next === this.#state) return;
    this.#state = next;
    this.announce(() => this.#snapshot());
  }

  #snapshot(): Snapshot<T> | undefined {
    const state = this.#state;
    switch (state.kind) {
      case "requested":
        return undefined;
      case "cached": {
        const { resource, error } = state;
        const restoredAt = this.restoredAt();
        return {
          name: this.name,
          value: this.#decoder.read(resource),
          version: resource.given,
          ...(error !== undefined && { error: this.hub.tell(error) }),
          ...(restoredAt !== undefined && { restoredAt }),
        };
      }
      case "rejected":
      case "missing":
      case "late":
        return {
          name: this.name,
          version: "",
          error: this.hub.tell(state.error),
          ...(this.#default !== undefined && { value: this.#default, isDefault: true }),
        };
    }
  }
}

/**
 * Returns the reason why a cached resource cannot be decoded. A resource that can is kept decoded.
 */
function faultOf(decoder: Decoder<unknown>, resource: StoredResource): XdsError | undefined {
  try {
    decoder.read(resource);
    return undefined;
  } catch (failure) {
    return XdsError.from(failure);
  }
}

/**
 * The state of a watched name. Only `nextNameState` creates one:
 *
 * ```text
 * requested --resource--> cached       requested, cached --it cannot be used--> rejected
 * any --the server has none--> missing          any --none available for now--> late
 * ```
 *
 * Every state can follow every other one, except that nothing leads back to `requested`.
 */
export type NameState =
  /** Nothing is known yet. */
  | { readonly kind: "requested" }
  /** The resource is cached. `error`: the reason why it may be out of date. */
  | {
      readonly kind: "cached";
      readonly resource: StoredResource;
      readonly error: XdsError | undefined;
    }
  /** A resource is cached, but this watch cannot use it. */
  | {
      readonly kind: "rejected";
      readonly resource: StoredResource;
      readonly error: XdsError;
    }
  /** The resource does not exist, according to the server. */
  | { readonly kind: "missing"; readonly error: XdsError }
  /** No resource is available for now: no server can be reached, or none has answered in time. */
  | { readonly kind: "late"; readonly error: XdsError };

/** The state of a watch that has just begun. */
export const requested: NameState = { kind: "requested" };

/**
 * Returns the state after a topic has changed: the same object if a reader sees no difference.
 * @param isReport - True if the source has reported its state, even the same error again (C-ACK-18)
 * @param faultOf - Returns the reason why a resource cannot be used; called only for a resource
 * that differs from the previous one
 */
export function nextNameState(
  before: NameState,
  topic: Pick<Topic, "settled" | "stale" | "members" | "interest">,
  isReport: boolean,
  faultOf: (resource: StoredResource) => XdsError | undefined,
): NameState {
  const { settled, stale, interest } = topic;
  const [entry] = topic.members();
  const resource = entry?.resource;
  const error = stale ?? entry?.error;
  if (resource !== undefined)
    return changed(before, withResource(before, resource, error, faultOf), isReport);
  if (error === undefined) return settled ? withoutReason(before, interest.name) : before;
  const isOpen = stale !== undefined || isLate(error);
  return changed(before, { kind: isOpen ? "late" : "missing", error }, isReport);
}

function withResource(
  before: NameState,
  resource: StoredResource,
  ambient: XdsError | undefined,
  faultOf: (resource: StoredResource) => XdsError | undefined,
): NameState {
  const isJudged =
    (before.kind === "cached" || before.kind === "rejected") && before.resource === resource;
  if (isJudged && before.kind === "rejected") return before;
  const error = isJudged ? undefined : faultOf(resource);
  return error === undefined
    ? { kind: "cached", resource, error: ambient }
    : { kind: "rejected", resource, error };
}

/** If the server gave a reason earlier, that reason stays. */
function withoutReason(before: NameState, name: string): NameState {
  const isKnown =
    (before.kind === "missing" || before.kind === "late") && before.error.code === "NOT_FOUND";
  if (isKnown) return before;
  const error = new XdsError("NOT_FOUND", `${JSON.stringify(name)} does not exist`, {
    resource: name,
    reason: "missing",
  });
  return { kind: "missing", error };
}

/** An error that is reported again counts as a change, even if its text is the same. */
function changed(before: NameState, now: NameState, isReport: boolean): NameState {
  const isAgain = isReport && "error" in now && now.error !== undefined;
  return now === before || (isSame(before, now) && !isAgain) ? before : now;
}

function isSame(one: NameState, other: NameState): boolean {
  if (one.kind === "requested" || other.kind === "requested") return one.kind === other.kind;
  return (
    one.kind === other.kind &&
    resourceOf(one) === resourceOf(other) &&
    isSameError(one.error, other.error)
  );
}

function resourceOf(state: NameState): StoredResource | undefined {
  return "resource" in state ? state.resource : undefined;
}
