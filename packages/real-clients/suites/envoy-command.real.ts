import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  cluster as clusterType,
  clusterLoadAssignment,
  listener as listenerType,
  routeConfiguration,
} from "@xdstp/resource-types";
import { expect, it } from "vitest";
import { describeProgram } from "../src/describe-program.ts";
import { type Envoy, startEnvoy } from "../src/envoy.ts";
import { useHttpBackend } from "../src/http-backend.ts";
import { cluster, endpoints, listener, route, xdstpName } from "../src/resources.ts";
import { get, type Traffic, useTraffic } from "../src/traffic.ts";
import { until } from "../src/until.ts";
import { fileOf, printBootstrap, startServe } from "../src/use-cli.ts";
import { useFolder } from "../src/use-folder.ts";

const names = {
  listener: xdstpName("a.example", listenerType.typeUrl, "l"),
  route: xdstpName("a.example", routeConfiguration.typeUrl, "r"),
  cluster: xdstpName("a.example", clusterType.typeUrl, "c"),
  endpoints: xdstpName("a.example", clusterLoadAssignment.typeUrl, "e"),
};

/** Every form of the bootstrap that the command prints. */
const forms = [
  { title: "sotw, ads", args: ["--variant", "sotw"] },
  { title: "delta, ads", args: ["--variant", "delta"] },
  {
    title: "sotw, xdstp",
    args: ["--variant", "sotw", "--names", "xdstp", "--authority", "a.example"],
  },
  { title: "delta, xdstp", args: ["--authority", "a.example"] },
];

for (const { title, args } of forms) {
  describeProgram("envoy", `xdstp serve and xdstp bootstrap envoy (${title})`, (command) => {
    async function useWorld() {
      const [blue, green] = [await useHttpBackend("blue"), await useHttpBackend("green")];
      const chain = [
        listener(names.listener, names.route),
        route(names.route, names.cluster),
        cluster(names.cluster, names.endpoints),
        endpoints(names.endpoints, blue),
      ];
      const dir = useFolder(Object.fromEntries(chain.map(fileOf)));
      const serve = await startServe(dir, 0, ["--allow", "constraint"]);
      const envoy = await startEnvoy(
        command,
        printBootstrap("envoy", "--server", `127.0.0.1:${serve.port}`, ...args),
      );
      const url = await envoy.url(names.listener);
      await until("the first answer", async () => (await get(url)) === "blue");
      const traffic = useTraffic(() => get(url));
      const edit = (file: string, edited: (text: string) => string): void => {
        const path = join(dir, "a.example", file);
        writeFileSync(path, edited(readFileSync(path, "utf8")));
      };
      return { blue, green, dir, serve, envoy, traffic, edit };
    }

    it("follows an edit of endpoints, and of a cluster alone without waiting for a timeout [S-WARM-1]", async () => {
      const { blue, green, envoy, traffic, edit } = await useWorld();
      edit("endpoints/e.json", (text) => text.replace(String(blue), String(green)));
      await traffic.answeredBy("green");
      const before = await envoy.stat("cluster_manager.cluster_modified");
      edit("clusters/c.json", (text) => text.replace('"1s"', '"2s"'));
      await until(
        "the cluster is modified",
        async () => (await envoy.stat("cluster_manager.cluster_modified")) !== before,
      );
      await envoy.untilWarm();
      expect(await envoy.timeouts()).toEqual([]);
      expect(traffic.failures).toEqual([]);
    });

    it("prints the reason of a NACK of what --allow lets pass, and the ACK once the file is mended [S-ACK-9]", async () => {
      const { serve, traffic, edit } = await useWorld();
      edit("clusters/c.json", (text) => text.replace('"1s"', '"0s"'));
      const nack = await until(
        "a NACK",
        () => serve.events().find(({ event }) => event === "nack"),
        () => serve.lines.slice(-5),
      );
      expect(nack.type).toBe(clusterType.typeUrl);
      expect(nack.reason).toMatch(/ConnectTimeout/);
      const from = serve.events().length;
      edit("clusters/c.json", (text) => text.replace('"0s"', '"1s"'));
      await until(
        "an ACK",
        () =>
          serve
            .events()
            .slice(from)
            .some(({ event, type }) => event === "ack" && type === clusterType.typeUrl),
        () => serve.lines.slice(-5),
      );
      await traffic.more(10);
      expect(traffic.failures).toEqual([]);
    });

    it("serves on when the server is killed, and takes from the next one what has changed, without a failed request", async () => {
      const { blue, green, dir, serve, envoy, traffic, edit } = await useWorld();
      await serve.stop("SIGKILL");
      await until(
        "Envoy has noticed",
        async () => (await envoy.stat("control_plane.connected_state")) === "0",
      );
      edit("endpoints/e.json", (text) => text.replace(String(blue), String(green)));
      await traffic.more(20);
      await startServe(dir, serve.port);
      await traffic.answeredBy("green");
      await envoy.untilWarm();
      expect(traffic.failures).toEqual([]);
    });
  });
}

