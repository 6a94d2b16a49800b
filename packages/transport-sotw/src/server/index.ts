/**
 * The server of the SotW variant: state machines without I/O.
 *
 * @packageDocumentation
 */
export { createSotwServer } from "./create-sotw-server.ts";
