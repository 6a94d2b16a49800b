/**
 * The server of the delta variant: state machines without I/O.
 *
 * @packageDocumentation
 */
export { createDeltaServer } from "./create-delta-server.ts";
