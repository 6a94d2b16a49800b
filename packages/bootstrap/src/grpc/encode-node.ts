import { readFileSync } from "node:fs";
import { create, toBinary } from "@bufbuild/protobuf";
import { NodeSchema } from "@xdstp/protos/discovery";
import { isDeeperThan, maxMetadataDepth, XdsError } from "@xdstp/core";
import { nodeContextParams } from "@xdstp/uri";
import type { BootstrapNode } from "./bootstrap.ts";

/**
 * The features that a client lists (C-NODE-5): resources with a TTL, and SotW resources in a
 * wrapper, in both spellings that servers use.
 */
export const clientFeatures: readonly string[] = [
  "xds.config.supports-resource-ttl",
  "xds.config.supports-resource-in-sotw",
  "xds.config.resource-in-sotw",
];

/** The fields of a node that are not in the bootstrap. */
export interface NodeOptions {
  /** Default: {@link clientFeatures}. */
  readonly features?: readonly string[];
  /** Name and version of the program. Default: `xdstp` and the version of this package. */
  readonly userAgent?: { readonly name: string; readonly version: string };
}

/**
 * Returns the encoded `envoy.config.core.v3.Node` for the first request of each stream (C-NODE-1).
 * Throws INVALID_ARGUMENT for metadata that nest too deeply for any server to read.
 */
export function encodeNode(
  { id, cluster, locality, metadata, dynamicParameters = new Map() }: BootstrapNode,
  { features = clientFeatures, userAgent }: NodeOptions = {},
): Uint8Array<ArrayBuffer> {
  if (metadata !== undefined && isDeeperThan(metadata, maxMetadataDepth))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `the metadata of the node nests deeper than ${maxMetadataDepth} levels; give a flatter object`,
    );
  const { name, version } = userAgent ?? { name: "xdstp", version: ownVersion() };
  return toBinary(
    NodeSchema,
    create(NodeSchema, {
      id,
      cluster,
      userAgentName: name,
      userAgentVersionType: { case: "userAgentVersion", value: version },
      clientFeatures: [...features],
      ...(locality !== undefined && {
        locality: { region: locality.region, zone: locality.zone, subZone: locality.subZone },
      }),
      ...(metadata !== undefined && { metadata }),
      dynamicParameters: Object.fromEntries(
        [...dynamicParameters].map(([typeUrl, params]) => [
          typeUrl,
          { params: Object.fromEntries(params) },
        ]),
      ),
    }),
  );
}

/** Returns `unknown` if a bundler has not included the manifest. */
function ownVersion(): string {
  try {
    return (
      JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
        readonly version: string;
      }
    ).version;
  } catch {
    return "unknown";
  }
}

/**
 * Returns the context parameters for fields of a node: the layer `node` of names (C-CTX-3). Throws
 * an XdsError, INVALID_ARGUMENT, for a field that cannot be a parameter.
 */
export function nodeParams(
  { id, cluster, locality, metadata }: BootstrapNode,
  fields: readonly string[],
): ReadonlyMap<string, string> {
  const params = nodeContextParams(
    {
      id,
      cluster,
      ...(locality !== undefined && { locality }),
      ...(metadata !== undefined && { metadata }),
    },
    fields,
  );
  if (params.ok) return params.value;
  throw new XdsError("INVALID_ARGUMENT", `nodeContextParams: ${params.error.message}`, {
    rule: params.error.rule,
  });
}
