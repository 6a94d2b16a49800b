import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { serviceNameFault } from "./service-name-fault.ts";
import { typeUrls } from "./type-urls.ts";

const encode = (json: Readonly<Record<string, unknown>>): Uint8Array =>
  anyFromJson({ "@type": typeUrls.cluster, ...json }, envoyRegistry()).value;
const eds = (service_name?: string): Uint8Array =>
  encode({
    name: "blue",
    type: "EDS",
    eds_cluster_config: {
      eds_config: { ads: {} },
      ...(service_name !== undefined && { service_name }),
    },
  });
const name = "xdstp://acme/envoy.config.cluster.v3.Cluster/blue";

describe("serviceNameFault()", () => {
  it.each([
    ["an xdstp name and no service name", typeUrls.cluster, name, eds(), true],
    ["an xdstp name and a service name", typeUrls.cluster, name, eds("s"), false],
    ["an opaque name", typeUrls.cluster, "blue", eds(), false],
    [
      "an xdstp name, and no EDS",
      typeUrls.cluster,
      name,
      encode({ name: "blue", type: "STRICT_DNS" }),
      false,
    ],
    ["another type", typeUrls.listener, name, eds(), false],
  ])(
    "tells of a resource with %s whether it is rejected [C-GRPC-3]",
    (_, typeUrl, resource, payload, rejected) => {
      expect(serviceNameFault(typeUrl, resource, payload)).toEqual(
        rejected
          ? {
              text: `"${name}" does not name its endpoints; a cluster with an xdstp name needs eds_cluster_config.service_name`,
              rule: "C-GRPC-3",
            }
          : undefined,
      );
    },
  );
});
