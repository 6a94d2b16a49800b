import { it } from "vitest";
import {
  cluster as clusterType,
  clusterLoadAssignment,
  listener as listenerType,
  routeConfiguration,
} from "@xdstp/resource-types";
import { clientKinds } from "../src/client-kinds.ts";
import { describeProgram } from "../src/describe-program.ts";
import { startEnvoy } from "../src/envoy.ts";
import { globBootstrap } from "../src/envoy-bootstrap.ts";
import { useHttpBackend } from "../src/http-backend.ts";
import { useHttpCaller } from "../src/http-caller.ts";
import {
  endpoints,
  listener,
  patientCluster as cluster,
  route,
  type TestResource,
  xdstpName,
} from "../src/resources.ts";
import { until } from "../src/until.ts";
import { fileOf, startRelay, startServe } from "../src/use-cli.ts";
import { useFolder } from "../src/use-folder.ts";
import { type Load, useLoad } from "../src/use-load.ts";
import { writeResources } from "../src/write-resources.ts";

/** The parts of an outage. */
interface Outage {
  /** For the line of the load. */
  readonly name: string;
  readonly first: readonly TestResource[];
  /** The resources that exist when the control plane is back: now `green` answers. */
  readonly change: readonly TestResource[];
  readonly relayFlags: readonly string[];
  /** Starts a client of the relay; resolves once `blue` has answered it. */
  readonly start: (port: number) => Promise<() => Promise<string>>;
}

/** The control plane is killed, then the relay, which starts again with what it has on disk; a client comes that has nothing; the control plane comes back with a change. */
async function runOutage({ name, first, change, relayFlags, start }: Outage): Promise<void> {
  const [dir, snapshot] = [useFolder(Object.fromEntries(first.map(fileOf))), useFolder()];
  const flags = ["--snapshot", snapshot, ...relayFlags];
  const origin = await startServe(dir);
  let relay = await startRelay(origin.port, 0, flags);
  const load = (call: () => Promise<string>, who: string): Load =>
    useLoad(call, { name: `${name}, ${who}`, perSecond: 100, trace: () => relay.lines.slice(-30) });
  const old = load(await start(relay.port), "there before the outage");
  // A change within the last second may be lost with the relay (B-RELAY-9).
  await old.more(150);
  await origin.stop("SIGKILL");
  await old.more(20);
  await relay.stop("SIGKILL");
  await old.more(20);
  relay = await startRelay(origin.port, relay.port, flags);
  const late = load(await start(relay.port), "come in the outage");
  await Promise.all([old, late].map((one) => one.more(50)));
  writeResources(dir, change);
  await startServe(dir, origin.port);
  await Promise.all([old, late].map((one) => one.answeredBy("green")));
  await Promise.all([old, late].map((one) => one.finish()));
}

for (const kind of clientKinds) {
  describeProgram(kind.program, `relay (${kind.title})`, (command) => {
    it("loses no request while the control plane is gone and the relay starts again [B-RELAY-9] [B-RELAY-2]", async () => {
      const [blue, green] = [await kind.useBackend("blue"), await kind.useBackend("green")];
      await runOutage({
        name: `${kind.program} ${kind.title} through a relay`,
        relayFlags: ["--opaque-key", "none"],
        first: [kind.entry("svc", "r"), route("r", "c"), cluster("c", "e"), endpoints("e", blue)],
        change: [endpoints("e", green)],
        start: async (port) => (await kind.start(command, port)).caller("svc"),
      });
    });
  });
}

const a = (type: { readonly typeUrl: string }, id: string): string =>
  xdstpName("a.example", type.typeUrl, id);

describeProgram("envoy", "relay (xdstp globs, delta/ads)", (command) => {
  it.each([[[]], [["--workers", "2"]]])(
    "loses no request while the control plane is gone and the relay starts again, with %j [B-RELAY-9] [B-RELAY-1]",
    async (relayFlags) => {
      const [blue, green] = [await useHttpBackend("blue"), await useHttpBackend("green")];
      const [l, r, c, e] = [
        a(listenerType, "edge/l"),
        a(routeConfiguration, "r"),
        a(clusterType, "edge/c"),
        a(clusterLoadAssignment, "e"),
      ];
      await runOutage({
        name: `envoy by globs through a relay ${relayFlags.join(" ")}`,
        relayFlags,
        first: [listener(l, r), route(r, c), cluster(c, e), endpoints(e, blue)],
        change: [endpoints(e, green)],
        async start(port) {
          const envoy = await startEnvoy(
            command,
            globBootstrap("delta", port, a(listenerType, "edge/*"), a(clusterType, "edge/*")),
          );
          const call = useHttpCaller(await envoy.url(l));
          await until("the first answer", call);
          return call;
        },
      });
    },
  );
});
