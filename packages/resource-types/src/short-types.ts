import { typeUrls } from "./type-urls.ts";

/** The type URL of each short name that people write in folders and commands. */
export const shortTypes: ReadonlyMap<string, string> = new Map([
  ["listeners", typeUrls.listener],
  ["routes", typeUrls.routeConfiguration],
  ["scoped-routes", typeUrls.scopedRouteConfiguration],
  ["virtual-hosts", typeUrls.virtualHost],
  ["clusters", typeUrls.cluster],
  ["endpoints", typeUrls.clusterLoadAssignment],
  ["lb-endpoints", typeUrls.lbEndpoint],
  ["secrets", typeUrls.secret],
  ["runtimes", typeUrls.runtime],
  ["extensions", typeUrls.typedExtensionConfig],
]);

const shortNames: ReadonlyMap<string, string> = new Map(
  [...shortTypes].map(([name, typeUrl]) => [typeUrl, name]),
);

/** The short name of a type URL; undefined for types without one. */
export function shortNameOf(typeUrl: string): string | undefined {
  return shortNames.get(typeUrl);
}
