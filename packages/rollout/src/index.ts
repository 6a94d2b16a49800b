/**
 * A change that some clients see before all others: they accept it for everyone, or reject it for everyone.
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
