import { expect, it } from "vitest";

import { clientKinds, grpcGoKind } from "../src/client-kinds.ts";
import { type ControlPlane, useControlPlane } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import {
  endpoints,
  inlineListener,
  patientCluster as cluster,
  route,
  type TestResource,
} from "../src/resources.ts";
import { until } from "../src/until.ts";

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
