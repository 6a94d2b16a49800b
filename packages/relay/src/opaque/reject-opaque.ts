import { XdsError, type ResourceFeed } from "@xdstp/core";

import type { OpaqueEvent } from "../relay-event.ts";
import { isOpaque } from "./is-opaque.ts";
import { rejectNames } from "./reject-names.ts";

const reason =
  "a relay shares its cache, and the resource of an opaque name may depend on the node of the client (B-RELAY-2): use xdstp:// names, or set opaqueKey of the relay to the fields of the node that it depends on";

/** The same feed, without opaque names. The error is not a data error, so a client that connects here by mistake keeps what it has (S-ERR-3). */
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
