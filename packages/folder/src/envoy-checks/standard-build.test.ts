import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const filters = "envoy.extensions.filters";
const chain = "envoy.config.listener.v3.FilterChain";
const manager = `${filters}.network.http_connection_manager.v3.HttpConnectionManager`;
const extension = (type: string, more: JsonObject = {}) => ({
  name: "a",
  typed_config: { "@type": `type.googleapis.com/${type}`, ...more },
});
const tcp = extension(`${filters}.network.tcp_proxy.v3.TcpProxy`);
const router = extension(`${filters}.http.router.v3.Router`);

describe("extensions that the standard build of Envoy does not have", () => {
  it("finds those of the contrib build, once each", () => {
    const broker = extension(`${filters}.network.kafka_broker.v3.KafkaBroker`, {
      id_based_broker_address_rewrite_spec: { rules: [{ id: 1, host: "a", port: 1 }] },
    });
    expect(envoyRejections(chain, { filters: [broker, tcp] })).toEqual([
      `missing-extension filters[0].typed_config.@type: ${filters}.network.kafka_broker.v3.KafkaBroker is only in the contrib build of Envoy`,
    ]);
  });

  it("finds those of no build, in a bootstrap only", () => {
    const json = {
      route_config: {},
      http_filters: [extension(`${filters}.http.gzip.v3.Gzip`), router],
    };
    const listener = {
      address: { socket_address: { address: "::1", port_value: 1 } },
      filter_chains: [{ filters: [extension(manager, json)] }],
    };
    expect(
      envoyRejections("envoy.config.bootstrap.v3.Bootstrap", {
        static_resources: { listeners: [listener] },
      }),
    ).toEqual([
      `missing-extension static_resources.listeners[0].filter_chains[0].filters[0].typed_config.http_filters[0].typed_config.@type: ${filters}.http.gzip.v3.Gzip is not in the builds of Envoy 1.40`,
    ]);
    expect(envoyRejections(manager, json)).toEqual([]);
  });

  it("finds listeners of Envoy Mobile, in a bootstrap only", () => {
    const listener = {
      address: { socket_address: { address: "::1", port_value: 1 } },
      api_listener: {
        api_listener: { "@type": `type.googleapis.com/${manager}`, route_config: {} },
      },
    };
    expect(
      envoyRejections("envoy.config.bootstrap.v3.Bootstrap", {
        static_resources: { listeners: [listener] },
      }),
    ).toContainEqual(
      "missing-extension static_resources.listeners[0].api_listener: is only in Envoy Mobile, so other builds of Envoy do not start with it",
    );
    expect(envoyRejections("envoy.config.listener.v3.Listener", listener)).not.toContainEqual(
      expect.stringContaining("missing-extension"),
    );
  });

  it("takes those of the standard build", () => {
    const mongo = extension(`${filters}.network.mongo_proxy.v3.MongoProxy`);
    expect(envoyRejections(chain, { filters: [mongo, tcp] })).toEqual([]);
  });
});
