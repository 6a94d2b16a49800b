// npm run example:on-demand: a control plane that makes what it serves as it is asked for, Envoy where it is found, and a program; see README.md.
import { findEnvoy } from "../mesh/find-envoy.ts";
import { runEnvoy } from "../mesh/run-envoy.ts";
import { createAskedNames } from "./asked-names.ts";
import { startControlPlane } from "./control-plane.ts";
import { envoyBootstrap } from "./envoy-bootstrap.ts";
import { createLookUps } from "./look-up.ts";
import { runTour } from "./run-tour.ts";
import { startShopServer } from "./shop-server.ts";
import { createShops } from "./shops.ts";

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.on(signal, () => {
    stop.abort(new Error("interrupted"));
  });

await using running = new AsyncDisposableStack();
const shops = createShops();
const asked = createAskedNames();
const [one, two] = [
  running.use(await startShopServer("one")),
  running.use(await startShopServer("two")),
];
const plane = running.use(await startControlPlane(shops, { onEvent: asked.note }));
const client = running.use(createLookUps(plane.port));
const binary = findEnvoy();
const envoy =
  binary === undefined
    ? undefined
    : running.adopt(await runEnvoy(binary, envoyBootstrap(plane.port), stop.signal), (started) =>
        started.close(),
      );
if (envoy === undefined)
  console.log("Envoy is not found: set ENVOY_BIN, or put envoy on the PATH, to have one here too");
await runTour(
  {
    shops,
    asked,
    client,
    signal: stop.signal,
    ...(envoy !== undefined && { edge: envoy.edge }),
    one: { hosts: ["one.example", "www.one.example"], vip: "10.0.0.1", port: one.port },
    two: { hosts: ["two.example"], vip: "10.0.0.2", port: two.port },
  },
  (line) => {
    console.log(line);
  },
);
