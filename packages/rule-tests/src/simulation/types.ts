import { XdsError, type Reference, type Resource, type ResourceType } from "@xdstp/core";

import { textIn } from "../harness/payload.ts";

export const CLUSTERS = "type.googleapis.com/test.Cluster";
export const ENDPOINTS = "type.googleapis.com/test.Endpoints";
export const ROUTES = "type.googleapis.com/test.Route";
/** Related to nothing, with TTLs and aliases. */
export const FLAGS = "type.googleapis.com/test.Flag";
/** The same, of full state. */
export const GATES = "type.googleapis.com/test.Gate";

/** Types that follow and refer to each other, and types that do not; of full state and not. */
export const types: readonly ResourceType[] = [
  { typeUrl: CLUSTERS, fullStateInSotw: true, refersTo: [ROUTES] },
  { typeUrl: ENDPOINTS, follows: [{ typeUrl: CLUSTERS, when: "sent" }], refersTo: [CLUSTERS] },
  {
    typeUrl: ROUTES,
    fullStateInSotw: true,
    follows: [{ typeUrl: CLUSTERS, when: "accepted" }],
    references: referencesIn,
  },
  { typeUrl: FLAGS },
  { typeUrl: GATES, fullStateInSotw: true },
];

export const typeUrls: readonly string[] = types.map(({ typeUrl }) => typeUrl);

/** The types as a client sees them that rejects what is bad. */
export const choosyTypes: readonly ResourceType[] = types.map((type) => ({
  ...type,
  validate: rejectionOf,
}));

const fullState = new Set(
  types.filter(({ fullStateInSotw }) => fullStateInSotw === true).map(({ typeUrl }) => typeUrl),
);

export function isFullState(typeUrl: string): boolean {
  return fullState.has(typeUrl);
}

/** Types of which none waits for one of another group. */
export function groupOf(typeUrl: string): string {
  return typeUrl === FLAGS || typeUrl === GATES ? typeUrl : CLUSTERS;
}

/** In a text that some clients reject. */
export const BAD = "-bad";

/** The clusters of a route stand in its text, behind an arrow. */
export const REFERS = ">";

function referencesIn(payload: Uint8Array): readonly Reference[] {
  const [, names] = textIn(payload).split(REFERS);
  return (names ?? "")
    .split(",")
    .filter((name) => name !== "")
    .map((name) => ({ typeUrl: CLUSTERS, name }));
}

function rejectionOf({ name, payload }: Resource): XdsError | undefined {
  const text = textIn(payload.value);
  return text.includes(BAD)
    ? new XdsError("INVALID_ARGUMENT", `${name}: ${text} is not to the liking of this client`)
    : undefined;
}
