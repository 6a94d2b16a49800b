/**
 * The client of the delta variant: a feed without I/O.
 *
 * @packageDocumentation
 */
export { createDeltaClient } from "./delta-client.ts";
