import type { ResourceType } from "@xdstp/core";

export const CLUSTERS = "type.googleapis.com/test.Cluster";
export const ENDPOINTS = "type.googleapis.com/test.Endpoints";
export const ROUTES = "type.googleapis.com/test.Route";

/** Types that follow each other, of full state and not. */
export const types: readonly ResourceType[] = [
  { typeUrl: CLUSTERS, fullStateInSotw: true, refersTo: [ROUTES] },
  { typeUrl: ENDPOINTS, follows: [{ typeUrl: CLUSTERS, when: "sent" }], refersTo: [CLUSTERS] },
  { typeUrl: ROUTES, fullStateInSotw: true, follows: [{ typeUrl: CLUSTERS, when: "accepted" }] },
];
export const typeUrls: readonly string[] = types.map(({ typeUrl }) => typeUrl);

export function isFullState(typeUrl: string): boolean {
  return types.some((type) => type.typeUrl === typeUrl && type.fullStateInSotw === true);
}

/** A payload says its name and version, as an unwrapped SotW response does not. */
export function bodyOf(name: string, version: string): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ name, version }));
}

export function readPayload(value: Uint8Array): { name: string; version: string } {
  return JSON.parse(new TextDecoder().decode(value)) as { name: string; version: string };
}
