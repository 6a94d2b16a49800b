import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { anyFromJson, envoyRegistry, ResourceJsonError } from "./index.ts";

const registry = envoyRegistry();
const tls = "envoy.extensions.transport_sockets.tls.v3";
const of = (type: string): string => `type.googleapis.com/${type}`;

function errorOf(type: string, json: JsonObject): ResourceJsonError {
  try {
    anyFromJson({ "@type": of(type), ...json }, registry);
  } catch (error) {
    if (error instanceof ResourceJsonError) return error;
  }
  throw new Error("no error was thrown");
}

const socket = (privateKey: JsonObject[string]): JsonObject => ({
  transport_socket: {
    name: "tls",
    typed_config: {
      "@type": of(`${tls}.UpstreamTlsContext`),
      common_tls_context: { tls_certificates: [{ private_key: privateKey }] },
    },
  },
});
const added = (key: string): JsonObject => ({
  request_headers_to_add: [{ header: { key, value: 83_927_465 } }],
});

describe("anyFromJson() of what is secret", () => {
  it.each<readonly [string, JsonObject, string]>([
    [
      `${tls}.Secret`,
      { generic_secret: { secret: "hunter2" } },
      "generic_secret.secret: cannot decode message envoy.config.core.v3.DataSource from JSON: a text",
    ],
    [
      `${tls}.Secret`,
      { generic_secret: { secret: { inline_string: 83_927_465 } } },
      "generic_secret.secret.inline_string: cannot decode field envoy.config.core.v3.DataSource.inline_string from JSON: expected string, got a number",
    ],
    [
      `${tls}.Secret`,
      { generic_secret: { secret: { hunter2: null } } },
      "generic_secret.secret: a key is unknown; the fields of envoy.config.core.v3.DataSource are filename, inline_bytes, inline_string, environment_variable, watched_directory",
    ],
    [
      `${tls}.Secret`,
      { generic_secret: { secrets: { a: "hunter2" } } },
      "generic_secret.secrets.a: cannot decode message envoy.config.core.v3.DataSource from JSON: a text",
    ],
    [
      `${tls}.Secret`,
      { tls_certificate: "hunter2" },
      `tls_certificate: cannot decode message ${tls}.TlsCertificate from JSON: a text`,
    ],
    [
      `${tls}.Secret`,
      { session_ticket_keys: { keys: [{ inline_string: true }] } },
      "session_ticket_keys.keys[0].inline_string: cannot decode field envoy.config.core.v3.DataSource.inline_string from JSON: expected string, got a boolean",
    ],
    [
      "envoy.config.cluster.v3.Cluster",
      socket("TOPSECRETKEY4".repeat(3)),
      "transport_socket.typed_config.common_tls_context.tls_certificates[0].private_key: cannot decode message envoy.config.core.v3.DataSource from JSON: a text",
    ],
    [
      "envoy.config.route.v3.RouteConfiguration",
      added("Authorization"),
      "request_headers_to_add[0].header.value: cannot decode field envoy.config.core.v3.HeaderValue.value from JSON: expected string, got a number",
    ],
    [
      "envoy.config.route.v3.RouteConfiguration",
      added("x-team"),
      "request_headers_to_add[0].header.value: cannot decode field envoy.config.core.v3.HeaderValue.value from JSON: expected string, got 83927465",
    ],
  ])("of %s names the kind, not the value: %j [B-CSDS-7]", (type, json, message) => {
    const error = errorOf(type, json);
    expect(error.message).toBe(message);
    if (!message.includes("83927465")) expect(error.cause).toBeUndefined();
  });

  it("still names a field of a Secret that is spelled wrong", () => {
    expect(errorOf(`${tls}.Secret`, { tls_certficate: {} }).message).toContain(
      'key "tls_certficate" is unknown',
    );
  });
});
