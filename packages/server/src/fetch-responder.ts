import { type Status, StatusCode } from "@xdstp/core";
import { errorText, type NackError, nodeInfoOf, type ServerContext } from "@xdstp/protocol/server";
import type { DiscoveryRequest, DiscoveryResponse } from "@xdstp/protos/discovery";
import { answerFetch } from "./answer-fetch.ts";
import type { AnswerLine } from "./answer-line.ts";
import type { EventHub, FetchEvent } from "./server-event.ts";
import type { AnswerFetch } from "./fetch-routes.ts";
import type { Access } from "./access/access-book.ts";
import type { ServerAccess } from "./access/create-access.ts";
import { claimOf, principalOf } from "./caller.ts";

/** What answering needs. */
export interface ResponderOptions {
  readonly context: ServerContext;
  readonly access: ServerAccess;
  readonly hub: EventHub;
  readonly line: AnswerLine;
}

const OK: Status = { code: StatusCode.OK, message: "" };
const cancelled: Status = { code: StatusCode.CANCELLED, message: "the call was cancelled" };
const broken: Status = { code: StatusCode.INTERNAL, message: "internal error" };

/** Answers Fetches, tells of each, and survives its source. */
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
): FetchEvent {
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
