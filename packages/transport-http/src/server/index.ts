/**
 * The server's end of native HTTP: resources by GET, with long polls that caches share.
 *
 * @packageDocumentation
 */
export { createHttpHandler } from "./http-handler.ts";
export type { HttpHandler, HttpHandlerOptions, HttpNameStatus } from "./http-handler.ts";
export { createHttpListener, createHttpRoute, type HttpListenerOptions } from "./http-listener.ts";
export { defaultHttpLimits, type HttpLimits } from "./http-limits.ts";
export type { HttpAnswer, HttpCaller, HttpRequest, HttpView } from "./http-request.ts";
