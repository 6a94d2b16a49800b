import { envoyRegistry } from "@xdstp/protos/envoy";
import { expect, it, vi } from "vitest";
import { clusterUrl, encode } from "../test/use-origin.ts";
import { viewResource } from "./resource-view.ts";

const yamlText = vi.hoisted(() => vi.fn(() => "some yaml"));
vi.mock(import("./yaml-text.ts"), () => ({ yamlText }));

it("writes YAML only where it is read, since that takes a third of the time of a large resource", () => {
  const value = encode("envoy.config.cluster.v3.Cluster", { name: "web" });
  const view = viewResource(
    { typeUrl: clusterUrl, value },
    { registry: envoyRegistry(), showSecrets: false },
  );
  expect(view.json).toEqual({ "@type": clusterUrl, name: "web" });
  expect(yamlText).not.toHaveBeenCalled();
  expect(view.yaml).toBe("some yaml");
  expect(yamlText).toHaveBeenCalledExactlyOnceWith(view.json);
});
