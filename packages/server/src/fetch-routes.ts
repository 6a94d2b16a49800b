import { create, type DescMethodUnary } from "@bufbuild/protobuf";
import { type Status, StatusCode, XdsError, type XdsErrorContext } from "@xdstp/core";
import type { MethodCall, MethodRouter } from "@xdstp/grpc/server";
import { errorText, type NackError, nodeInfoOf, type ServerContext } from "@xdstp/protocol/server";
import {
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  type DiscoveryResponseSchema,
} from "@xdstp/protos/discovery";
import { ClusterDiscoveryService } from "@xdstp/protos/services";

import type { Access } from "./access/access-book.ts";
import type { ServerAccess } from "./access/create-access.ts";
import { answerFetch } from "./answer-fetch.ts";
import type { AnswerLine } from "./answer-line.ts";
import { claimOf, principalOf } from "./caller.ts";
import type { FetchMethod } from "./method-table.ts";
import type { EventHub, ServerEvent } from "./server-event.ts";
import { statusError } from "./status-routes.ts";
import type { XdsServer } from "./xds-server.ts";

/** Answers a Fetch of one method. Never rejects. */
type AnswerFetch = (
  method: FetchMethod,
  request: DiscoveryRequest,
  call: FetchCaller,
) => Promise<DiscoveryResponse | Status>;

/** The caller, and the signal that ends the call. */
type FetchCaller = Pick<MethodCall, "peer" | "signal">;

/** JSON would need the descriptor of every served type. */
const binaryOnly =
  "a Fetch holds resources of any type and is binary: send application/grpc or application/proto";

/** Returns the Fetch methods as routes, served over gRPC, gRPC-Web and the Connect protocol. */
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

/**
 * Returns the descriptor of a method. All Fetch methods have the same messages, so a service of
 * your own needs no generated code.
 */
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

/** Returns Fetch as a function, for callers without a wire. */
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
    const message = create(
      DiscoveryRequestSchema,
      request satisfies Parameters<XdsServer["fetch"]>[1],
    );
    return orThrow(await answer(method, message, { peer, signal }), { typeUrl });
  };
}

/** Options of {@link createFetchResponder}. */
interface ResponderOptions {
  readonly context: ServerContext;
  readonly access: ServerAccess;
  readonly hub: EventHub;
  readonly line: AnswerLine;
}

const OK: Status = { code: StatusCode.OK, message: "" };
const cancelled: Status = { code: StatusCode.CANCELLED, message: "the call was cancelled" };
const broken: Status = { code: StatusCode.INTERNAL, message: "internal error" };

/**
 * Returns a function that answers Fetches and emits an event for each. An exception of the source
 * becomes INTERNAL.
 */
export function createFetchResponder({
  context,
  access: { contexts, decider, gate },
  hub,
  line,
}: ResponderOptions): AnswerFetch {
  return async ({ path, typeUrl }, request, { peer, signal }) => {
    const reject = (status: Status, reason?: string): Status => {
      hub.emit?.({
        kind: "rejected",
        path,
        peer: peer.address,
        status,
        ...(reason === undefined ? {} : { reason }),
      });
      return status;
    };
    let access: Access | undefined;
    try {
      const rejection = gate.rejection();
      if (rejection !== undefined) return reject(rejection);
      const node = request.node === undefined ? {} : { node: claimOf(request.node) };
      const decided =
        decider === undefined
          ? undefined
          : await decider.decide({ ...peer, ...node, path }, signal);
      if (decided !== undefined && "status" in decided)
        return reject(decided.status, decided.reason);
      access = decided;
      const own = access === undefined ? context : contexts.of(access.source);
      const answer =
        (await answerFetch(own, {
          typeUrl,
          request,
          signal: AbortSignal.any([signal, gate.closed]),
          line,
          who: principalOf(peer),
        })) ??
        gate.rejection() ??
        cancelled;
      hub.emit?.(eventOf(typeUrl, request, answer, context.limits.errorText));
      return answer;
    } catch (error) {
      hub.fault(`fetch ${path}`, error);
      return broken;
    } finally {
      access?.release();
    }
  };
}

function eventOf(
  typeUrl: string,
  request: DiscoveryRequest,
  answer: DiscoveryResponse | Status,
  atMost: number,
): Extract<ServerEvent, { readonly kind: "fetch" }> {
  const { node, resourceNames, resourceLocators, versionInfo, errorDetail } = request;
  const failed = "code" in answer;
  return {
    kind: "fetch",
    typeUrl,
    node: node === undefined ? undefined : nodeInfoOf(node),
    names: [...resourceNames, ...resourceLocators.map(({ name }) => name)],
    accepted: versionInfo,
    ...(errorDetail === undefined
      ? {}
      : {
          error: {
            code: errorDetail.code,
            message: errorText(errorDetail.message, atMost),
          } satisfies NackError,
        }),
    status: failed ? answer : OK,
    version: failed ? "" : answer.versionInfo,
    resources: failed ? 0 : answer.resources.length,
  };
}
