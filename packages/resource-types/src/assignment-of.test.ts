import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";

import { assignmentOf, serviceNameFault } from "./assignment-of.ts";
import { cluster } from "./envoy-types.ts";
import { typeUrls } from "./type-urls.ts";

const encode = (json: Readonly<Record<string, unknown>>): Uint8Array =>
  anyFromJson({ "@type": cluster.typeUrl, ...json }, envoyRegistry()).value;
const edsConfig = { ads: {}, resource_api_version: "V3" };
const full = encode({
  name: "backend",
  type: "EDS",
  connect_timeout: "1s",
  eds_cluster_config: { eds_config: edsConfig, service_name: "service" },
  lb_policy: "ROUND_ROBIN",
});

/** The name of what comes over xDS. */
const of = (bytes: Uint8Array): string | undefined => {
  const found = assignmentOf(bytes, { start: 0, end: bytes.length });
  return found?.kind === "file" ? undefined : found?.name;
};

describe("assignmentOf()", () => {
  it("gives the service name", () => {
    expect(of(full)).toBe("service");
  });

  it("gives the name of the cluster where there is no service name", () => {
    expect(
      of(encode({ name: "bäckend", type: "EDS", eds_cluster_config: { eds_config: edsConfig } })),
    ).toBe("bäckend");
  });

  it.each(["STATIC", "STRICT_DNS", "LOGICAL_DNS", "ORIGINAL_DST"])(
    "gives none for a cluster of type %s",
    (type) => {
      expect(
        of(encode({ name: "a", type, eds_cluster_config: { service_name: "service" } })),
      ).toBeUndefined();
    },
  );

  it("gives none for a cluster without a type, or with one of its own", () => {
    expect(of(encode({ name: "a" }))).toBeUndefined();
    expect(
      of(encode({ name: "a", cluster_type: { name: "envoy.clusters.aggregate" } })),
    ).toBeUndefined();
  });

  it("goes by what comes last, as every decoder does", () => {
    const ownType = encode({ cluster_type: { name: "x" } });
    const renamed = encode({ eds_cluster_config: { service_name: "other" } });
    expect(of(Buffer.concat([full, ownType]))).toBeUndefined();
    expect(of(Buffer.concat([ownType, full]))).toBe("service");
    expect(of(Buffer.concat([full, renamed]))).toBe("other");
    expect(
      of(Buffer.concat([full, encode({ eds_cluster_config: { eds_config: edsConfig } })])),
    ).toBe("service");
  });

  it.each([{ path: "/eds.yaml" }, { path_config_source: { path: "/eds.yaml" } }])(
    "gives none where its endpoints come from a file: %j",
    (eds_config) => {
      expect(
        of(
          encode({
            name: "a",
            type: "EDS",
            eds_cluster_config: { eds_config, service_name: "service" },
          }),
        ),
      ).toBeUndefined();
    },
  );

  it("gives none where there is no name at all, or nothing", () => {
    expect(of(encode({ type: "EDS" }))).toBeUndefined();
    expect(of(new Uint8Array())).toBeUndefined();
  });

  it("never throws on bytes that are cut off or changed", () => {
    for (let at = 0; at < full.length; at++) {
      expect(of(full.subarray(0, at))?.length ?? 0).toBeLessThan(8);
      for (const byte of [0x00, 0x0b, 0x7f, 0xff])
        expect(of(full.with(at, byte))?.length ?? 0).toBeLessThan(full.length);
    }
  });
});

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
