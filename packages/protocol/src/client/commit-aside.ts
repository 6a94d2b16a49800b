import type { ResourceSink, Transaction } from "@xdstp/core";

/** A commit that answers no response, so nobody can be told what became of it: neither of rejections nor of a sink that fails. */
export function commitAside(sink: ResourceSink, transaction: Transaction): void {
  try {
    sink.commit(transaction).decided?.catch(() => undefined);
  } catch {
    // As above.
  }
}
