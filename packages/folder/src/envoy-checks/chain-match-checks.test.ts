import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { envoyRejections } from "../../test/envoy-rejections.ts";

const listener = "envoy.config.listener.v3.Listener";
const address = { socket_address: { address: "::1", port_value: 80 } };
const network = (address_prefix: string, prefix_len: number) => ({ address_prefix, prefix_len });

function found(...matches: readonly JsonObject[]): readonly string[] {
  const chains = matches.map((filter_chain_match) => ({ filter_chain_match }));
  return envoyRejections(listener, { address, filter_chains: chains });
}

describe("matches of filter chains", () => {
  it.each<readonly [a: JsonObject, b: JsonObject, what: string]>([
    [
      { server_names: ["a.com", "b.com"] },
      { server_names: ["c.com", "B.com"] },
      'server_names "b.com"',
    ],
    [
      { application_protocols: ["h2", "http/1.1"] },
      { application_protocols: ["h2"] },
      'application_protocols "h2"',
    ],
    [
      { prefix_ranges: [network("10.0.0.0", 8)] },
      { prefix_ranges: [network("10.1.2.3", 8)] },
      'prefix_ranges "10.0.0.0/8"',
    ],
    [
      { source_prefix_ranges: [network("fd00::1", 8)] },
      { source_prefix_ranges: [network("fd12:3::", 8)] },
      'source_prefix_ranges "fd00:0:0:0:0:0:0:0/8"',
    ],
    [
      { destination_port: 80, source_ports: [1, 2], source_type: "EXTERNAL" },
      { destination_port: 80, source_ports: [2], source_type: "EXTERNAL" },
      'destination_port "80", source_type "EXTERNAL", source_ports "2"',
    ],
  ])("overlap: %j and %j", (a, b, what) => {
    expect(found(a, b)).toEqual([
      `bad-listener filter_chains[1]: matches the same connections as filter_chains[0]: ${what}`,
    ]);
  });

  it.each<readonly [a: JsonObject, b: JsonObject]>([
    [{ server_names: ["*.a.com"] }, { server_names: ["x.a.com"] }],
    [{ server_names: ["a.com"] }, {}],
    [{ server_names: ["a.com"], destination_port: 1 }, { server_names: ["a.com"] }],
    [{ prefix_ranges: [network("10.0.0.0", 8)] }, { prefix_ranges: [network("10.0.0.0", 16)] }],
    [{ prefix_ranges: [network("0.0.0.0", 0)] }, {}],
    [{ source_type: "EXTERNAL" }, {}],
    [{ transport_protocol: "tls" }, { transport_protocol: "raw_buffer" }],
  ])("do not overlap: %j and %j", (a, b) => {
    expect(found(a, b)).toEqual([]);
  });

  it("report a value that one of them lists twice", () => {
    expect(found({ server_names: ["a.com", "A.com"] })).toEqual([
      'bad-listener filter_chains[0].filter_chain_match: lists server_names "a.com" more than once',
    ]);
  });

  it("report equal chains, and none where a matcher chooses", () => {
    expect(found({}, {})).toEqual([
      "bad-listener filter_chains[1]: has the same filter_chain_match as filter_chains[0]",
    ]);
    expect(
      envoyRejections(listener, {
        address,
        filter_chain_matcher: {},
        filter_chains: [{ name: "a" }, { name: "b" }],
      }),
    ).toEqual([]);
  });

  it.each<readonly [match: JsonObject, problem: string]>([
    [{ server_names: ["*"] }, 'server_names[0]: "*" is not a name of a server'],
    [
      { server_names: ["a*.com"] },
      'server_names[0]: "a*.com" has a "*" that is not its whole first label',
    ],
    [{ address_suffix: "10.0.0.1" }, "address_suffix: is not implemented in Envoy"],
    [{ suffix_len: 8 }, "suffix_len: is not implemented in Envoy"],
  ])("do not take %j", (match, problem) => {
    expect(found(match)).toEqual([`bad-listener filter_chains[0].filter_chain_match.${problem}`]);
  });

  it("are compared for 20,000 chains, and left alone where there are too many combinations", () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `h${index}.com`);
    const ports = Array.from({ length: 100 }, (_, index) => index + 1);
    const started = performance.now();
    expect(found(...names.map((name) => ({ server_names: [name] })))).toEqual([]);
    expect(found({ server_names: names, source_ports: ports })).toEqual([]);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
