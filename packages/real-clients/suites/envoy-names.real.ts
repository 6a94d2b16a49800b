import { expect, it } from "vitest";
import {
  cluster as clusterType,
  clusterLoadAssignment,
  listener as listenerType,
  routeConfiguration,
} from "@xdstp/resource-types";
import { useControlPlane } from "../src/control-plane.ts";
import { describeProgram } from "../src/describe-program.ts";
import { startEnvoy } from "../src/envoy.ts";
import { authorityBootstrap, globBootstrap } from "../src/envoy-bootstrap.ts";
import { useHttpBackend } from "../src/http-backend.ts";
import { cluster, endpoints, listener, route, xdstpName } from "../src/resources.ts";
import { get, useTraffic } from "../src/traffic.ts";
import { until } from "../src/until.ts";

const names = (authority: string) => ({
  listener: (id: string) => xdstpName(authority, listenerType.typeUrl, `edge/${id}`),
  route: (id: string) => xdstpName(authority, routeConfiguration.typeUrl, id),
  cluster: (id: string) => xdstpName(authority, clusterType.typeUrl, `edge/${id}`),
  endpoints: (id: string) => xdstpName(authority, clusterLoadAssignment.typeUrl, id),
});
const a = names("a.example");
const b = names("b.example");

for (const variant of ["delta", "sotw"] as const) {
  describeProgram("envoy", `xdstp globs (${variant}/ads)`, (command) => {
    async function useWorld() {
      const port = await useHttpBackend("blue");
      const chain = [
        listener(a.listener("l"), a.route("r")),
        route(a.route("r"), a.cluster("c")),
        cluster(a.cluster("c"), a.endpoints("e")),
        endpoints(a.endpoints("e"), port),
      ];
      const elsewhere = cluster(
        xdstpName("a.example", clusterType.typeUrl, "other/c"),
        a.endpoints("e"),
      );
      const controlPlane = await useControlPlane(...chain, elsewhere);
      const envoy = await startEnvoy(
        command,
        globBootstrap(variant, controlPlane.port, a.listener("*"), a.cluster("*")),
      );
      const url = await envoy.url(a.listener("l"));
      await until("the first answer", async () => (await get(url)) === "blue");
      return { port, controlPlane, envoy, traffic: useTraffic(() => get(url)) };
    }

    it("serves the members of globs of listeners and clusters, and nothing beside them [S-GLOB-1]", async () => {
      const { envoy, traffic } = await useWorld();
      await traffic.answeredBy("blue");
      expect(await envoy.listeners()).toEqual([a.listener("l")]);
      expect(await envoy.clusters()).toEqual([a.cluster("c")]);
    });

    it("follows members that are added, changed and removed", async () => {
      const { controlPlane, envoy, traffic } = await useWorld();
      controlPlane.publish([cluster(a.cluster("d"), a.endpoints("e"))]);
      await until(
        "the new member",
        async () => (await envoy.clusters()).join() === [a.cluster("c"), a.cluster("d")].join(),
        () => envoy.clusters(),
      );
      const modified = await envoy.stat("cluster_manager.cluster_modified");
      controlPlane.publish([cluster(a.cluster("d"), a.endpoints("e"), { connect_timeout: "3s" })]);
      await until(
        "the change",
        async () => (await envoy.stat("cluster_manager.cluster_modified")) !== modified,
      );
      await envoy.untilWarm();
      controlPlane.publish([], [cluster(a.cluster("d"), "")]);
      await until(
        "the member is gone",
        async () => (await envoy.clusters()).join() === a.cluster("c"),
        () => envoy.clusters(),
      );
      expect(await envoy.timeouts()).toEqual([]);
      await traffic.more(10);
      expect(traffic.failures).toEqual([]);
    });

    it("removes a member that was deleted while Envoy was away [S-RECON-10]", async () => {
      const { controlPlane, envoy, traffic } = await useWorld();
      controlPlane.publish([cluster(a.cluster("d"), a.endpoints("e"))]);
      await until(
        "the new member",
        async () => (await envoy.clusters()).length === 2,
        () => envoy.clusters(),
      );
      await controlPlane.down();
      await envoy.untilStat("control_plane.connected_state", "0");
      controlPlane.publish([], [cluster(a.cluster("d"), "")]);
      await controlPlane.up();
      await until(
        "the member is gone",
        async () => (await envoy.clusters()).join() === a.cluster("c"),
        () => envoy.clusters(),
      );
      await traffic.more(10);
      expect(traffic.failures).toEqual([]);
    });
  });

  describeProgram("envoy", `xdstp singletons by authority (${variant}/ads)`, (command) => {
    it("takes routes and endpoints from the server of their authority, and follows them there", async () => {
      const [blue, green] = [await useHttpBackend("blue"), await useHttpBackend("green")];
      const first = await useControlPlane(
        route(a.route("r"), "static a"),
        endpoints(a.endpoints("e"), blue),
      );
      const second = await useControlPlane(
        route(b.route("r"), "static b"),
        endpoints(b.endpoints("e"), blue),
      );
      const listeners = [
        listener("a", a.route("r"), null).body,
        listener("b", b.route("r"), null).body,
      ];
      const clusters = [
        cluster("static a", a.endpoints("e"), {}, null).body,
        cluster("static b", b.endpoints("e"), {}, null).body,
      ];
      const envoy = await startEnvoy(
        command,
        authorityBootstrap(
          variant,
          { "a.example": first.port, "b.example": second.port },
          listeners,
          clusters,
        ),
      );
      const urls = [await envoy.url("a"), await envoy.url("b")] as const;
      const traffics = urls.map((url) => useTraffic(() => get(url)));
      for (const traffic of traffics) await traffic.answeredBy("blue");
      second.publish([endpoints(b.endpoints("e"), green)]);
      await traffics[1]?.answeredBy("green");
      await traffics[0]?.answeredBy("blue");
      const asked = (events: typeof first.events) =>
        new Set(events.flatMap((event) => (event.kind === "subscribe" ? event.added : [])));
      expect(asked(first.events)).toEqual(new Set([a.route("r"), a.endpoints("e")]));
      expect(asked(second.events)).toEqual(new Set([b.route("r"), b.endpoints("e")]));
    });
  });
}

describeProgram("envoy", "empty xdstp globs (delta/ads)", (command) => {
  it("starts at once where globs have no members, and takes the first member later [S-GLOB-3]", async () => {
    const port = await useHttpBackend("blue");
    const controlPlane = await useControlPlane();
    const envoy = await startEnvoy(
      command,
      globBootstrap("delta", controlPlane.port, a.listener("*"), a.cluster("*")),
    );
    await envoy.untilStat("server.live", "1");
    await envoy.untilStat("listener_manager.workers_started", "1");
    expect(await envoy.timeouts()).toEqual([]);
    controlPlane.publish([
      listener(a.listener("l"), a.route("r")),
      route(a.route("r"), a.cluster("c")),
      cluster(a.cluster("c"), a.endpoints("e")),
      endpoints(a.endpoints("e"), port),
    ]);
    await useTraffic(() => envoy.url(a.listener("l")).then(get)).answeredBy("blue");
  });
});
