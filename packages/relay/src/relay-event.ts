import type { CacheEvent } from "@xdstp/cache";
import type { FederationEvent } from "@xdstp/federation";

/** What an operator of a relay should know; what happens on the streams upstream stands in the `ClientNotice`s. */
export type RelayEvent = CacheEvent | FederationEvent;
