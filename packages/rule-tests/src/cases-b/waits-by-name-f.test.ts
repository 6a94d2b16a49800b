import {
  cluster,
  clusterLoadAssignment as eds,
  envoyTypes,
  listener,
  routeConfiguration as route,
} from "@xdstp/resource-types";
import { lengthDelimited } from "@xdstp/core/wire";
import { createPolicy, filterSource } from "@xdstp/policy";
import { it } from "vitest";
import { createWorld } from "../harness/create-world.ts";
import { routeTo } from "../harness/envoy-payloads.ts";
import { payloadOf } from "../harness/payload.ts";
const S = (t: string) =>
  t === cluster.typeUrl ? "C" : t === route.typeUrl ? "R" : t === eds.typeUrl ? "E" : "L";
const inline = (name: string, c: string, text = "") => {
  const hcm = Buffer.concat([lengthDelimited(4, routeTo("", c))]);
  const any = Buffer.concat([
    lengthDelimited(
      1,
      "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    ),
    lengthDelimited(2, hcm),
  ]);
  return Buffer.concat([
    payloadOf(name, text),
    lengthDelimited(3, lengthDelimited(3, lengthDelimited(4, any))),
  ]);
};
const show = (log: string[], a: readonly any[]) => {
  for (const x of a)
    log.push(
      `${S(x.typeUrl)}[${[...x.names, ...x.removed.map((n: string) => "-" + n)].join(" ")}]`,
    );
  return a;
};
it("reconnect sotw, two listeners, X is old and unchanged, its ACK is late", () => {
  const world = createWorld({ variant: "sotw/ads", types: envoyTypes });
  world.put(cluster.typeUrl, "X");
  world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: inline("l", "X") });
  world.put(listener.typeUrl, "m");
  const { client } = world.openSotw(cluster.typeUrl, {}) as any;
  client.send({ typeUrl: cluster.typeUrl, resourceNames: ["*"], versionInfo: "old" });
  client.send({ typeUrl: listener.typeUrl, resourceNames: ["*"], versionInfo: "old" });
  world.run();
  console.log(
    "RS",
    JSON.stringify(
      client.rest().map((x: any) => [S(x.typeUrl), x.versionInfo, x.resources.length]),
    ),
  );
});
for (const variant of ["delta/ads", "sotw/ads"] as const)
  it(`Q2 ${variant}`, () => {
    let policy: any;
    const world = createWorld({
      variant,
      types: envoyTypes,
      source(cache) {
        policy = createPolicy({ key: "k", forbidden: "missing", allows: (_, n) => n !== "Y" });
        return filterSource(cache, policy);
      },
    });
    const peer = world.connect();
    const log: string[] = [];
    const late: any[] = [];
    const all = (isLate = (x: any) => false) => {
      for (let i = 0; i < 9; i++) {
        world.run();
        const a = show(log, peer.answers());
        if (!a.length) return;
        a.forEach((x) => (isLate(x) ? late.push(x) : peer.of(x.typeUrl).ack(x)));
      }
    };
    world.put(cluster.typeUrl, "X");
    world.put(cluster.typeUrl, "Y");
    world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "X") });
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r");
    all();
    log.push("| allow Y, r>Y:");
    policy.replace(() => true);
    world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
    all((x) => x.typeUrl === cluster.typeUrl);
    log.push("forbid r:");
    policy.replace((_: any, n: string) => n !== "r");
    all();
    log.push("allow r:");
    policy.replace(() => true);
    all();
    log.push("ACK C:");
    late.forEach((x) => peer.of(x.typeUrl).ack(x));
    all();
    console.log(variant, "Q2", log.join(" "));
  });
