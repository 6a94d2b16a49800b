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
for (const variant of ["delta/ads", "sotw/ads"] as const) {
  it(`L2 a name asked for later waits ${variant}`, () => {
    const world = createWorld({ variant, types: envoyTypes });
    const peer = world.connect();
    const log: string[] = [];
    const all = () => {
      for (let i = 0; i < 9; i++) {
        world.run();
        const a = show(log, peer.answers());
        if (!a.length) return;
        a.forEach((x) => peer.of(x.typeUrl).ack(x));
      }
    };
    world.put(cluster.typeUrl, "X");
    for (const l of ["l", "m"])
      world.cache.put({
        typeUrl: listener.typeUrl,
        name: l,
        value: inline(l, l === "l" ? "X" : "Z"),
      });
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(listener.typeUrl).subscribe("l");
    all();
    log.push("|");
    world.put(cluster.typeUrl, "Z");
    world.run();
    show(log, peer.answers());
    peer.of(listener.typeUrl).subscribe("m");
    world.run();
    show(log, peer.answers());
    console.log(variant, "L2", log.join(" "));
  });
  it(`Q policy ${variant}`, () => {
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
    const all = () => {
      for (let i = 0; i < 9; i++) {
        world.run();
        const a = show(log, peer.answers());
        if (!a.length) return;
        a.forEach((x) => peer.of(x.typeUrl).ack(x));
      }
    };
    world.put(cluster.typeUrl, "X");
    world.put(cluster.typeUrl, "Y");
    world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "X") });
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r");
    all();
    log.push("| allow Y, r>Y:");
    policy.replace((_: any, n: string) => true);
    world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
    world.run();
    const a = show(log, peer.answers());
    log.push("forbid r:");
    policy.replace((_: any, n: string) => n !== "r");
    world.run();
    show(log, peer.answers());
    a.forEach((x) => peer.of(x.typeUrl).ack(x));
    log.push("A");
    all();
    log.push("allow r:");
    policy.replace(() => true);
    all();
    console.log(variant, "Q", log.join(" "));
  });
  it(`P2 perf after EDS churn ${variant}`, () => {
    const world = createWorld({ variant, types: envoyTypes });
    const N = 3000,
      K = 20;
    world.cache.transaction((w: any) => {
      for (let i = 0; i < N; i++) {
        w.put({ typeUrl: cluster.typeUrl, name: `c${i}`, value: payloadOf(`c${i}`) });
        w.put({ typeUrl: route.typeUrl, name: `r${i}`, value: routeTo(`r${i}`, `c${i}`) });
      }
      w.put({ typeUrl: eds.typeUrl, name: "c0", value: payloadOf("c0") });
    });
    const peers = Array.from({ length: K }, () => world.connect());
    const names = Array.from({ length: N }, (_, i) => `r${i}`);
    for (const p of peers) {
      p.of(cluster.typeUrl).subscribe("*");
      p.of(eds.typeUrl).subscribe("c0");
      p.of(route.typeUrl).subscribe(...names);
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
    const idle = [push("1"), push("2"), push("3"), push("4")];
    const after: number[] = [];
    for (let i = 0; i < 4; i++) {
      world.put(eds.typeUrl, "c0", `n${i}`);
      ack();
      after.push(push(`z${i}`));
    }
    const busy: number[] = [];
    for (let i = 0; i < 4; i++) {
      world.put(eds.typeUrl, "c0", `q${i}`);
      world.run();
      busy.push(push(`y${i}`));
    }
    console.log(variant, "P2 idle", idle, "after accepted EDS", after, "EDS unanswered", busy);
  }, 60000);
}
