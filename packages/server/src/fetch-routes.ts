import { create, type DescMethodUnary } from "@bufbuild/protobuf";
import { type Status, XdsError, type XdsErrorContext } from "@xdstp/core";
import type { MethodCall, MethodRouter } from "@xdstp/grpc/server";
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  type DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";
import { ClusterDiscoveryService } from "@xdstp/protos/services";

import type { FetchMethod } from "./method-table.ts";
import type { FetchRequest, XdsServer } from "./xds-server.ts";
import { statusError } from "./status-routes.ts";

/** Answers a Fetch of one method. Never rejects. */
export type AnswerFetch = (
  method: FetchMethod,
  request: DiscoveryRequest,
  call: FetchCaller,
) => Promise<DiscoveryResponse | Status>;

/** Who calls, and until when. */
type FetchCaller = Pick<MethodCall, "peer" | "signal">;

/** JSON would need the descriptor of every type that is served. */
const binaryOnly =
  "a Fetch holds resources of any type and is binary: send application/grpc or application/proto";

/** The Fetch methods as routes, served over gRPC, gRPC-web and the protocol of Connect. */
export function fetchRoutes(
  methods: readonly FetchMethod[],
  answer: AnswerFetch,
): (router: MethodRouter) => void {
  return (router) => {
    for (const method of methods) {
      router.rpc(described(method), async (request, { peer, signal, requestHeader }) => {
        if (requestHeader.get("content-type")?.includes("json") === true)
          throw new XdsError("UNIMPLEMENTED", binaryOnly);
        return orThrow(await answer(method, request, { peer, signal }));
      });
    }
  };
}

/** All Fetch methods have the same messages, so a row of data is enough: a service of your own needs no generated code. */
function described({
  service,
  method,
}: FetchMethod): DescMethodUnary<typeof DiscoveryRequestSchema, typeof DiscoveryResponseSchema> {
  return {
    ...ClusterDiscoveryService.method.fetchClusters,
    name: method,
    parent: { ...ClusterDiscoveryService, typeName: service },
  };
}

function orThrow(answer: DiscoveryResponse | Status, context?: XdsErrorContext): DiscoveryResponse {
  if ("code" in answer) throw statusError(answer, context);
  return answer;
}

/** Fetch as a function, for whoever needs no wire. */
export function fetchByType(
  methods: readonly FetchMethod[],
  answer: AnswerFetch,
): XdsServer["fetch"] {
  return async (
    typeUrl,
    request,
    { signal = new AbortController().signal, peer = { address: "" } } = {},
  ) => {
    const method = methods.find((one) => one.typeUrl === typeUrl);
    if (method === undefined)
      throw new XdsError("UNIMPLEMENTED", `no service offers a Fetch of ${typeUrl}`, { typeUrl });
    const message = create(DiscoveryRequestSchema, request satisfies FetchRequest);
    return orThrow(await answer(method, message, { peer, signal }), { typeUrl });
  };
}
