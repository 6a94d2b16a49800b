import { clientListenerName, parseBootstrap } from "@xdstp/bootstrap";
import { authorityOf } from "@xdstp/uri";
import { describe, expect, it } from "vitest";

import { serverOptions } from "../test/server-options.ts";
import { createSources, type ServerOptions } from "./index.ts";

const insecure = [{ type: "insecure" }];
const server = (uri: string, more: object = {}): object => ({
  server_uri: uri,
  channel_creds: insecure,
  ...more,
});
const sourcesOf = (json: object, options: Partial<ServerOptions> = {}) =>
  createSources(parseBootstrap(json), serverOptions(options));

/** Prints sources as `a, b -> s0 s1 (how)`; `*` is the default. */
function shown(json: object): readonly string[] {
  return sourcesOf(json).map(({ servers, authorities, opaque, reachabilityOnly }) => {
    const whose =
      authorities?.map((name) => JSON.stringify(name)).join(", ") ??
      (opaque === true ? "opaque" : "*");
    return `${whose} -> ${servers.map(({ name }) => name).join(" ")}${reachabilityOnly === true ? " (reachability only)" : ""}`;
  });
}

describe("createSources()", () => {
  const top = { xds_servers: [server("top")] };
  it.each([
    ["none, so that the servers are asked for all", {}, ["* -> top"]],
    ["one without servers", { a: {} }, ['"a" -> top', "opaque -> top"]],
    [
      "one with servers of its own",
      { a: { xds_servers: [server("a0"), server("a1")] } },
      ['"a" -> a0 a1', "opaque -> top"],
    ],
    ["the empty one", { "": {} }, ['"" -> top', "opaque -> top"]],
    [
      "some, case and port apart",
      { "A.b": {}, "a.b:1": { xds_servers: [server("x")] } },
      ['"A.b" -> top', '"a.b:1" -> x', "opaque -> top"],
    ],
    [
      "the one of traffic director",
      {
        "traffic-director.googleapis.com": { xds_servers: [server("td:443")] },
        "": { xds_servers: [] },
      },
      ['"traffic-director.googleapis.com" -> td:443', '"" -> top', "opaque -> top"],
    ],
    [
      "one with fallback_on_reachability_only",
      {
        a: { fallback_on_reachability_only: true, xds_servers: [server("a0"), server("a1")] },
        b: { fallback_on_reachability_only: true },
      },
      ['"a" -> a0 a1 (reachability only)', '"b" -> top (reachability only)', "opaque -> top"],
    ],
  ])(
    "makes sources of authorities: %s [C-GRPC-3, C-GRPC-7, C-AUTH-2]",
    (_, authorities, sources) => {
      expect(shown({ ...top, authorities })).toEqual(sources);
    },
  );

  const one = {
    client_default_listener_resource_name_template:
      "xdstp://xds.authority.com/envoy.config.listener.v3.Listener/%s",
    authorities: { "xds.authority.com": {} },
  };
  const several = {
    client_default_listener_resource_name_template:
      "xdstp://xds.authority.com/envoy.config.listener.v3.Listener/grpc/client/%s?project_id=1234",
    authorities: {
      "xds.authority.com": {
        client_listener_resource_name_template:
          "xdstp://xds.authority.com/envoy.config.listener.v3.Listener/grpc/client/%s?project_id=1234",
      },
      "xds.other.com": { xds_servers: [server("other")] },
    },
  };
  it.each([
    ["no new field", {}, "server.example.com", undefined, "server.example.com", "top"],
    [
      "new names",
      one,
      "server.example.com",
      undefined,
      "xdstp://xds.authority.com/envoy.config.listener.v3.Listener/server.example.com",
      "top",
    ],
    [
      "new names",
      one,
      "server.example.com",
      "xds.authority.com",
      "xdstp://xds.authority.com/envoy.config.listener.v3.Listener/server.example.com",
      "top",
    ],
    [
      "several authorities",
      several,
      "server.example.com",
      undefined,
      "xdstp://xds.authority.com/envoy.config.listener.v3.Listener/grpc/client/server.example.com?project_id=1234",
      "top",
    ],
    [
      "several authorities",
      several,
      "server.example.com",
      "xds.authority.com",
      "xdstp://xds.authority.com/envoy.config.listener.v3.Listener/grpc/client/server.example.com?project_id=1234",
      "top",
    ],
    [
      "several authorities",
      several,
      "server.example.com",
      "xds.other.com",
      "xdstp://xds.other.com/envoy.config.listener.v3.Listener/server.example.com",
      "other",
    ],
  ])(
    "does as the examples of A47 do: with %s %j the target %s of %s is %s, asked of %s [C-GRPC-3]",
    (_, more, target, authority, name, uri) => {
      const bootstrap = parseBootstrap({ ...top, ...more });
      expect(clientListenerName(bootstrap, target, authority)).toBe(name);
      const whose = name.startsWith("xdstp:") ? (authorityOf(name) ?? "") : undefined;
      const source = createSources(bootstrap, serverOptions()).find(({ authorities }) =>
        whose === undefined ? authorities === undefined : authorities?.includes(whose),
      );
      expect(source?.servers.map((one) => one.name)).toEqual([uri]);
    },
  );

  it("keeps the order of servers [C-AUTH-3]", () => {
    expect(shown({ xds_servers: [server("s0"), server("s1"), server("s2")] })).toEqual([
      "* -> s0 s1 s2",
    ]);
  });

  const ids = (a: object, b: object): boolean => {
    const [one, other] = sourcesOf({ xds_servers: [a, b] })[0]?.servers ?? [];
    return one?.id === other?.id;
  };
  const tls = (config: object): object => server("s", { channel_creds: [{ type: "tls", config }] });
  it.each([
    ["written twice", server("s"), server("s"), true],
    [
      "with features in another order",
      server("s", { server_features: ["a", "b"] }),
      server("s", { server_features: ["b", "a", "a"] }),
      true,
    ],
    [
      "with credentials in another order, and those unknown here",
      server("s", { channel_creds: [{ type: "google_default" }, ...insecure] }),
      server("s"),
      true,
    ],
    [
      "with the default written out",
      tls({ refresh_interval: "600s", ca_certificate_file: "ca" }),
      tls({ ca_certificate_file: "ca" }),
      true,
    ],
    ["with another address", server("s"), server("t"), false],
    [
      "with another feature",
      server("s"),
      server("s", { server_features: ["fail_on_data_errors"] }),
      false,
    ],
    ["with TLS", server("s"), tls({}), false],
    [
      "with another CA",
      tls({ ca_certificate_file: "a" }),
      tls({ ca_certificate_file: "b" }),
      false,
    ],
  ])("takes servers %s for one server: %j, %j: %s [C-AGG-1]", (_, a, b, equal) => {
    expect(ids(a, b)).toBe(equal);
  });

  it("gives equal servers of several authorities one id, so that they share a stream [C-AGG-1, C-GRPC-3]", () => {
    const sources = sourcesOf({
      ...top,
      authorities: {
        a: { xds_servers: [server("top")] },
        b: {},
        c: { xds_servers: [server("c")] },
      },
    });
    expect(new Set(sources.flatMap(({ servers }) => servers.map(({ id }) => id))).size).toBe(2);
  });

  it("parts what is spoken to in another way", () => {
    const of = (options: Partial<ServerOptions>): string =>
      sourcesOf(top, options)[0]?.servers[0]?.id ?? "";
    expect(
      new Set([of({}), of({ variant: "sotw" }), of({ rate: { burst: 1, perSecond: 1 } })]).size,
    ).toBe(3);
  });
});
