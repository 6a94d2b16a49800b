import { ClientStatusDiscoveryService } from "@xdstp/protos/status";
import { describe, expectTypeOf, it } from "vitest";

import type {
  ConnectionCut,
  MethodHandler,
  MethodRouter,
  NodeInfo,
  Peer,
  PeerIdentity,
  Quirk,
  ResourceSource,
  ServerEvent,
  ServerOptions,
  ServiceHandlers,
  StreamCut,
  StreamStatus,
  TlsOptions,
  XdsServer,
} from "./index.ts";

type StatusMethod = (typeof ClientStatusDiscoveryService)["method"]["fetchClientStatus"];

describe("the types of a server", () => {
  it("have names in this package for what a program writes to its options", () => {
    expectTypeOf<TlsOptions>().toEqualTypeOf<Parameters<XdsServer["setTls"]>[0]>();
    expectTypeOf<MethodRouter>().toEqualTypeOf<
      Parameters<NonNullable<ServerOptions["routes"]>>[0]
    >();
    expectTypeOf<readonly Quirk[]>().toEqualTypeOf<NonNullable<ServerOptions["quirks"]>>();
    expectTypeOf<ResourceSource>().toExtend<ReturnType<NonNullable<ServerOptions["sourceFor"]>>>();
    expectTypeOf<PeerIdentity>().toEqualTypeOf<NonNullable<Peer["identity"]>>();
    expectTypeOf<(node: NodeInfo) => boolean>().toExtend<
      NonNullable<Parameters<XdsServer["waitForAck"]>[1]>["nodes"]
    >();
  });

  it("have names for handlers of methods that a program adds", () => {
    const answer: MethodHandler<StatusMethod> = () => ({ config: [] });
    const handlers: ServiceHandlers<typeof ClientStatusDiscoveryService> = {
      fetchClientStatus: answer,
    };
    const routes = (router: MethodRouter): void => {
      router.service(ClientStatusDiscoveryService, handlers);
    };
    expectTypeOf(routes).toExtend<ServerOptions["routes"]>();
  });

  it("have names for what a program reads", () => {
    expectTypeOf<StreamStatus>().toEqualTypeOf<ReturnType<XdsServer["status"]>[number]>();
    type ReasonOf<Kind extends ServerEvent["kind"]> =
      Extract<ServerEvent, { readonly kind: Kind }> extends { readonly reason: infer Reason }
        ? Reason
        : never;
    expectTypeOf<ReasonOf<"connection-cut">>().toEqualTypeOf<ConnectionCut>();
    expectTypeOf<ReasonOf<"stream-cut">>().toEqualTypeOf<StreamCut>();
  });
});
