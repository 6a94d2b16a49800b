/**
 * An xDS client: typed watches on names, with validation, ACK and NACK.
 *
 * @packageDocumentation
 */
export {};
