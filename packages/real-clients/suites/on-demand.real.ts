import { expect, it, onTestFinished } from "vitest";

import { type Answer, ask } from "../../../examples/on-demand/ask.ts";
import { type AskedNames, createAskedNames } from "../../../examples/on-demand/asked-names.ts";
import { type ControlPlane, startControlPlane } from "../../../examples/on-demand/control-plane.ts";
import { envoyBootstrap } from "../../../examples/on-demand/envoy-bootstrap.ts";
import { createLookUps } from "../../../examples/on-demand/look-up.ts";
import { runTour } from "../../../examples/on-demand/run-tour.ts";
import { startShopServer } from "../../../examples/on-demand/shop-server.ts";
import { createShops, type Shop, type Shops } from "../../../examples/on-demand/shops.ts";
import { describeProgram } from "../src/describe-program.ts";
import { type Envoy, startEnvoy } from "../src/envoy.ts";
import { useTraffic } from "../src/traffic.ts";
import { until } from "../src/until.ts";

function use<T extends AsyncDisposable>(part: T): T {
  onTestFinished(() => part[Symbol.asyncDispose]());
  return part;
}

/** A shop that is not open yet, with a `www.` host in addition to its own. */
async function useShop(name: string, vip = "10.0.0.1"): Promise<Required<Shop>> {
  return {
    hosts: [`${name}.example`, `www.${name}.example`],
    vip,
    port: use(await startShopServer(name)).port,
  };
}

interface World {
  readonly shops: Shops;
  readonly asked: AskedNames;
  readonly plane: ControlPlane;
  readonly envoy: Envoy;
  readonly edge: string;
  readonly get: (host: string) => Promise<Answer>;
}

/** An Envoy that has its listener and nothing else. */
async function useWorld(command: string): Promise<World> {
  const shops = createShops();
  const asked = createAskedNames();
  const plane = use(await startControlPlane(shops, { onEvent: asked.note }));
  const envoy = await startEnvoy(command, envoyBootstrap(plane.port));
  const edge = await envoy.url("edge");
  const get = (host: string): Promise<Answer> => ask(edge, host);
  await until("the listener", async () => (await get("welcome.example")).text === "welcome");
  expect(await envoy.timeouts()).toEqual([]);
  asked.take();
  return { shops, asked, plane, envoy, edge, get };
}

const found = (name: string): Answer => ({ status: 200, text: `hello from ${name}` });

describeProgram("envoy", "virtual hosts and clusters on demand (delta/ads)", (command) => {
  it("holds a request for a host that it has not heard of, asks for what it needs, and lets the request go on [S-ALIAS-5] [S-ALIAS-1]", async () => {
    const { shops, asked, get } = await useWorld(command);
    shops.open(await useShop("one"));
    expect(await get("www.one.example")).toEqual(found("one"));
    expect(asked.take()).toEqual(["VirtualHost shops/www.one.example", "Cluster one.example"]);
    for (const host of ["one.example", "www.one.example:8080"])
      expect(await get(host)).toEqual(found("one"));
    expect(asked.take()).toEqual([]);
  });

  it("answers 404 for a host that does not exist, and is told when it does [S-MISS-2]", async () => {
    const { shops, asked, get } = await useWorld(command);
    expect(await get("one.example")).toMatchObject({ status: 404 });
    expect(asked.take()).toEqual(["VirtualHost shops/one.example"]);
    shops.open(await useShop("one"));
    await until("the shop", async () => (await get("one.example")).status === 200);
    expect(asked.take()).toEqual(["Cluster one.example"]);
  });

  it("answers 503 for a cluster that does not exist, and is told when it does [S-MISS-1]", async () => {
    const { shops, asked, get } = await useWorld(command);
    const { port, ...one } = await useShop("one");
    shops.open(one);
    expect(await get("one.example")).toMatchObject({ status: 503 });
    expect(asked.take()).toEqual(["VirtualHost shops/one.example", "Cluster one.example"]);
    shops.open({ ...one, port });
    await until("the cluster", async () => (await get("one.example")).status === 200);
    expect(asked.take()).toEqual([]);
  });

  it("asks for many at once, each once, and each request goes to its own", async () => {
    const { shops, asked, get } = await useWorld(command);
    const names = ["a", "bb", "ccc", "dddd", "eeeee"];
    for (const name of names) shops.open(await useShop(name));
    const hosts = [...names, ...names].map((name) => `${name}.example`);
    const [noSubscribers, ...answers] = await Promise.all(["nobody.example", ...hosts].map(get));
    expect(noSubscribers).toMatchObject({ status: 404 });
    expect(answers).toEqual([...names, ...names].map(found));
    expect(asked.take().sort()).toEqual(
      [
        ...names.map((name) => `Cluster ${name}.example`),
        ...[...names, "nobody"].map((name) => `VirtualHost shops/${name}.example`),
      ].sort(),
    );
  });
});

