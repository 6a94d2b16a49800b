import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { createTemplate, nameOf, stampText, type Template } from "./template.ts";

/** The type that all rows use. */
export const clusterType = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

/** A cluster as control planes write them, of about 420 bytes: EDS, HTTP/2, circuit breakers, outlier detection and metadata that changes. */
export function clusterTemplate(): Template {
  const any = anyFromJson(
    {
      "@type": clusterType,
      name: nameOf(0),
      type: "EDS",
      edsClusterConfig: {
        edsConfig: { ads: {}, resourceApiVersion: "V3" },
        serviceName: nameOf(0),
      },
      connectTimeout: "5s",
      perConnectionBufferLimitBytes: 32768,
      lbPolicy: "LEAST_REQUEST",
      circuitBreakers: {
        thresholds: [
          { maxConnections: 1024, maxPendingRequests: 1024, maxRequests: 1024, maxRetries: 3 },
        ],
      },
      outlierDetection: {
        consecutive5xx: 5,
        interval: "10s",
        baseEjectionTime: "30s",
        maxEjectionPercent: 10,
      },
      commonLbConfig: { healthyPanicThreshold: { value: 50 }, localityWeightedLbConfig: {} },
      metadata: {
        filterMetadata: {
          "com.example.bench": {
            revision: stampText(0),
            owner: "team-of-the-service",
            tier: "backend",
          },
        },
      },
      typedExtensionProtocolOptions: {
        "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
          "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
          explicitHttpConfig: { http2ProtocolOptions: { maxConcurrentStreams: 100 } },
        },
      },
      altStatName: "bench.example.com/production/backend",
    },
    envoyRegistry(),
  );
  return createTemplate(any.value);
}
