import { fromBinary } from "@bufbuild/protobuf";
import { ClusterSchema } from "@xdstp/protos/envoy/cluster";
import { VirtualHostSchema } from "@xdstp/protos/envoy/route";
import type { DeltaDiscoveryResponse } from "@xdstp/protos/discovery";
import { cluster, virtualHost } from "@xdstp/resource-types";
import { describe, expect, it, onTestFinished } from "vitest";

import { type AskedNames, createAskedNames } from "./asked-names.ts";
import { startControlPlane } from "./control-plane.ts";
import { createLookUps, lookUp } from "./look-up.ts";
import { openRawEnvoy, type RawEnvoy } from "./raw-envoy.ts";
import { runTour } from "./run-tour.ts";
import { createShops, type Shop, type Shops } from "./shops.ts";

const one: Shop = { hosts: ["one.example", "www.one.example"], vip: "10.0.0.1", port: 8001 };
const two: Shop = { hosts: ["two.example"], vip: "10.0.0.2", port: 8002 };

function use<T extends AsyncDisposable>(part: T): T {
  onTestFinished(() => part[Symbol.asyncDispose]());
  return part;
}

async function usePlane(
  ...open: readonly Shop[]
): Promise<{ readonly shops: Shops; readonly asked: AskedNames; readonly port: number }> {
  const shops = createShops();
  for (const shop of open) shops.open(shop);
  const asked = createAskedNames();
  const { port } = use(await startControlPlane(shops, { onEvent: asked.note }));
  return { shops, asked, port };
}

/** Asks as Envoy does, and accepts what comes. */
async function get(
  envoy: RawEnvoy,
  typeUrl: string,
  ...resourceNamesSubscribe: readonly string[]
): Promise<DeltaDiscoveryResponse> {
  envoy.client.send({ typeUrl, resourceNamesSubscribe: [...resourceNamesSubscribe] });
  return accepted(envoy);
}

async function accepted(envoy: RawEnvoy): Promise<DeltaDiscoveryResponse> {
  const response = await envoy.next();
  envoy.client.ack(response);
  return response;
}

/** The virtual hosts of a response: name, aliases and domains, or null for one that does not exist. */
function hostsOf({ resources }: DeltaDiscoveryResponse): readonly unknown[] {
  return resources.map(({ name, aliases, resource }) => [
    name,
    aliases,
    resource === undefined ? null : fromBinary(VirtualHostSchema, resource.value).domains,
  ]);
}

describe("a control plane on demand", () => {
  it("gives Envoy one virtual host to begin with, and then those that it asks for, by any of their hosts [S-ALIAS-5] [S-ALIAS-1]", async () => {
    const { port } = await usePlane(one, two);
    const envoy = use(openRawEnvoy(port));
    expect(hostsOf(await get(envoy, virtualHost.typeUrl))).toEqual([
      ["shops/welcome.example", [], ["welcome.example"]],
    ]);
    expect(hostsOf(await get(envoy, virtualHost.typeUrl, "shops/www.one.example"))).toEqual([
      ["shops/one.example", ["shops/www.one.example"], ["one.example", "www.one.example"]],
    ]);
    expect(hostsOf(await get(envoy, virtualHost.typeUrl, "shops/two.example"))).toEqual([
      ["shops/two.example", [], ["two.example"]],
    ]);
  });

  it("says of a host that it does not exist in the form that lets a request of Envoy go, and tells when it does [S-MISS-2]", async () => {
    const { shops, port } = await usePlane(one);
    const envoy = use(openRawEnvoy(port));
    await get(envoy, virtualHost.typeUrl);
    expect(
      hostsOf(await get(envoy, virtualHost.typeUrl, "shops/two.example", "shops/one.example")),
    ).toEqual(
      expect.arrayContaining([
        ["shops/two.example", ["shops/two.example"], null],
        ["shops/one.example", ["shops/www.one.example"], ["one.example", "www.one.example"]],
      ]),
    );
    shops.open(two);
    expect(hostsOf(await accepted(envoy))).toEqual([["shops/two.example", [], ["two.example"]]]);
  });

  it("makes clusters as they are asked for, and anew as they change; others get none of them", async () => {
    const { shops, port } = await usePlane(one);
    const [envoy, other] = [use(openRawEnvoy(port)), use(openRawEnvoy(port))];
    const first = await get(envoy, cluster.typeUrl, "one.example", "two.example");
    expect([first.resources.map(({ name }) => name), first.removedResources]).toEqual([
      ["one.example"],
      ["two.example"],
    ]);
    shops.open({ ...one, port: 8003 });
    const [changed] = (await accepted(envoy)).resources;
    const { loadAssignment } = fromBinary(
      ClusterSchema,
      changed?.resource?.value ?? new Uint8Array(),
    );
    expect(JSON.stringify(loadAssignment)).toContain("8003");
    // As Envoy does after a lost stream: it had names, so it asks for everything too.
    // The wildcard without members is answered by itself.
    const everything = await get(other, cluster.typeUrl, "*", "two.example");
    expect([everything.resources, everything.removedResources]).toEqual([[], []]);
    expect((await accepted(other)).removedResources).toEqual(["two.example"]);
  });

  it("answers look-ups by host and by virtual IP through one redirect each [C-CTX-5] [N-63]", async () => {
    const { shops, asked, port } = await usePlane(one);
    const client = use(createLookUps(port));
    const names = await Promise.all([
      lookUp(client, { host: "one.example" }),
      lookUp(client, { host: "www.one.example" }),
      lookUp(client, { vip: "10.0.0.1" }),
    ]);
    expect(names).toEqual(["one.example", "one.example", "one.example"]);
    const found = "VirtualHost xdstp://shops.example/envoy.config.route.v3.VirtualHost";
    expect(asked.take()).toEqual([
      `${found}/any?xds.resource.host=one.example`,
      `${found}/any?xds.resource.host=www.one.example`,
      `${found}/any?xds.resource.vip=10.0.0.1`,
      `${found}/one.example`,
    ]);
    await expect(lookUp(client, { vip: "10.0.0.2" })).rejects.toThrow("[NOT_FOUND]");
    shops.open(two);
    expect(await lookUp(client, { vip: "10.0.0.2" })).toBe("two.example");
  });

  it("is shown by a tour, also where there is no Envoy [C-CTX-5]", async () => {
    const { shops, asked, port } = await usePlane();
    const lines: string[] = [];
    await runTour({ shops, asked, client: use(createLookUps(port)), one, two }, (line) => {
      lines.push(line);
    });
    expect(lines).toEqual([
      "-- a program looks up what it meets",
      "host www.one.example: one.example",
      "vip 10.0.0.2: two.example",
      "host nobody.example: NOT_FOUND",
    ]);
  });
});
