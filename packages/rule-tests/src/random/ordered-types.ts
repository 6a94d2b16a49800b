import type { Reference, ResourceType } from "@xdstp/core";

export const CLUSTERS = "type.googleapis.com/test.Cluster";
export const ENDPOINTS = "type.googleapis.com/test.Endpoints";
export const LISTENERS = "type.googleapis.com/test.Listener";
export const ROUTES = "type.googleapis.com/test.Route";

/** The payload of a resource. */
export interface Body {
  readonly name: string;
  /** `v7`, `v7-bad`, and of what refers to a cluster `v7>c3`. */
  readonly version: string;
}

/** Encodes a payload. */
export const bodyOf = (body: Body): Uint8Array => new TextEncoder().encode(JSON.stringify(body));
/** Decodes a payload. */
export const readBody = (value: Uint8Array): Body =>
  JSON.parse(new TextDecoder().decode(value)) as Body;
/** The cluster that a version refers to; empty: none. */
export const targetOf = (version: string): string => version.split(">")[1] ?? "";
const references = (payload: Uint8Array): readonly Reference[] => [
  { typeUrl: CLUSTERS, name: targetOf(readBody(payload).version) },
];

const afterClusters = [
  { typeUrl: CLUSTERS, when: "accepted" },
  { typeUrl: ENDPOINTS, when: "accepted" },
] as const;
/** Types that follow each other as those of Envoy do. */
export const orderedTypes: readonly ResourceType[] = [
  {
    typeUrl: CLUSTERS,
    fullStateInSotw: true,
    refersTo: [LISTENERS, ROUTES],
    warms: [{ typeUrl: ENDPOINTS, names: (payload) => [readBody(payload).name] }],
  },
  { typeUrl: ENDPOINTS, follows: [{ typeUrl: CLUSTERS, when: "sent" }], refersTo: [CLUSTERS] },
  { typeUrl: LISTENERS, fullStateInSotw: true, follows: [...afterClusters], references },
  {
    typeUrl: ROUTES,
    fullStateInSotw: true,
    refersTo: [LISTENERS],
    follows: [...afterClusters, { typeUrl: LISTENERS, when: "sent" }],
    references,
  },
];
