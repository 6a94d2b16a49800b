/**
 * The server's end of REST-JSON polling: HTTP requests in, SotW streams of a server behind them.
 *
 * @packageDocumentation
 */
export {
  createRestHandler,
  type RestAnswer,
  type RestHandler,
  type RestHandlerOptions,
  type RestLimits,
  type RestRequest,
} from "./rest-handler.ts";
export type { PollLimits } from "./poll-sessions.ts";
export { createRestListener, createRestRoute } from "./rest-listener.ts";
