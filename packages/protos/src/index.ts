/**
 * Type URLs, the names of messages, and messages as `Any`. The messages themselves are in the sub-paths.
 * @packageDocumentation
 */
export { packAny } from "./pack-any.ts";
export { typeNameFromUrl, typeUrlFromName } from "./type-url.ts";
