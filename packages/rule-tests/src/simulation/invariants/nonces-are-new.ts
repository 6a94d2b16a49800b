import type { Connection } from "@xdstp/testing";

import type { Report } from "../violation.ts";
import type { Invariant } from "./invariant.ts";

/** No nonce is repeated: on each stream they rise (S-NONCE-1). */
export function noncesAreNew(report: Report): Invariant {
  const last = new WeakMap<Connection, number>();
  return {
    onResponse(connection, { nonce, typeUrl }) {
      const before = last.get(connection) ?? 0;
      if (!(nonce > before))
        report(
          "a nonce is not repeated [S-NONCE-1]",
          `connection ${connection.id}: nonce ${nonce - before} after the one before it, in a response of ${typeUrl}`,
        );
      last.set(connection, nonce);
    },
  };
}
