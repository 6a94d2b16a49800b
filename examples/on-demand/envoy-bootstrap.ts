import { ads, deltaBootstrap } from "../mesh/envoy-bootstrap.ts";

/** A bootstrap for an Envoy that asks for listeners, and for nothing else before somebody needs it. */
export function envoyBootstrap(port: number): object {
  return deltaBootstrap("on-demand", port, { lds_config: ads });
}
