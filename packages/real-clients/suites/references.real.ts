import { cluster as clusterResources } from "@xdstp/resource-types";
import { expect, it } from "vitest";

import { clientKinds, grpcGoKind } from "../src/client-kinds.ts";
import { type ControlPlane, useControlPlane } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import {
  coldCluster,
  endpoints,
  inlineListener,
  patientCluster as cluster,
  route,
  type TestResource,
} from "../src/resources.ts";
import { until } from "../src/until.ts";
import { useLoad } from "../src/use-load.ts";

function stateOf(controlPlane: ControlPlane, typeUrl: string): string | undefined {
  return controlPlane
    .status()
    .flatMap(({ types }) => types)
    .find((type) => type.typeUrl === typeUrl)?.state;
}

async function rejected(controlPlane: ControlPlane): Promise<void> {
  await until(
    "a NACK",
    () => controlPlane.nacks().length > 0,
    () => controlPlane.trace(),
  );
}

async function settled(controlPlane: ControlPlane): Promise<void> {
  await until(
    "no NACK any more",
    () => controlPlane.nacks().length === 0,
    () => controlPlane.trace(),
  );
}

for (const kind of [...clientKinds, grpcGoKind]) {
  describeProgram(kind.program, `resources that come in any order (${kind.title})`, (command) => {
    const orders: readonly (readonly [order: string, parts: readonly number[]])[] = [
      ["what is referred to first", [0, 1, 2, 3]],
      ["what refers first", [3, 2, 1, 0]],
      ["the cluster last", [3, 2, 0, 1]],
    ];
    it.each(orders)("reaches its backend: %s [S-ACK-21] [S-WARM-2]", async (_, order) => {
      const port = await kind.useBackend("blue");
      const parts = [
        endpoints("late-e", port),
        cluster("late", "late-e"),
        route("r", "late"),
        kind.entry("svc", "r"),
      ];
      const controlPlane = await useControlPlane();
      const client = await kind.start(command, controlPlane.port);
      for (const part of order) controlPlane.publish(parts.slice(part, part + 1));
      const call = await client.caller("svc");
      expect(await call()).toBe("blue");
      expect(controlPlane.nacks()).toEqual([]);
    });

    if (kind.program !== "envoy") return;

    const world = async (): Promise<{
      readonly lacking: TestResource;
      readonly rest: readonly TestResource[];
    }> => {
      const port = await kind.useBackend("blue");
      return {
        lacking: inlineListener("svc", "late"),
        rest: [cluster("late", "late-e"), endpoints("late-e", port)],
      };
    };

    it("takes a listener that it has rejected, once the cluster is there to which it refers [S-ACK-21]", async () => {
      const { lacking, rest } = await world();
      const controlPlane = await useControlPlane();
      const client = await kind.start(command, controlPlane.port);
      controlPlane.publish([lacking]);
      await rejected(controlPlane);
      const types = controlPlane.status().flatMap((stream) => stream.types);
      expect(types.flatMap(({ lastError }) => lastError?.missed ?? [])).toMatchObject([
        { name: "late", served: false },
      ]);
      controlPlane.publish(rest);
      await settled(controlPlane);
      expect(await (await client.caller("svc"))()).toBe("blue");
    });

    it("takes it after a restart of the server, too [S-ACK-21] [S-ORD-2]", async () => {
      const { lacking, rest } = await world();
      const controlPlane = await useControlPlane(lacking);
      const client = await kind.start(command, controlPlane.port);
      await rejected(controlPlane);
      await controlPlane.down();
      controlPlane.publish(rest);
      await controlPlane.up();
      expect(await (await client.caller("svc"))()).toBe("blue");
      await settled(controlPlane);
    });

    it("follows routes at once while a cluster beside them never warms, and loses no request [S-ORD-2] [S-ORD-4]", async () => {
      const [blue, green] = [await kind.useBackend("blue"), await kind.useBackend("green")];
      const controlPlane = await useControlPlane(
        kind.entry("svc", "r"),
        route("r", "c-blue"),
        ...[["blue", blue] as const, ["green", green] as const].flatMap(([name, port]) => [
          cluster(`c-${name}`, `e-${name}`),
          endpoints(`e-${name}`, port),
        ]),
      );
      const client = await kind.start(command, controlPlane.port);
      const load = useLoad(await client.caller("svc"), {
        name: `${kind.program} ${kind.title}, a cluster that never warms`,
        trace: () => controlPlane.trace(),
      });
      await load.answeredBy("blue");
      controlPlane.publish([coldCluster("never", "e-never"), route("r-never", "never")]);
      // Over delta Envoy is sent the absence of endpoints, and continues (S-MISS-1). Over SotW it waits.
      const isCold = kind.title.startsWith("sotw");
      if (isCold)
        await until(
          "the cluster is on its way",
          () => stateOf(controlPlane, clusterResources.typeUrl) === "STALE",
        );
      // 200 changes a minute, for 9 s.
      let slowestMs = 0;
      for (let change = 0; change < 30; change++) {
        const answer = change % 2 === 0 ? "green" : "blue";
        const begun = performance.now();
        controlPlane.publish([route("r", `c-${answer}`)]);
        await load.answeredBy(answer);
        slowestMs = Math.max(slowestMs, performance.now() - begun);
        if (isCold) expect(stateOf(controlPlane, clusterResources.typeUrl)).toBe("STALE");
        await load.more(60);
      }
      console.log(`slowest of 30 changes in force after ${Math.round(slowestMs)} ms`);
      expect(controlPlane.events.filter(({ kind: event }) => event === "order-expired")).toEqual(
        [],
      );
      await load.finish();
    });

    it("is not offered again what it rejects for another reason [S-ACK-8]", async () => {
      const { lacking, rest } = await world();
      const controlPlane = await useControlPlane();
      await kind.start(command, controlPlane.port);
      controlPlane.publish([lacking]);
      await rejected(controlPlane);
      const nacks = (): number =>
        controlPlane.events.filter(({ kind: event }) => event === "nack").length;
      const before = nacks();
      await controlPlane.accepted(
        controlPlane.publish([cluster("other", "late-e"), ...rest.slice(1)]),
      );
      expect(nacks()).toBe(before);
    });
  });
}
