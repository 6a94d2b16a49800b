import { XdsError, type Reference, type StoredResource, type Topic } from "@xdstp/core";

/** What is known of a name: a resource, or why there is none; with neither it has not come yet. */
export interface Looked {
  readonly resource?: StoredResource;
  /** Next to a resource: it may be old. */
  readonly error?: XdsError;
  /** It has an answer. */
  readonly answered: boolean;
}

/** What the topic of an exact name says now. */
export function lookUp({ typeUrl, name }: Reference, topic: Topic): Looked {
  const { settled, stale } = topic;
  const [entry] = topic.members();
  const error = stale ?? entry?.error;
  const resource = entry?.resource;
  if (resource !== undefined)
    return error === undefined ? { resource, answered: true } : { resource, answered: true, error };
  // A server that cannot be reached has said nothing; one that sent what was rejected has.
  if (error !== undefined) return { error, answered: settled || error.code !== "UNAVAILABLE" };
  return settled
    ? {
        error: new XdsError("NOT_FOUND", `${JSON.stringify(name)} does not exist`, {
          typeUrl,
          resource: name,
          reason: "missing",
        }),
        answered: true,
      }
    : { answered: false };
}
