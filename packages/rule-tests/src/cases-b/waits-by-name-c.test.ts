import { cluster, envoyTypes, listener, routeConfiguration as route } from "@xdstp/resource-types";
import { it } from "vitest";
import { createWorld } from "../harness/create-world.ts";
import { rdsListener, routeTo } from "../harness/envoy-payloads.ts";
import { payloadOf } from "../harness/payload.ts";
for (const variant of ["delta/ads", "sotw/ads", "delta/per-type", "sotw/per-type"] as const) {
  const make = (types: any = envoyTypes, node?: any) => {
    const world = createWorld({ variant, types });
    const peer = world.connect(node ? { node } : {});
    const log: string[] = [];
    const S = (t: string) =>
      t === cluster.typeUrl
        ? "C"
        : t === route.typeUrl
          ? "R"
          : t === listener.typeUrl
            ? "L"
            : t.slice(-1);
    const read = () => {
      world.run();
      const a = peer.answers();
      for (const x of a)
        log.push(
          `${S(x.typeUrl)}[${[...x.names, ...(x.removed ?? []).map((n) => "-" + n)].join(" ")}]`,
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
    const put = (t: any, n: string, v: Uint8Array) =>
      world.cache.put({ typeUrl: t.typeUrl, name: n, value: v });
    const dump = () =>
      log.push(
        JSON.stringify(
          (peer.streamOf(cluster.typeUrl).server as any).types?.map((t: any) =>
            [
              S(t.typeUrl),
              `rejecting=${t.rejecting}`,
              `acc=${t.accepted}`,
              `heldFrom=${t.heldFrom}`,
              [...t.heldBack.keys()],
            ].join(" "),
          ),
        ),
      );
    return { world, peer, log, read, ackAll, put, dump };
  };
  it(`N4b repair ${variant}`, () => {
    const { world, peer, log, read, ackAll, put, dump } = make();
    put(cluster, "X", payloadOf("X"));
    put(route, "r", routeTo("r", "X"));
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r");
    ackAll();
    log.push("|");
    put(route, "r", routeTo("r", "X", "bad"));
    const bad = read();
    world.cache.transaction((w: any) => {
      w.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
      w.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y") });
      w.remove(cluster.typeUrl, "X");
    });
    const c = read();
    world.clock.advance(5000);
    log.push("5s");
    const more = read();
    peer.of(route.typeUrl).nack((more.find((x) => x.typeUrl === route.typeUrl) ?? bad[0])!, "no");
    log.push("N");
    read();
    for (const x of c) peer.of(x.typeUrl).ack(x);
    log.push("A");
    ackAll();
    for (let i = 0; i < 10; i++) {
      world.clock.advance(5000);
      ackAll();
    }
    dump();
    console.log(variant, "N4b", log.join(" "));
  });
  it(`N4c listener full ${variant}`, () => {
    const { world, peer, log, read, ackAll, put, dump } = make();
    put(cluster, "X", payloadOf("X"));
    put(cluster, "W", payloadOf("W"));
    put(route, "r", routeTo("r", "X"));
    put(route, "s", routeTo("s", "X"));
    peer.of(cluster.typeUrl).subscribe("*");
    peer.of(route.typeUrl).subscribe("r", "s");
    ackAll();
    log.push("|");
    world.cache.transaction((w: any) => {
      w.put({ typeUrl: cluster.typeUrl, name: "Y", value: payloadOf("Y") });
      w.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", "Y", "bad") });
      w.put({ typeUrl: route.typeUrl, name: "s", value: routeTo("s", "X", "bad") });
      w.remove(cluster.typeUrl, "W");
    });
    let a = read();
    const s = a.find((x) => x.typeUrl === route.typeUrl);
    if (s) {
      peer.of(route.typeUrl).nack(s, "bad s");
      log.push("Ns");
    }
    a.filter((x) => x.typeUrl === cluster.typeUrl).forEach((x) => peer.of(x.typeUrl).ack(x));
    log.push("A");
    ackAll();
    log.push("mend s:");
    put(route, "s", routeTo("s", "X", "ok"));
    ackAll();
    for (let i = 0; i < 5; i++) {
      world.clock.advance(5000);
      ackAll();
    }
    dump();
    console.log(variant, "N4c", log.join(" "));
  });
  it(`R ring ${variant}`, () => {
    const A = "type.googleapis.com/test.A",
      B = "type.googleapis.com/test.B";
    const ref = (other: string) => (p: Uint8Array) => [{ typeUrl: other, name: "x" }];
    const { world, peer, log, read, ackAll, put } = make([
      { typeUrl: A, follows: [{ typeUrl: B, when: "accepted" }], references: ref(B) },
      { typeUrl: B, follows: [{ typeUrl: A, when: "accepted" }], references: ref(A) },
    ]);
    peer.of(A).subscribe("*");
    peer.of(B).subscribe("*");
    ackAll();
    log.push("| put both:");
    world.cache.transaction((w: any) => {
      w.put({ typeUrl: A, name: "x", value: payloadOf("x") });
      w.put({ typeUrl: B, name: "x", value: payloadOf("x") });
    });
    ackAll();
    for (let i = 0; i < 4; i++) {
      world.clock.advance(5000);
      log.push("5s");
      ackAll();
    }
    console.log(variant, "R", log.join(" "));
  });
  it(`R2 self ${variant}`, () => {
    const A = "type.googleapis.com/test.A",
      B = "type.googleapis.com/test.B";
    const { world, peer, log, ackAll } = make([
      {
        typeUrl: A,
        follows: [{ typeUrl: A, when: "accepted" }],
        references: () => [{ typeUrl: A, name: "x" }],
      },
      { typeUrl: B },
    ]);
    peer.of(A).subscribe("*");
    peer.of(B).subscribe("*");
    ackAll();
    log.push("| put x (refers to x), y:");
    world.cache.transaction((w: any) => {
      w.put({ typeUrl: A, name: "x", value: payloadOf("x") });
      w.put({ typeUrl: A, name: "y", value: payloadOf("y") });
    });
    ackAll();
    for (let i = 0; i < 4; i++) {
      world.clock.advance(5000);
      log.push("5s");
      ackAll();
    }
    console.log(variant, "R2", log.join(" "));
  });
  it(`G glob and alias spelled otherwise ${variant}`, () => {
    const { world, peer, log, read, ackAll, put, dump } = make();
    const g = "xdstp://a/envoy.config.cluster.v3.Cluster/p/*";
    const cn = (x: string, q = "") => `xdstp://a/envoy.config.cluster.v3.Cluster/p/${x}${q}`;
    put(cluster, "X", payloadOf("X"));
    put(route, "r", routeTo("r", "X"));
    put(route, "s", routeTo("s", "X"));
    peer.of(cluster.typeUrl).subscribe("*", g);
    peer.of(route.typeUrl).subscribe("r", "s");
    ackAll();
    log.push("|");
    world.cache.transaction((w: any) => {
      w.put({ typeUrl: cluster.typeUrl, name: cn("Y"), value: payloadOf("Y"), aliases: ["al"] });
      w.put({ typeUrl: route.typeUrl, name: "r", value: routeTo("r", cn("Y")) });
      w.put({ typeUrl: route.typeUrl, name: "s", value: routeTo("s", cn("%59")) });
    });
    const a = read();
    log.push("A");
    a.forEach((x) => peer.of(x.typeUrl).ack(x));
    ackAll();
    for (let i = 0; i < 4; i++) {
      world.clock.advance(5000);
      log.push("5s");
      ackAll();
    }
    console.log(variant, "G", log.join(" "));
  });
}
