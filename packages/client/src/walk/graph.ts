import type { Reference, StoredResource, XdsError } from "@xdstp/core";

/** A resource that is reached from a root. */
export interface GraphNode extends Reference {
  readonly resource: StoredResource;
  /** Why it may be old: a newer state was rejected, the server is away. */
  readonly error?: XdsError;
}

/** A name that is referred to and that is not there. */
export interface Gap extends Reference {
  /** Who refers to it, the first that was come upon. Absent: it is the root. */
  readonly from?: Reference;
  /** It has an answer: it does not exist, or was rejected. False: it has not come yet, or has no server. */
  readonly answered: boolean;
  /** Why it is not there. Absent: it has not come yet. */
  readonly error?: XdsError;
}

/** All that is reached from a root, as of one revision of its source. Without gaps and fault it is complete: nothing in it refers to something that is not in it. */
export interface Graph {
  readonly revision: number;
  /** By {@link referenceKey}; the root first, then what is nearer to it. Names are spelled as in the payloads that refer to them. */
  readonly nodes: ReadonlyMap<string, GraphNode>;
  readonly gaps: ReadonlyMap<string, Gap>;
  /** It was given up: there is more than the limit allows. */
  readonly fault?: XdsError;
}

/** A map key for a reference. A type URL has no line break. */
export function referenceKey({ typeUrl, name }: Reference): string {
  return `${typeUrl}\n${name}`;
}
