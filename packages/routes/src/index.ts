/**
 * Finds the route of an Envoy `RouteConfiguration` that takes a request.
 *
 * @packageDocumentation
 */
export { findRoute, type FoundRoute, type TriedRoute } from "./find-route.ts";
export type { RouteRequest } from "./route-request.ts";
export type { ForwardedOutcome, RouteOutcome } from "./outcome-of.ts";
