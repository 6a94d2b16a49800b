import type { XdsError } from "@xdstp/core";
import type { WantStatus } from "@xdstp/protocol/client";
import { isGlob } from "@xdstp/uri";

import type { Tenant } from "./tenant.ts";

/**
 * What is known of something wanted, as one of those that share a server sees it: what others reject, and what has not come for others, counts as cached for it (B-CSDS-2, C-CSDS-3).
 * @param concerns - whether an error is its own
 */
export function forTenant(
  tenant: Tenant,
  typeUrl: string,
  want: WantStatus,
  concerns: (error: XdsError) => boolean,
): WantStatus {
  const { interest, state, error, rejected: all, ...others } = want;
  const rejected = all.filter((one) => concerns(one.error));
  const own = error !== undefined && concerns(error) ? { error } : {};
  const lacks =
    interest.name !== "*" && !isGlob(interest.name) && !tenant.holds(typeUrl, interest.name);
  const known = state === "cached" && lacks ? "late" : state;
  if (rejected.length === all.length && own.error === error && known === state) return want;
  return {
    interest,
    ...others,
    rejected,
    ...own,
    state: rejected.length > 0 ? "rejected" : own.error === undefined && !lacks ? "cached" : known,
  };
}
