/**
 * Type URLs and the names of messages. The messages themselves are in the sub-paths.
 * @packageDocumentation
 */
export { typeNameFromUrl, typeUrlFromName } from "./type-url.ts";
