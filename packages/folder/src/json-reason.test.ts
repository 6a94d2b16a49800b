import { envoyRegistry } from "@xdstp/protos/envoy";
import { describe, expect, it } from "vitest";
import { folderContext } from "./folder-context.ts";
import { formatProblem } from "./folder-problem.ts";
import { readFile } from "./read-file.ts";

const context = folderContext({ dir: "c", registry: envoyRegistry() });

/** Returns the problems of a file as text, without the path of the file. */
function said(path: string, text: string): readonly string[] {
  return readFile(path.split("/"), new TextEncoder().encode(text), context).problems.map(
    (problem) => formatProblem(problem).slice(`c/${path}:`.length),
  );
}

const policy = "envoy.config.cluster.v3.Cluster.LbPolicy";

describe("readFile() of a value that is wrong: place, field, what was found, what is expected", () => {
  it.each([
    [
      "type: EDS\nconnect_timeout: abc",
      '2:1: connect_timeout: "abc" is not a valid google.protobuf.Duration (write seconds, such as "1.5s")',
    ],
    [
      "connectTimeout: 5",
      '1:1: connectTimeout: 5 is not a valid google.protobuf.Duration (write seconds, such as "1.5s")',
    ],
    [
      "connect_timeout: { seconds: 5 }",
      '1:1: connect_timeout: an object is not a valid google.protobuf.Duration (write seconds, such as "1.5s")',
    ],
    [
      "resource: {}\nttl: abc",
      '2:1: ttl: "abc" is not a valid google.protobuf.Duration (write seconds, such as "1.5s")',
    ],
    [
      "resource:\n  connect_timeout: abc",
      '2:3: resource.connect_timeout: "abc" is not a valid google.protobuf.Duration (write seconds, such as "1.5s")',
    ],
    [
      "lb_policy: NOPE",
      `1:1: lb_policy: "NOPE" is not a valid ${policy} (one of ROUND_ROBIN, LEAST_REQUEST, RING_HASH, RANDOM, MAGLEV, ...)`,
    ],
    [
      "lb_policy: maglv",
      `1:1: lb_policy: "maglv" is not a valid ${policy} (one of MAGLEV, ROUND_ROBIN, LEAST_REQUEST, RING_HASH, RANDOM, ...)`,
    ],
    [
      "lb_policy: [RING_HASH]",
      `1:1: lb_policy: a list is not a valid ${policy} (one of ROUND_ROBIN, LEAST_REQUEST, RING_HASH, RANDOM, MAGLEV, ...)`,
    ],
    [
      "dns_lookup_family: 1.5",
      "1:1: dns_lookup_family: 1.5 is not a valid envoy.config.cluster.v3.Cluster.DnsLookupFamily (one of AUTO, V4_ONLY, V6_ONLY, V4_PREFERRED, ALL)",
    ],
    ["alt_stat_name: 5", '1:1: alt_stat_name: expected string, got 5 (put it in quotes: "5")'],
    ["alt_stat_name: []", "1:1: alt_stat_name: expected string, got a list"],
    [
      "respect_dns_ttl: maybe",
      '1:1: respect_dns_ttl: expected boolean, got "maybe" (write true or false)',
    ],
    [
      "per_connection_buffer_limit_bytes: { value: 5 }",
      "1:1: per_connection_buffer_limit_bytes: expected number (uint32), got an object (write the value itself)",
    ],
    [
      "per_connection_buffer_limit_bytes: -1",
      "1:1: per_connection_buffer_limit_bytes: expected number (uint32): -1 out of range",
    ],
    [
      "load_assignment: 5",
      "1:1: load_assignment: 5 is not a valid envoy.config.endpoint.v3.ClusterLoadAssignment (write its fields as keys)",
    ],
    [
      "load_assignment: { endpoints: 5 }",
      "1:20: load_assignment.endpoints: expected a list, got 5",
    ],
    [
      "transport_socket_matches:\n- name: a\n- 5",
      "3:3: transport_socket_matches[1]: 5 is not a valid envoy.config.cluster.v3.Cluster.TransportSocketMatch (write its fields as keys)",
    ],
    [
      "metadata: { filter_metadata: { a: 5 } }",
      "1:32: metadata.filter_metadata.a: 5 is not a valid google.protobuf.Struct (write its fields as keys)",
    ],
    [
      "typed_extension_protocol_options: { x: 5 }",
      '1:37: typed_extension_protocol_options.x: 5 is not a valid google.protobuf.Any (write an object with "@type")',
    ],
    [
      "cluster_type: {}\ntype: EDS",
      "2:1: cluster_type and type are both set, but only one of cluster_discovery_type can be (keep one of them)",
    ],
    [
      "conect_timeout: 1s",
      '1:1: envoy.config.cluster.v3.Cluster: key "conect_timeout" is unknown (did you mean connect_timeout?)',
    ],
  ])("%j", (text, line) => {
    expect(said("a/clusters/x.yaml", text)).toEqual([line]);
  });

  it("names the field inside of an extension, and in a list of several resources", () => {
    const codec =
      "filter_chains: [{ filters: [{ name: x, typed_config: { '@type': type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager, codec_type: FOO } }] }]";
    expect(said("a/listeners/x.yaml", codec)[0]).toMatch(
      /: filter_chains\[0\]\.filters\[0\]\.typed_config\.codec_type: "FOO" is not a valid .*\.CodecType \(one of AUTO, HTTP1, HTTP2, HTTP3\)$/,
    );
    expect(
      said(
        "_opaque/clusters/x.yaml",
        "resources:\n- name: a\n- name: b\n  connect_timeout: abc",
      )[0],
    ).toMatch(/^4:3: resources\[1\]\.connect_timeout: "abc"/);
  });

  it.each([
    [
      "generic_secret: { secret: hunter2 }",
      "1:19: generic_secret.secret: a text is not a valid envoy.config.core.v3.DataSource (write its fields as keys)",
    ],
    [
      "tls_certificate: { private_key: TOPSECRETKEY4 }",
      "1:20: tls_certificate.private_key: a text is not a valid envoy.config.core.v3.DataSource (write its fields as keys)",
    ],
    [
      "generic_secret: { secret: { inline_string: 83927465 } }",
      "1:29: generic_secret.secret.inline_string: expected string, got a number (put it in quotes)",
    ],
    [
      "generic_secret: { secret: { inline_string: [hunter2] } }",
      "1:29: generic_secret.secret.inline_string: expected string, got a list",
    ],
    [
      "generic_secret: { secret: { hunter2 } }",
      "1:19: generic_secret.secret: a key is unknown; the fields of envoy.config.core.v3.DataSource are filename, inline_bytes, inline_string, environment_variable, watched_directory",
    ],
  ])("of a Secret names the kind, not the value: %j", (text, line) => {
    expect(said("a/secrets/x.yaml", text)).toEqual([line]);
  });

  it("of text format does not show the value either", () => {
    expect(
      said("a/secrets/x.txtpb", "generic_secret { secret { inline_string: hunter2 } }")[0],
    ).toMatch(/in text format: expected a string$/);
  });

  it("shortens a long path to its end", () => {
    const json = Array.from({ length: 20 }).reduce<string>(
      (inner) => `{ not_match: ${inner} }`,
      "5",
    );
    expect(said("a/envoy.config.common.matcher.v3.MatchPredicate/x.yaml", json)[0]).toMatch(
      /: \.\.\.(not_match\.){11}not_match: 5 is not a valid envoy\.config\.common\.matcher\.v3\.MatchPredicate \(/,
    );
  });

  it("names the values of an enum in text format too", () => {
    expect(said("a/clusters/x.txtpb", "lb_policy: NOPE")[0]).toContain(
      `unknown enum value "NOPE" for enum ${policy} (one of ROUND_ROBIN, LEAST_REQUEST, `,
    );
  });
});
