/**
 * A language server for folders of resources and for configurations with which Envoy starts.
 * @packageDocumentation
 */
export { startLanguageServer, type LanguageServerOptions } from "./language-server.ts";
