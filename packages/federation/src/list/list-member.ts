import { isSameError, XdsError, type Resource, type Topic } from "@xdstp/core";

/** What is known of a list or of one member: nothing yet; a resource; that there is none; why none can be had. */
export type HeldState = "pending" | "held" | "missing" | "failed";

/** What a name has, as far as it is known. */
export interface Holding {
  /** What is known of it. */
  readonly state: HeldState;
  /** Only while `held`. */
  readonly resource?: Resource;
  /** As it was given, or derived from the content where none was (S-VER-4). Empty: there is none. */
  readonly version: string;
  /** Next to a resource: ambient, the cached resource stays valid. Otherwise why there is none. */
  readonly error?: XdsError;
}

/** One member of a list; a new object whenever something of it has changed that a reader would notice. */
export interface ListMember extends Holding {
  /** Whether it is inline or not (C-LIST-8). Empty: inline and without a name. */
  readonly name: string;
}

/** What the topic of an exact name has now. */
export function holdingOf(topic: Topic, typeUrl: string): Holding {
  const {
    interest: { name },
    settled,
  } = topic;
  const [entry] = topic.members();
  const error = topic.stale ?? entry?.error;
  const resource = entry?.resource;
  if (resource !== undefined)
    return {
      state: "held",
      resource,
      version: resource.given,
      ...(error !== undefined && { error }),
    };
  if (error !== undefined) return failure(error);
  return settled
    ? failure(
        new XdsError("NOT_FOUND", `${JSON.stringify(name)} does not exist`, {
          typeUrl,
          resource: name,
          reason: "missing",
        }),
      )
    : { state: "pending", version: "" };
}

/** Nothing is cached, and this is why. */
export function failure(error: XdsError): Holding {
  return { state: error.code === "NOT_FOUND" ? "missing" : "failed", version: "", error };
}

/** What is shown under a name: the same object as before, unless a reader would notice a difference. */
export function shown(before: ListMember | undefined, name: string, now: Holding): ListMember {
  return before !== undefined && isSameHolding(before, now) ? before : { name, ...now };
}

/** An entry whose version did not change is not delivered again (C-LIST-6), unless its content did all the same (B-VER-5). */
function isSameHolding(one: Holding, other: Holding): boolean {
  return (
    one.state === other.state &&
    one.version === other.version &&
    isSameError(one.error, other.error) &&
    isSameContent(one.resource, other.resource)
  );
}

function isSameContent(one: Resource | undefined, other: Resource | undefined): boolean {
  return (
    one === other ||
    (one !== undefined &&
      other !== undefined &&
      Buffer.compare(one.payload.value, other.payload.value) === 0)
  );
}
