import { checkParams } from "./check-text.ts";
import { fault, type ParseResult } from "./uri-error.ts";
import type { XdstpLocator, XdstpName } from "./locator.ts";

/** Context parameters that are not in the literal locator, without their prefixes. Absent: none. */
export interface ContextLayers {
  /** Layer 1, from `nodeContextParams`: each becomes `xds.node.<field>`. */
  readonly node?: ReadonlyMap<string, string>;
  /** Layer 3, what the client can do with this type: each becomes `xds.client_feature.<feature>`, `true` or `false`. */
  readonly clientFeatures?: ReadonlyMap<string, boolean>;
  /** Layer 4, computed for this request (N-63: `vip`, `listening_address`, `host`): each becomes `xds.resource.<key>`. */
  readonly attributes?: ReadonlyMap<string, string>;
}

/**
 * The name to ask for: the literal locator without its directives, with the layers of xdstp-names.md section 8.
 *
 * Called by a client before it subscribes. The error `reserved-key` says that the locator itself uses a key under `xds.` (N-60, B-CTX-2);
 * so each layer has its own prefix, and no key of one can hide that of another. The error `utf8` says that a key or a value has an unpaired surrogate (N-06). Values pass unchanged (N-64).
 */
export function composeName(
  locator: XdstpLocator | XdstpName,
  layers: ContextLayers = {},
): ParseResult<XdstpName> {
  const { authority, resourceType, id, contextParams } = locator;
  for (const key of contextParams.keys()) {
    if (key.startsWith("xds."))
      return { ok: false, error: fault("reserved-key", "context", key, 0) };
  }
  const composed = new Map([
    ...prefixed("xds.node.", layers.node),
    ...contextParams,
    ...prefixed("xds.client_feature.", layers.clientFeatures),
    ...prefixed("xds.resource.", layers.attributes),
  ]);
  const error = checkParams(composed);
  if (error !== undefined) return { ok: false, error };
  return {
    ok: true,
    value: { scheme: "xdstp", authority, resourceType, id, contextParams: composed },
  };
}

function prefixed(
  prefix: string,
  params: ReadonlyMap<string, string | boolean> = new Map<string, string>(),
): [string, string][] {
  return Array.from(params, ([key, value]) => [prefix + key, String(value)]);
}
