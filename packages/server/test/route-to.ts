import { anyFromJson, envoyRegistry } from "@xdstp/protos/envoy";
import { types } from "./harness.ts";

/** Returns the bytes of the routes `r`, which send every request to one cluster. */
export function routeTo(cluster: string): Uint8Array {
  return anyFromJson(
    {
      "@type": types.route,
      name: "r",
      virtualHosts: [
        { name: "v", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster } }] },
      ],
    },
    envoyRegistry(),
  ).value;
}
