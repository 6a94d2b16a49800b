/** The aggregated method of a variant. */
export function aggregatedPath(variant: "delta" | "sotw"): string {
  return `/envoy.service.discovery.v3.AggregatedDiscoveryService/${variant === "delta" ? "Delta" : "Stream"}AggregatedResources`;
}
