import {
  cluster,
  clusterLoadAssignment as eds,
  envoyTypes,
  listener,
  routeConfiguration as route,
} from "@xdstp/resource-types";
import { it } from "vitest";
import { createWorld } from "../harness/create-world.ts";
import { routeTo } from "../harness/envoy-payloads.ts";
import { payloadOf } from "../harness/payload.ts";
const short = (t: string) =>
  t === cluster.typeUrl ? "C" : t === route.typeUrl ? "R" : t === listener.typeUrl ? "L" : "E";
for (const variant of ["delta/ads", "sotw/ads"] as const) {
  const make = () => {
    const world = createWorld({ variant, types: envoyTypes });
    const peer = world.connect();
    const log: string[] = [];
    const read = () => {
      world.run();
      const a = peer.answers();
      for (const x of a) log.push(`${short(x.typeUrl)}[${[...x.names].join(" ")}]`);
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
  it(`A late subscription to an old cluster ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make();
    c("X");
    c("Y");
    r("r", "X");
    r("q", "X");
    peer.of(cluster.typeUrl).subscribe("X");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    r("r", "Y");
    read();
    log.push("(route to unsubscribed Y)");
    peer.of(cluster.typeUrl).subscribe("Y");
    console.log(variant, "A0", log.join(" "));
  });
  it(`A2 late subscription, in flight, then route ${variant}`, () => {
    const { peer, log, read, ackAll, r, c } = make();
    c("X");
    c("Y");
    r("r", "X");
    peer.of(cluster.typeUrl).subscribe("X");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    peer.of(cluster.typeUrl).subscribe("Y");
    read();
    log.push("| Y unanswered, r moves:");
    r("r", "Y");
    read();
    console.log(variant, "A2", log.join(" "));
  });
  it(`B retry twice for the same name ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make();
    c("X");
    r("s", "X");
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r", "s");
    ackAll();
    log.push("|");
    r("r", "Y");
    for (const a of read()) peer.of(a.typeUrl).nack(a, "no");
    c("Y");
    let a = read();
    peer.of(cluster.typeUrl).ack(a[0]!);
    for (let i = 1; i <= 6; i++) {
      a = read();
      const again = a.find((x) => x.typeUrl === route.typeUrl);
      if (!again) {
        log.push("no retry");
        break;
      }
      c("Y", `v${i}`);
      const b = read();
      peer.of(route.typeUrl).nack(again, "no");
      log.push("NACK");
      const st = world.status()[0]!.types.find((t) => t.typeUrl === route.typeUrl);
      log.push(JSON.stringify((st as any).lastError?.missed));
      read();
      const cl = b.find((x) => x.typeUrl === cluster.typeUrl);
      if (cl) peer.of(cluster.typeUrl).ack(cl);
    }
    console.log(variant, "B", log.join(" "));
  });
  it(`B2 accepted cluster, update in flight, route bad ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make();
    c("X");
    r("r", "X");
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    world.cache.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "X", "bad") });
    const a = read();
    c("X", "v2");
    const b = read();
    peer.of(route.typeUrl).nack(a[0]!, "bad regex");
    const ev = world.events.find((e) => e.kind === "nack") as any;
    log.push(JSON.stringify(ev?.missed));
    peer.of(cluster.typeUrl).ack(b[0]!);
    read();
    console.log(variant, "B2", log.join(" "));
  });
  it(`D unsubscribe cluster while route waits ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make();
    c("X");
    r("r", "X");
    peer.of(cluster.typeUrl).subscribe("X", "Y");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    world.cache.transaction((w) => {
      w.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
      w.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
    });
    const a = read();
    log.push("unsub Y");
    peer.of(cluster.typeUrl).unsubscribe("Y");
    read();
    peer.of(cluster.typeUrl).ack(a[0]!);
    log.push("ack");
    read();
    log.push(
      JSON.stringify((world.status()[0]!.types as any).map((t: any) => t.heldBack ?? t.waiting)),
    );
    for (let i = 0; i < 5; i++) {
      world.clock.advance(5000);
      log.push("5s");
      ackAll();
    }
    console.log(variant, "D", log.join(" "));
  });
  it(`E removed route hold then cluster removal ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make();
    c("X");
    r("r", "X");
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    world.cache.transaction((w) => {
      w.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
      w.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
      w.remove({ typeUrl: cluster.typeUrl, name: "X" } as any);
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
    log.push("Y removed, r back to X? X removed: r removed");
    world.cache.remove(route.typeUrl, "r");
    ackAll();
    world.cache.remove(cluster.typeUrl, "Y");
    ackAll();
    log.push(
      JSON.stringify(
        world.status()[0]!.types.map((t: any) => [short(t.typeUrl), t.state, t.phase]),
      ),
    );
    console.log(variant, "E", log.join(" "));
  });
  it(`F ttl of a held name ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make();
    c("X");
    r("r", "X", { ttlMs: 9000 });
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r", "s");
    ackAll();
    log.push("|");
    world.cache.transaction((w) => {
      w.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
      w.put({ typeUrl: route.typeUrl, name: "s", value: routeTo("s", "Y"), ttlMs: 9000 } as any);
      w.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y"), ttlMs: 9000 } as any);
    });
    read();
    for (let i = 0; i < 14; i++) {
      world.clock.advance(1000);
      const a = read();
      if (a.length)
        log.push(
          `@${i + 1}s ${JSON.stringify(a.map((x: any) => Object.fromEntries(Object.entries(x).filter(([k]) => k !== "raw" && k !== "resources")))).slice(0, 400)}`,
        );
      for (const x of a) if (x.typeUrl === route.typeUrl) peer.of(x.typeUrl).ack(x);
    }
    console.log(variant, "F", log.join(" "));
  });
  it(`G nack routes and clusters in turn ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make();
    c("X");
    r("r", "X");
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(listener.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r", "s");
    ackAll();
    log.push("|");
    r("s", "Y");
    let n = 0;
    for (let i = 0; i < 30; i++) {
      const a = read();
      if (!a.length) {
        if (n++ > 3) break;
        c("Y", `v${n}`);
        log.push("putY");
      }
      for (const x of a)
        if (x.names.includes("s") || (x.names.includes("Y") && n % 2)) {
          peer.of(x.typeUrl).nack(x, "no");
          log.push("N");
        } else peer.of(x.typeUrl).ack(x);
    }
    console.log(variant, "G", log.join(" "));
  });
  it(`H 70 routes to a new cluster, other route changes ${variant}`, () => {
    const { world, peer, log, read, ackAll, r, c } = make();
    const names = Array.from({ length: 70 }, (_, i) => `r${i}`);
    c("X");
    for (const n of names) r(n, "X");
    r("o", "X");
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("o", ...names);
    ackAll();
    log.length = 0;
    world.cache.transaction((w) => {
      w.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
      for (const n of names) w.put({ typeUrl: route.typeUrl, name: n, value: routeTo(n, "Y") });
    });
    const a = read();
    peer.of(cluster.typeUrl).nack(a[0]!, "bad");
    log.push("nackY");
    const s = read();
    log.push(String(s.length));
    for (let i = 0; i < 4; i++) {
      world.clock.advance(5000);
      log.push("5s");
      for (const x of read()) peer.of(x.typeUrl).ack(x);
    }
    r("o", "X", { version: "o2" });
    world.cache.put({ typeUrl: route.typeUrl, name: "o", value: routeTo("o", "X", "t") });
    log.push("o:");
    ackAll();
    log.push("mend:");
    c("Y", "v2");
    ackAll();
    console.log(
      variant,
      "H",
      log.join(" ").replace(/r\d+( r\d+)+/g, (m) => `${m.split(" ").length}routes`),
    );
  });
}