/** Content per node, of two Envoys that differ in their cluster alone. */
for (const variant of ["sotw", "delta"]) {
  describeProgram("envoy", `xdstp serve --node-key cluster (${variant})`, (command) => {
    it("sends two node clusters other routes under the same name, each its own edit alone, and the shared ones once its own are gone", async () => {
      const [blue, green] = [await useHttpBackend("blue"), await useHttpBackend("green")];
      const shared = [
        listener("l", "r"),
        route("r", "blue"),
        cluster("blue", "blue"),
        cluster("green", "green"),
        endpoints("blue", blue),
        endpoints("green", green),
      ];
      const ofGold = fileOf(route("r", "green"));
      const dir = useFolder({
        ...Object.fromEntries(shared.map(fileOf)),
        [`_nodes/gold/${ofGold[0]}`]: ofGold[1],
      });
      const serve = await startServe(dir, 0, ["--node-key", "cluster"]);
      const start = async (
        name: string,
      ): Promise<{ readonly envoy: Envoy; readonly traffic: Traffic }> => {
        const envoy = await startEnvoy(
          command,
          printBootstrap(
            "envoy",
            "--server",
            `127.0.0.1:${serve.port}`,
            "--variant",
            variant,
            "--cluster",
            name,
            "--node",
            `${name}-1`,
          ),
        );
        const url = await envoy.url("l");
        await until("the first answer", async () => (await get(url).catch(() => "")) !== "");
        return { envoy, traffic: useTraffic(() => get(url)) };
      };
      const [gold, basic] = [await start("gold"), await start("basic")];
      await gold.traffic.answeredBy("green");
      await basic.traffic.answeredBy("blue");
      const updates = async ({ envoy }: { readonly envoy: Envoy }): Promise<string | undefined> =>
        envoy.stat("http.edge.rds.r.update_success");
      const before = await updates(basic);
      expect(Number(before)).toBeGreaterThan(0);
      writeFileSync(join(dir, "_nodes/gold", ofGold[0]), fileOf(route("r", "blue"))[1]);
      await gold.traffic.answeredBy("blue");
      expect(await updates(basic)).toBe(before);
      writeFileSync(join(dir, ofGold[0]), ofGold[1]);
      await basic.traffic.answeredBy("green");
      await gold.traffic.more(10);
      await gold.traffic.answeredBy("blue");
      rmSync(join(dir, "_nodes/gold"), { recursive: true });
      await gold.traffic.answeredBy("green");
      for (const { envoy, traffic } of [gold, basic]) {
        expect(traffic.failures).toEqual([]);
        expect(await envoy.timeouts()).toEqual([]);
      }
    });
  });
}

describeProgram("envoy", "xdstp bootstrap envoy --json", (command) => {
  it("is a bootstrap too", async () => {
    const serve = await startServe(useFolder());
    const envoy = await startEnvoy(
      command,
      JSON.parse(
        printBootstrap("envoy", "--json", "--server", `127.0.0.1:${serve.port}`),
      ) as object,
    );
    await envoy.untilStat("control_plane.connected_state", "1");
    await envoy.untilStat("listener_manager.workers_started", "1");
  });
});