describeProgram(
  "envoy",
  "virtual hosts and clusters on demand that change (delta/ads)",
  (command) => {
    it("follows a shop that moves, and answers 404 when it has closed", async () => {
      const { shops, asked, get } = await useWorld(command);
      const [one, other] = [await useShop("one"), await useShop("other")];
      shops.open(one);
      expect(await get("one.example")).toEqual(found("one"));
      shops.open({ ...one, port: other.port });
      await until("the move", async () => (await get("one.example")).text === "hello from other");
      shops.close(one);
      let last: Answer | undefined;
      await until(
        "the end of the shop",
        async () => (last = await get("one.example")).status === 404,
        () => last,
      );
      expect(asked.take()).toEqual(["VirtualHost shops/one.example", "Cluster one.example"]);
    });

    it("goes on through a restart of the control plane, which makes anew what it is asked for", async () => {
      const { shops, asked, plane, envoy, get } = await useWorld(command);
      const [one, two] = [await useShop("one"), await useShop("two")];
      shops.open(one);
      expect([await get("www.one.example"), (await get("two.example")).status]).toEqual([
        found("one"),
        404,
      ]);
      const traffic = useTraffic(async () => (await get("www.one.example")).text);
      await plane[Symbol.asyncDispose]();
      await envoy.untilStat("control_plane.connected_state", "0");
      shops.open(two);
      asked.take();
      use(await startControlPlane(shops, { port: plane.port, onEvent: asked.note }));
      await until("the new shop", async () => (await get("two.example")).status === 200);
      await traffic.more(10);
      expect(traffic.failures).toEqual([]);
      expect(asked.take().sort()).toEqual([
        "Cluster one.example",
        "Cluster two.example",
        "RouteConfiguration shops",
        "VirtualHost *",
        "VirtualHost shops/two.example",
        "VirtualHost shops/www.one.example",
      ]);
    });

    it("goes through the tour of the example, as do look-ups of a program [C-CTX-5]", async () => {
      const { shops, asked, plane, edge } = await useWorld(command);
      const lines: string[] = [];
      await runTour(
        {
          shops,
          asked,
          edge,
          client: use(createLookUps(plane.port)),
          one: await useShop("one"),
          two: await useShop("two", "10.0.0.2"),
        },
        (line) => {
          lines.push(line);
        },
      );
      expect(lines).toEqual([
        "www.one.example: 200 hello from one",
        "   Envoy asked for VirtualHost shops/www.one.example",
        "   Envoy asked for Cluster one.example",
        "one.example: 200 hello from one",
        "two.example: 404",
        "   Envoy asked for VirtualHost shops/two.example",
        "-- two.example opens",
        "two.example: 200 hello from two",
        "   Envoy asked for Cluster two.example",
        "-- a program looks up what it meets",
        "host www.one.example: one.example",
        "vip 10.0.0.2: two.example",
        "host nobody.example: NOT_FOUND",
      ]);
    });
  },
);
