import { XdsError } from "@xdstp/core";
import { nodeContextParams } from "@xdstp/uri";

import type { BootstrapNode } from "./bootstrap.ts";

/** The context parameters that fields of a node become: the layer `node` of names (C-CTX-3). Throws an XdsError, INVALID_ARGUMENT, for a field that cannot be one. */
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
