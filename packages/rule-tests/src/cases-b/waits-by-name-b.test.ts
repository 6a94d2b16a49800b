import {
  cluster,
  clusterLoadAssignment as eds,
  envoyTypes,
  listener,
  routeConfiguration as route,
} from "@xdstp/resource-types";
import { it } from "vitest";
import { createWorld } from "../harness/create-world.ts";
import { routeTo, rdsListener, edsCluster } from "../harness/envoy-payloads.ts";
import { payloadOf } from "../harness/payload.ts";
const short = (t: string) =>
  t === cluster.typeUrl ? "C" : t === route.typeUrl ? "R" : t === listener.typeUrl ? "L" : "E";
for (const variant of ["delta/ads", "sotw/ads"] as const) {
  const make = (node?: any) => {
    const world = createWorld({ variant, types: envoyTypes });
    const peer = world.connect(node ? { node } : {});
    const log: string[] = [];
    const read = () => {
      world.run();
      const a = peer.answers();
      for (const x of a)
        log.push(
          `${short(x.typeUrl)}[${[...x.names, ...(x.removed ?? []).map((n) => "-" + n)].join(" ")}]`,
        );
      return a;
    };
    const ackAll = () => {
      for (let i = 0; i < 20; i++) {
        const a = read();
        if (a.length === 0) return;
        for (const x of a) peer.of(x.typeUrl).ack(x);
      }
      log.push("LOOP");
    };
    const r = (n: string, c: string, more = {}) =>
      world.cache.put({ typeUrl: route.typeUrl, name: n, value: routeTo(n, c), ...more });
    const c = (n: string, t = "") =>
      world.cache.put({ typeUrl: cluster.typeUrl, name: n, value: payloadOf(n, t) });
    return { world, peer, log, read, ackAll, r, c };
  };
  it(`A3 late subscription to an existing cluster, rejected, then route ${variant}`, () => {
    const { peer, log, read, ackAll, r, c } = make();
    c("X");
    c("Y");
    r("r", "X");
    peer.of(cluster.typeUrl).subscribe("X");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    peer.of(cluster.typeUrl).subscribe("Y");
    const a = read();
    peer.of(cluster.typeUrl).nack(a[0]!, "bad");
    log.push("N");
    r("r", "Y");
    read();
    console.log(variant, "A3", log.join(" "));
  });
  it(`A4 drop and resubscribe a cluster ${variant}`, () => {
    const { peer, log, read, ackAll, r, c } = make();
    c("X");
    c("Y");
    r("r", "X");
    peer.of(cluster.typeUrl).subscribe("X", "Y");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    peer.of(cluster.typeUrl).unsubscribe("Y");
    ackAll();
    peer.of(cluster.typeUrl).subscribe("Y");
    read();
    log.push("r moves:");
    r("r", "Y");
    read();
    console.log(variant, "A4", log.join(" "));
  });
  it(`A5 first named, then wildcard ${variant}`, () => {
    const { peer, log, read, ackAll, r, c } = make();
    c("X");
    c("Y");
    r("r", "X");
    peer.of(cluster.typeUrl).subscribe("X");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    peer.of(cluster.typeUrl).subscribe("*");
    read();
    log.push("r moves:");
    r("r", "Y");
    read();
    console.log(variant, "A5", log.join(" "));
  });
  it(`A6 late type, route first ${variant}`, () => {
    const { peer, log, read, ackAll, r, c } = make();
    c("X");
    c("Y");
    r("r", "X");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    peer.of(cluster.typeUrl).subscribe("*");
    read();
    log.push("r moves:");
    r("r", "Y");
    read();
    console.log(variant, "A6", log.join(" "));
  });
  it(`A7 cluster and route subscribed late in one turn ${variant}`, () => {
    const { peer, log, read, ackAll, r, c } = make();
    c("X");
    c("Y");
    r("r", "X");
    r("s", "Y");
    peer.of(cluster.typeUrl).subscribe("X");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    peer.of(cluster.typeUrl).subscribe("Y");
    peer.of(route.typeUrl).subscribe("s");
    read();
    console.log(variant, "A7", log.join(" "));
  });
  it(`E held by rejection, then removal ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make();
    c("X");
    r("r", "X");
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    world.cache.transaction((w: any) => {
      w.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
      w.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
      w.remove(cluster.typeUrl, "X");
    });
    const a = read();
    log.push("nack Y");
    peer.of(cluster.typeUrl).nack(a[0]!, "bad");
    read();
    for (let i = 0; i < 8; i++) {
      world.clock.advance(5000);
      log.push("5s");
      read();
    }
    log.push("rm r:");
    world.cache.remove(route.typeUrl, "r");
    ackAll();
    log.push("rm Y:");
    world.cache.remove(cluster.typeUrl, "Y");
    ackAll();
    log.push(
      JSON.stringify(
        world.status()[0]!.types.map((t: any) => [short(t.typeUrl), t.state, t.heldBack]),
      ),
    );
    console.log(variant, "E", log.join(" "));
  });
  it(`F ttl of held names ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make({
      id: "n",
      clientFeatures: ["xds.config.supports-resource-ttl", "xds.config.supports-resource-in-sotw"],
    });
    c("X");
    r("r", "X", { ttlMs: 9000 });
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r", "s");
    ackAll();
    log.push("|");
    world.cache.transaction((w: any) => {
      w.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
      w.put({ typeUrl: route.typeUrl, name: "s", value: routeTo("s", "Y"), ttlMs: 9000 });
      w.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y"), ttlMs: 9000 });
    });
    const cc = read();
    for (let i = 0; i < 18; i++) {
      world.clock.advance(1000);
      const a = read();
      if (a.length)
        log.push(
          `@${i + 1}s ${JSON.stringify(a.flatMap((x: any) => x.resources.map((y: any) => [y.name, y.version, y.hasBody, y.ttlMs])))}`,
        );
      for (const x of a) if (x.typeUrl === route.typeUrl) peer.of(x.typeUrl).ack(x);
    }
    console.log(variant, "F", log.join(" "));
  });
  it(`I events and repair ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make();
    c("X");
    r("r", "X");
    r("s", "X");
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r", "s");
    ackAll();
    log.push("|");
    world.cache.transaction((w: any) => {
      w.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
      w.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
    });
    read();
    const from = world.events.length;
    for (let i = 0; i < 80; i++) {
      world.clock.advance(500);
      if (i % 4 === 0) {
        c(`Z${i}`);
        r("r", `Z${i}`);
      }
      const a = read();
      if (a.length) log.push(`@${(i + 1) / 2}`);
      for (const x of a) if (x.typeUrl === route.typeUrl) peer.of(x.typeUrl).ack(x);
    }
    log.push(
      JSON.stringify(
        world.events
          .slice(from)
          .filter((e) => e.kind === "order-expired")
          .map((e: any) => [e.what, e.names?.map((n: any) => n.name + ">" + n.for)]),
      ),
    );
    console.log(variant, "I", log.join(" "));
  });
  it(`P perf LDS full state after a CDS change ${variant}`, () => {
    const { world } = make();
    const N = 3000,
      K = 20;
    world.cache.transaction((w: any) => {
      for (let i = 0; i < 3000; i++)
        w.put({ typeUrl: cluster.typeUrl, name: `c${i}`, value: payloadOf(`c${i}`) });
      for (let i = 0; i < N; i++)
        w.put({ typeUrl: route.typeUrl, name: `r${i}`, value: routeTo(`r${i}`, `c${i}`) });
    });
    const peers = Array.from({ length: K }, () => world.connect());
    const all = Array.from({ length: N }, (_, i) => `r${i}`);
    for (const p of peers) {
      p.of(cluster.typeUrl).subscribe("*");
      p.of(route.typeUrl).subscribe(...all);
    }
    const ack = () => {
      for (let i = 0; i < 6; i++) {
        world.run();
        for (const p of peers) for (const a of p.answers()) p.of(a.typeUrl).ack(a);
      }
    };
    ack();
    const push = (t: string) => {
      world.cache.transaction((w: any) => {
        for (let i = 0; i < N; i++)
          w.put({ typeUrl: route.typeUrl, name: `r${i}`, value: routeTo(`r${i}`, `c${i}`, t) });
      });
      const s = performance.now();
      world.run();
      const ms = performance.now() - s;
      ack();
      return Math.round(ms);
    };
    const cold = [push("1"), push("2"), push("3")];
    const after: number[] = [];
    for (let i = 0; i < 3; i++) {
      world.put(cluster.typeUrl, "c0", `n${i}`);
      ack();
      after.push(push(`z${i}`));
    }
    console.log(variant, "P no CDS change", cold, "after an accepted CDS change", after);
  }, 100000);
}
