import { XdsError, type ResourceFeed } from "@xdstp/core";

import type { OpaqueEvent } from "../relay-event.ts";
import { isOpaque } from "./is-opaque.ts";
import { rejectNames } from "./reject-names.ts";

const reason =
  "a relay shares what it holds, and what an opaque name stands for may depend on the node that asks (B-RELAY-2): ask for xdstp:// names, or set opaqueKey of the relay to the fields of the node that it depends on";

/** The same feed, which is asked for no opaque names. The error is none of the data, so a client that comes here by mistake keeps what it has (S-ERR-3). */
export function rejectOpaque(
  feed: ResourceFeed,
  onEvent: (event: OpaqueEvent) => void,
): ResourceFeed {
  return rejectNames(feed, {
    isRejected: isOpaque,
    why: (typeUrl, resource) => new XdsError("FAILED_PRECONDITION", reason, { typeUrl, resource }),
    onRejected(typeUrl, names) {
      onEvent({ kind: "opaque-rejected", typeUrl, names, reason });
    },
  });
}
