import { cluster, envoyTypes, listener, routeConfiguration as route } from "@xdstp/resource-types";
import { lengthDelimited } from "@xdstp/core/wire";
import { it } from "vitest";
import { createWorld } from "../harness/create-world.ts";
import { routeTo } from "../harness/envoy-payloads.ts";
import { payloadOf } from "../harness/payload.ts";
const S = (t: string) => (t === cluster.typeUrl ? "C" : t === route.typeUrl ? "R" : "L");
/** Listener with inline route_config: HCM field 4. */
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
for (const variant of ["delta/ads", "sotw/ads"] as const) {
  it(`L ${variant}`, () => {
    const world = createWorld({ variant, types: envoyTypes });
    world.put(cluster.typeUrl, "X");
    world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: inline("l", "X") });
    console.log(variant, "refs", JSON.stringify(listener.references?.(inline("l", "X"))));
    const peer = world.connect();
    const log: string[] = [];
    const show = (a: readonly any[]) => {
      for (const x of a)
        log.push(
          `${S(x.typeUrl)}[${[...x.names, ...x.removed.map((n: string) => "-" + n)].join(" ")}]`,
        );
    };
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(listener.typeUrl).subscribe("*");
    world.run();
    let a = peer.answers();
    show(a);
    log.push("(CDS unanswered)");
    for (const x of a) if (x.typeUrl === listener.typeUrl) peer.of(x.typeUrl).ack(x);
    world.run();
    show(peer.answers());
    world.clock.advance(16000);
    world.run();
    log.push("16s:");
    show(peer.answers());
    console.log(variant, "L first", log.join(" "));
  });
}
it("L reconnect sotw, client has l and X from an earlier stream", () => {
  const world = createWorld({ variant: "sotw/ads", types: envoyTypes });
  world.put(cluster.typeUrl, "X");
  world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: inline("l", "X") });
  const { client } = world.openSotw(cluster.typeUrl, {}) as any;
  client.send({ typeUrl: cluster.typeUrl, resourceNames: ["*"], versionInfo: "old" });
  client.send({ typeUrl: listener.typeUrl, resourceNames: ["*"], versionInfo: "old" });
  world.run();
  console.log(
    "reconnect sotw",
    JSON.stringify(
      client.rest().map((x: any) => [S(x.typeUrl), x.versionInfo, x.resources.length]),
    ),
  );
});
it("L reconnect delta, initial versions of another state", () => {
  const world = createWorld({ variant: "delta/ads", types: envoyTypes });
  world.put(cluster.typeUrl, "X");
  world.cache.put({ typeUrl: listener.typeUrl, name: "l", value: inline("l", "X") });
  const { client } = world.openDelta(cluster.typeUrl, {}) as any;
  client.send({
    typeUrl: cluster.typeUrl,
    resourceNamesSubscribe: ["*"],
    initialResourceVersions: { X: "old" },
  });
  client.send({
    typeUrl: listener.typeUrl,
    resourceNamesSubscribe: ["*"],
    initialResourceVersions: { l: "old" },
  });
  world.run();
  console.log(
    "reconnect delta",
    JSON.stringify(
      client
        .rest()
        .map((x: any) => [S(x.typeUrl), x.resources.map((r: any) => r.name), x.removedResources]),
    ),
  );
});
