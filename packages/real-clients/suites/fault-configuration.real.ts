import { clusterLoadAssignment } from "@xdstp/resource-types";
import { expect, it } from "vitest";
import { type ClientKind, type RunningClient, clientKinds } from "../src/client-kinds.ts";
import { type ControlPlane, useControlPlane } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import { endpoints, patientCluster as cluster, route } from "../src/resources.ts";
import { until } from "../src/until.ts";
import { type Load, useLoad } from "../src/use-load.ts";

interface World {
  readonly blue: number;
  readonly green: number;
  readonly controlPlane: ControlPlane;
  readonly client: RunningClient;
  /** Through entry `svc`, routes `r` and cluster `c0`; at the beginning answered by blue. */
  readonly load: Load;
  /** Another load, through another entry. */
  readonly loadOf: (entry: string) => Promise<Load>;
}

async function useWorld(kind: ClientKind, command: string, fault: string): Promise<World> {
  const [blue, green] = [await kind.useBackend("blue"), await kind.useBackend("green")];
  const entries = ["svc", "other"].flatMap((name) => [
    kind.entry(name, `${name}-r`),
    route(`${name}-r`, "c0"),
  ]);
  const controlPlane = await useControlPlane(
    ...entries,
    cluster("c0", "e0"),
    endpoints("e0", blue),
  );
  const client = await kind.start(command, controlPlane.port);
  const loadOf = async (entry: string): Promise<Load> => {
    const load = useLoad(await client.caller(entry), {
      name: `${kind.program} ${kind.title}, ${fault} (${entry})`,
      trace: () => controlPlane.trace(),
    });
    await load.answeredBy("blue");
    return load;
  };
  return { blue, green, controlPlane, client, load: await loadOf("svc"), loadOf };
}

for (const kind of clientKinds) {
  describeProgram(kind.program, `faults of configuration (${kind.title})`, (command) => {
    it("loses no request while one transaction switches a route to a new cluster and removes the old one, 200 times [S-ORD-1] [S-ORD-2] [S-ORD-3]", async () => {
      const { blue, green, controlPlane, client, load } = await useWorld(
        kind,
        command,
        "200 swaps",
      );
      for (let swap = 1; swap <= 200; swap++) {
        const [port, answer] = swap % 2 === 0 ? [blue, "blue"] : [green, "green"];
        const gone = swap === 1 ? [] : [cluster(`c${swap - 1}`, ""), endpoints(`e${swap - 1}`)];
        controlPlane.publish(
          [
            route("svc-r", `c${swap}`),
            cluster(`c${swap}`, `e${swap}`),
            endpoints(`e${swap}`, port),
          ],
          gone,
        );
        await load.answeredBy(answer);
      }
      await load.more(20);
      await load.finish();
      expect(await client.timeouts()).toEqual([]);
    });

    it("loses no request while a cluster changes and its endpoints do not, 50 times [S-WARM-1]", async () => {
      const { controlPlane, client, load } = await useWorld(kind, command, "cluster alone");
      for (let change = 1; change <= 50; change++) {
        await controlPlane.accepted(
          controlPlane.publish([
            cluster("c0", "e0", {
              circuit_breakers: { thresholds: [{ max_requests: 1000 + change }] },
            }),
          ]),
        );
        await load.more(10);
      }
      await load.finish();
      expect(await client.timeouts()).toEqual([]);
    });
  });

  describeProgram(
    kind.program,
    `rejected and incomplete configuration (${kind.title})`,
    (command) => {
      it("loses no request while one of two clusters that change is rejected, and follows it when it is mended [S-ACK-8]", async () => {
        const { blue, green, controlPlane, client, load, loadOf } = await useWorld(
          kind,
          command,
          "one of two rejected",
        );
        controlPlane.publish([cluster("c1", "e1"), endpoints("e1", blue), route("other-r", "c1")]);
        const other = await loadOf("other");
        const made = [endpoints("good-e", green), endpoints("bad-e", green)];
        controlPlane.publish([
          ...made,
          cluster("c0", "good-e"),
          cluster("c1", "bad-e", kind.rejected),
        ]);
        await until(
          "a NACK",
          () => controlPlane.nacks().length > 0,
          () => controlPlane.trace(),
        );
        await Promise.all([load.more(100), other.more(100)]);
        controlPlane.publish([cluster("c1", "bad-e")]);
        await Promise.all([load.answeredBy("green"), other.answeredBy("green")]);
        await until(
          "no NACK any more",
          () => controlPlane.nacks().length === 0,
          () => controlPlane.nacks(),
        );
        await Promise.all([load.finish(), other.finish()]);
        expect(await client.timeouts()).toEqual([]);
      });

      // A gRPC client asks for a cluster only once it has the route to it: there the route comes first, and such a route fails.
      if (kind.wildcard)
        it("loses no request while one of two new clusters is rejected: both routes wait for the correction [S-ORD-4]", async () => {
          const { green, controlPlane, client, load, loadOf } = await useWorld(
            kind,
            command,
            "one of two new ones rejected",
          );
          const other = await loadOf("other");
          const made = [
            cluster("good", "good-e"),
            endpoints("good-e", green),
            endpoints("bad-e", green),
          ];
          controlPlane.publish([
            route("svc-r", "good"),
            route("other-r", "bad"),
            ...made,
            cluster("bad", "bad-e", kind.rejected),
          ]);
          await until(
            "a NACK",
            () => controlPlane.nacks().length > 0,
            () => controlPlane.trace(),
          );
          await Promise.all([load.more(100), other.more(100)]);
          controlPlane.publish([cluster("bad", "bad-e")]);
          await Promise.all([load.answeredBy("green"), other.answeredBy("green")]);
          await until(
            "no NACK any more",
            () => controlPlane.nacks().length === 0,
            () => controlPlane.nacks(),
          );
          await Promise.all([load.finish(), other.finish()]);
          expect(await client.timeouts()).toEqual([]);
        });

      // Over delta the server says that the endpoints do not exist, and Envoy accepts the cluster at once.
      it("loses no request while a new cluster waits for its endpoints: its route waits too, and endpoints of others do not [S-ORD-2] [S-WARM-2]", async () => {
        const { blue, green, controlPlane, load, loadOf } = await useWorld(
          kind,
          command,
          "no endpoints at first",
        );
        const other = await loadOf("other");
        controlPlane.publish([route("svc-r", "late"), cluster("late", "late-e")]);
        await until(
          "late-e is asked for",
          () => isWanted(controlPlane, clusterLoadAssignment.typeUrl, "late-e"),
          () => controlPlane.trace(),
        );
        await load.more(600);
        controlPlane.publish([endpoints("e0", green)]);
        await other.answeredBy("green");
        await load.more(600);
        controlPlane.publish([endpoints("late-e", blue), endpoints("e0", blue)]);
        await other.answeredBy("blue");
        controlPlane.publish([endpoints("late-e", green)]);
        await load.answeredBy("green");
        await Promise.all([load.finish(), other.finish()]);
      });
    },
  );
}

/** Returns true if a client has subscribed to a name. */
function isWanted({ events }: ControlPlane, typeUrl: string, name: string): boolean {
  return events.some(
    (event) =>
      event.kind === "subscribe" && event.typeUrl === typeUrl && event.added.includes(name),
  );
}
