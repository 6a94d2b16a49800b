import { describe, expect, it } from "vitest";

import { clientListenerName, parseBootstrap, serverListenerName } from "../index.ts";

const bootstrapOf = (more: object) =>
  parseBootstrap({
    xds_servers: [{ server_uri: "s", channel_creds: [{ type: "insecure" }] }],
    node: { id: "me" },
    ...more,
  });

describe("clientListenerName()", () => {
  it.each([
    [{}, "shop:80", undefined, "shop:80"],
    [
      {
        client_default_listener_resource_name_template:
          "xdstp://x/envoy.config.listener.v3.Listener/%s",
      },
      "a b",
      undefined,
      "xdstp://x/envoy.config.listener.v3.Listener/a%20b",
    ],
    [
      { authorities: { east: {} } },
      "shop",
      "east",
      "xdstp://east/envoy.config.listener.v3.Listener/shop",
    ],
    [
      {
        authorities: {
          east: {
            client_listener_resource_name_template:
              "xdstp://east/envoy.config.listener.v3.Listener/grpc/%s?zone=1",
          },
        },
      },
      "shop",
      "east",
      "xdstp://east/envoy.config.listener.v3.Listener/grpc/shop?zone=1",
    ],
  ] as const)("makes by %j of %j in %j the name %j [C-GRPC-1]", (more, target, authority, name) => {
    expect(clientListenerName(bootstrapOf(more), target, authority)).toBe(name);
  });

  it("does not guess the template of an authority that is not there", () => {
    expect(() => clientListenerName(bootstrapOf({}), "shop", "west")).toThrow(
      'the bootstrap has no authority "west"; add it under authorities',
    );
  });
});

describe("serverListenerName()", () => {
  it.each([
    ["grpc/server?address=%s", "0.0.0.0:8080", "grpc/server?address=0.0.0.0:8080"],
    [
      "xdstp://x/envoy.config.listener.v3.Listener/server/%s",
      "[::]:8080",
      "xdstp://x/envoy.config.listener.v3.Listener/server/%5B::%5D:8080",
    ],
  ])("makes by %j of %j the name %j [C-GRPC-17]", (template, address, name) => {
    expect(
      serverListenerName(
        bootstrapOf({ server_listener_resource_name_template: template }),
        address,
      ),
    ).toBe(name);
  });

  it("says what a bootstrap without the template lacks", () => {
    expect(() => serverListenerName(bootstrapOf({}), "0.0.0.0:80")).toThrow(
      "[FAILED_PRECONDITION] the bootstrap has no server_listener_resource_name_template",
    );
  });
});
