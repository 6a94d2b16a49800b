import { checkParams } from "./check-text.ts";
import type { XdstpLocator, XdstpName } from "./locator.ts";
import { fault, type ParseResult, resultOf } from "./uri-error.ts";

/**
 * Context parameters that are not in the literal locator, with keys without their prefixes. Absent:
 * none.
 */
export interface ContextLayers {
  /** Layer 1, from `nodeContextParams`: each becomes `xds.node.<field>`. */
  readonly node?: ReadonlyMap<string, string>;
  /**
   * Layer 3, the abilities of the client for this type: each becomes
   * `xds.client_feature.<feature>`, `true` or `false`.
   */
  readonly clientFeatures?: ReadonlyMap<string, boolean>;
  /** Layer 4, computed for this request (N-63: `vip`, `listening_address`, `host`): each becomes `xds.resource.<key>`. */
  readonly attributes?: ReadonlyMap<string, string>;
}

/**
 * Returns the name to subscribe to: the literal locator without its directives, with the layers of
 * xdstp-names.md section 8.
 *
 * A client calls it before it subscribes. Each layer has a prefix of its own, so no key of one
 * layer can hide that of another. Values are not changed (N-64).
 * The error `reserved-key` means that the locator itself uses a key under `xds.` (N-60, B-CTX-2).
 * The error `utf8` means that a key or a value has an unpaired surrogate (N-06).
 */
export function composeName(
  locator: XdstpLocator | XdstpName,
  layers: ContextLayers = {},
): ParseResult<XdstpName> {
  const { authority, resourceType, id, contextParams } = locator;
  for (const key of contextParams.keys()) {
    if (key.startsWith("xds."))
      return resultOf<XdstpName>(fault("reserved-key", "context", key, 0));
  }
  const composed = new Map([
    ...prefixed("xds.node.", layers.node),
    ...contextParams,
    ...prefixed("xds.client_feature.", layers.clientFeatures),
    ...prefixed("xds.resource.", layers.attributes),
  ]);
  return resultOf(
    checkParams(composed) ?? {
      scheme: "xdstp",
      authority,
      resourceType,
      id,
      contextParams: composed,
    },
  );
}

function prefixed(
  prefix: string,
  params: ReadonlyMap<string, string | boolean> = new Map<string, string>(),
): [string, string][] {
  return Array.from(params, ([key, value]) => [prefix + key, String(value)]);
}

type NodeFields = Parameters<typeof nodeContextParams>[0];

type Fields = readonly (readonly [key: string, value: string])[];

/** The function that reads each field that may be named (N-62). */
const renderers = new Map<string, (node: NodeFields) => string | Fields>([
  ["id", (node) => node.id ?? ""],
  ["cluster", (node) => node.cluster ?? ""],
  ["user_agent_name", (node) => node.userAgentName ?? ""],
  ["user_agent_version", (node) => node.userAgentVersion ?? ""],
  ["locality.region", (node) => node.locality?.region ?? ""],
  ["locality.zone", (node) => node.locality?.zone ?? ""],
  ["locality.sub_zone", (node) => node.locality?.subZone ?? ""],
  [
    "user_agent_build_version.version",
    ({ userAgentBuildVersion: { version = {} } = {} }) =>
      [version.majorNumber, version.minorNumber, version.patch]
        .map((number) => number ?? 0)
        .join("."),
  ],
  ["user_agent_build_version.metadata", (node) => jsonFields(node.userAgentBuildVersion?.metadata)],
  ["metadata", (node) => jsonFields(node.metadata)],
]);

/**
 * Returns the context parameters of chosen fields of an `envoy.config.core.v3.Node` in its protobuf
 * JSON form, for the layer `node` of `composeName` (N-62).
 *
 * An unset field gives an empty string, as in Envoy, so that the set of keys depends on the
 * configuration only. Metadata gives one parameter per top-level key, with the JSON text as its
 * value.
 * The error `node-field` means that a field cannot be named. The error `utf8` means that a key or
 * value has an unpaired surrogate (N-06). Called once, when a bootstrap is read.
 */
export function nodeContextParams(
  node: {
    /** `node.id`. */
    readonly id?: string;
    /** `node.cluster`. */
    readonly cluster?: string;
    /** `node.user_agent_name`. */
    readonly userAgentName?: string;
    /** `node.user_agent_version`. */
    readonly userAgentVersion?: string;
    /** `node.user_agent_build_version`. */
    readonly userAgentBuildVersion?: {
      readonly version?: {
        readonly majorNumber?: number;
        readonly minorNumber?: number;
        readonly patch?: number;
      };
      readonly metadata?: Readonly<Record<string, unknown>>;
    };
    /** `node.locality`. */
    readonly locality?: {
      readonly region?: string;
      readonly zone?: string;
      readonly subZone?: string;
    };
    /** `node.metadata`, as JSON. */
    readonly metadata?: Readonly<Record<string, unknown>>;
  },
  fields: readonly string[],
): ParseResult<ReadonlyMap<string, string>> {
  const params = new Map<string, string>();
  for (const field of fields) {
    const rendered = renderers.get(field)?.(node);
    if (rendered === undefined)
      return resultOf<ReadonlyMap<string, string>>(fault("node-field", "context", field, 0));
    const entries: Fields = typeof rendered === "string" ? [["", rendered]] : rendered;
    for (const [key, value] of entries) params.set(field + key, value);
  }
  return resultOf(checkParams(params) ?? params);
}

function jsonFields(metadata: Readonly<Record<string, unknown>> = {}): Fields {
  return Object.entries(metadata).map(([key, value]) => [`.${key}`, JSON.stringify(value)]);
}
