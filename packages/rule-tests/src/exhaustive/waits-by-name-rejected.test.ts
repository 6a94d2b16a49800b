import { cluster, envoyTypes, routeConfiguration as route } from "@xdstp/resource-types";
import { it } from "vitest";
import { createWorld } from "../harness/create-world.ts";
import { routeTo } from "../harness/envoy-payloads.ts";
import { payloadOf } from "../harness/payload.ts";
for (const variant of ["delta/ads", "sotw/ads"] as const)
  for (const order of [1, 2] as const)
    it(`N4 ${variant}`, () => {
      const world = createWorld({ variant, types: envoyTypes });
      const peer = world.connect();
      const log: string[] = [];
      const S = (t: string) => (t === cluster.typeUrl ? "C" : "R");
      const read = () => {
        world.run();
        const a = peer.answers();
        for (const x of a)
          log.push(
            `${S(x.typeUrl)}[${[...x.names, ...(x.removed ?? []).map((n) => "-" + n)].join(" ")}]`,
          );
        return a;
      };
      const ans = (a: readonly any[]) => {
        for (const x of a) {
          const bad = x.typeUrl === route.typeUrl && x.resources.some((r: any) => r.text === "bad");
          log.push(bad ? "N" : "A");
          if (bad) peer.of(x.typeUrl).nack(x, "no");
          else peer.of(x.typeUrl).ack(x);
        }
      };
      const all = () => {
        for (let i = 0; i < 20; i++) {
          const a = read();
          if (!a.length) return;
          ans(a);
        }
        log.push("LOOP");
      };
      const put = (w: any, t: any, n: string, v: Uint8Array) =>
        w.put({ typeUrl: t.typeUrl, name: n, value: v });
      world.cache.transaction((w: any) => {
        put(w, cluster, "X", payloadOf("X"));
        put(w, route, "r", routeTo("r", "X"));
      });
      peer.of(cluster.typeUrl).subscribe("*");
      peer.of(route.typeUrl).subscribe("r");
      all();
      log.push("|");
      world.cache.transaction((w: any) => {
        put(w, cluster, "Y", payloadOf("Y"));
        put(w, route, "r", routeTo("r", "Y", "bad"));
        w.remove(cluster.typeUrl, "X");
      });
      const a = read();
      ans(a);
      if (order === 2) {
        world.run();
      }
      world.cache.transaction((w: any) => {
        put(w, cluster, "Z", payloadOf("Z"));
        put(w, route, "r", routeTo("r", "Z"));
        w.remove(cluster.typeUrl, "Y");
      });
      const two: any[] = [];
      world.run();
      for (const x of peer.answers()) {
        log.push(
          `${S(x.typeUrl)}[${[...x.names, ...(x.removed ?? []).map((n) => "-" + n)].join(" ")}]`,
        );
        two.push(x);
      }
      two.sort((p) => (p.typeUrl === cluster.typeUrl ? -1 : 1));
      ans(two.filter((x) => x.typeUrl === cluster.typeUrl));
      if (order === 1) read();
      ans(two.filter((x) => x.typeUrl !== cluster.typeUrl));
      all();
      log.push("15s:");
      world.clock.advance(16000);
      all();
      log.push("30s:");
      world.clock.advance(16000);
      all();
      const types = (peer.streamOf(cluster.typeUrl).server as any).types?.map((t: any) =>
        [
          S(t.typeUrl),
          t.inFlight,
          t.pending,
          t.rejecting,
          t.accepted,
          t.answeredUpTo,
          t.unsentFrom,
          t.rejectedFrom,
          t.heldFrom,
        ]
          .map(String)
          .join(),
      );
      console.log(variant, order, log.join(" "), types);
    });
