import { isLate, isSameError, XdsError, type StoredResource, type Topic } from "@xdstp/core";

/**
 * The state of a watched name. Only `nextNameState` makes one:
 *
 * ```text
 * requested --resource--> cached       requested, cached --it cannot be used--> rejected
 * any --the server has none--> missing          any --nothing can be had for now--> late
 * ```
 *
 * Every phase can follow every other one, except that nothing leads back to `requested`.
 */
export type NameState =
  /** Nothing is known yet. */
  | { readonly kind: "requested" }
  /** There is a resource. `error`: why it may be old. */
  | {
      readonly kind: "cached";
      readonly resource: StoredResource;
      readonly error: XdsError | undefined;
    }
  /** There is a resource, and this watch cannot use it. */
  | {
      readonly kind: "rejected";
      readonly resource: StoredResource;
      readonly error: XdsError;
    }
  /** There is none, and the server says so. */
  | { readonly kind: "missing"; readonly error: XdsError }
  /** Nothing can be had for now: no server can be reached, or none has answered in time. */
  | { readonly kind: "late"; readonly error: XdsError };

/** The state of a watch that has just begun. */
export const requested: NameState = { kind: "requested" };

/**
 * Returns the state after a topic has changed: the same object when a reader sees no difference.
 * @param isReport - The supply has woken: its error was reported, if only again (C-ACK-18)
 * @param faultOf - Why a resource cannot be used; called where it is another one than before
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

/** A server that has said why there is none need not say it again. */
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

/** An error that is reported again is a change, though it says the same. */
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
