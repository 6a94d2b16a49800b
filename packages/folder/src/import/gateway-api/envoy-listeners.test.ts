import { expect, it } from "vitest";
import { type AttachedRoute, attachRoutes } from "./attached-routes.ts";
import { envoyListeners } from "./envoy-listeners.ts";
import type { GatewayListener } from "./gateway-listeners.ts";
import type { KubernetesObject } from "./object-node.ts";

const size = 2000;
/** A listener or a route may be read this often on average. An implementation that compares each route with all listeners reads them 2,000 times. */
const readsPerObject = 30;

function objectOf(kind: string, name: string, spec: KubernetesObject["json"]): KubernetesObject {
  const report = {
    add: (): void => {
      throw new Error("something is reported");
    },
  };
  const place = { file: "k8s.yaml", document: 0, path: [], created: "", namespace: "shop" };
  return { ...place, group: "gateway.networking.k8s.io", kind, name, json: { spec }, report };
}

it(`attaches ${size} routes to ${size} listeners, and reads each a few times`, () => {
  let reads = 0;
  const counted = <T extends object>(object: T, field: keyof T): T => {
    const value = object[field];
    return Object.defineProperty(object, field, {
      get: () => {
        reads++;
        if (reads > size * readsPerObject) throw new Error("an object is read too often");
        return value;
      },
    });
  };
  const gateway = objectOf("Gateway", "edge", {});
  const listeners = Array.from({ length: size }, (_, at): GatewayListener => {
    const listener: GatewayListener = {
      gateway,
      node: { object: gateway, path: [], value: undefined },
      name: `l${at}`,
      port: 443,
      protocol: "HTTPS",
      hostname: `h${at}.example`,
      kinds: new Set(["HTTPRoute"]),
      tls: {},
      certificates: [],
      allowsNamespace: () => true,
    };
    return counted(listener, "hostname");
  });
  const routes = Array.from({ length: size }, (_, at) =>
    objectOf("HTTPRoute", `r${at}`, {
      parentRefs: [{ name: "edge" }],
      hostnames: [`h${at}.example`],
      rules: [{ backendRefs: [{ name: "web", port: 80 }] }],
    }),
  );
  const attached = attachRoutes(
    {
      of: (kind) => (kind === "HTTPRoute" ? routes : []),
      get: () => gateway,
      use: () => undefined,
      isUsed: () => true,
    },
    listeners,
  );
  expect(attached).toHaveLength(size);
  const served = envoyListeners(
    listeners,
    attached.map((one): AttachedRoute => counted(one, "listener")),
    { clusterOf: () => "web", nowhere: () => "nowhere", resources: () => [] },
  );
  // One listener of Envoy, and a route configuration for each hostname.
  expect(served).toHaveLength(size + 1);
});
