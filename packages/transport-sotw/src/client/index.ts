/**
 * The client of the SotW variant: a feed without I/O.
 *
 * @packageDocumentation
 */
export { createSotwClient } from "./sotw-client.ts";
