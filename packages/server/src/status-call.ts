import { create } from "@bufbuild/protobuf";
import { statusNameOf, XdsError } from "@xdstp/core";
import { ClientStatusRequestSchema } from "@xdstp/protos/status";
import type { AnswerStatus } from "./client-status.ts";
import type { StatusViewOf } from "./access/status-view.ts";
import { FETCH_STATUS } from "./status-routes.ts";
import type { XdsServer } from "./xds-server.ts";

/** Client status as a function, for whoever needs no wire. */
export function statusCall(
  answer: AnswerStatus,
  viewOf: StatusViewOf | undefined,
): XdsServer["clientStatus"] {
  return async (request = {}, { signal = new AbortController().signal, peer } = {}) => {
    const view = peer === undefined ? undefined : await viewOf?.(peer, FETCH_STATUS, signal);
    const response =
      view !== undefined && "code" in view
        ? view
        : await answer(create(ClientStatusRequestSchema, request), { peer, signal, view });
    if ("code" in response)
      throw new XdsError(statusNameOf(response.code) ?? "UNKNOWN", response.message);
    return response;
  };
}
