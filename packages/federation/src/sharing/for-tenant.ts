import type { XdsError } from "@xdstp/core";
import type { WantStatus } from "@xdstp/protocol/client";
import { isGlob } from "@xdstp/uri";

import type { Tenant } from "./tenant.ts";

/**
 * What is known of something wanted, as one of those that share a server sees it: what others refuse, and what has not come for others, is held as far as it is concerned (B-CSDS-2, C-CSDS-3).
 * @param concerns - whether an error is its own
 */
export function forTenant(
  tenant: Tenant,
  typeUrl: string,
  want: WantStatus,
  concerns: (error: XdsError) => boolean,
): WantStatus {
  const { interest, state, error, refused: all, ...others } = want;
  const refused = all.filter((one) => concerns(one.error));
  const own = error !== undefined && concerns(error) ? { error } : {};
  const lacks =
    interest.name !== "*" && !isGlob(interest.name) && !tenant.holds(typeUrl, interest.name);
  const known = state === "held" && lacks ? "timeout" : state;
  if (refused.length === all.length && own.error === error && known === state) return want;
  return {
    interest,
    ...others,
    refused,
    ...own,
    state: refused.length > 0 ? "refused" : own.error === undefined && !lacks ? "held" : known,
  };
}
