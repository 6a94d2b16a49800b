/**
 * A quorum: some clients see a change before all others, and accept or reject it for all of them.
 *
 * ```ts
 * const quorum = createQuorum({ accepted, ahead, revisions, clients: 3, waitMs: 10_000 });
 * const view = readerView(quorum.source, "node a");
 * ```
 *
 * @packageDocumentation
 */
export { clientKey, readerView } from "./client-topic.ts";
export { createQuorum, type Quorum, type QuorumOptions } from "./quorum.ts";
