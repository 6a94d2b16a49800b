/**
 * The client of the delta variant: a feed without I/O.
 *
 * @packageDocumentation
 */
export { createDeltaClient, createDeltaNameClient } from "./delta-client.ts";
