import type { Committed, ResourceSink, Transaction } from "@xdstp/core";

/** Commits a transaction, and resolves when the part that waits for votes is decided. */
export async function commitWhole(
  sink: ResourceSink,
  transaction: Transaction,
): Promise<Committed> {
  const committed = sink.commit(transaction);
  return (await committed.decided) ?? committed;
}
