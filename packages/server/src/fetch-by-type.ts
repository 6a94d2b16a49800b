import { create } from "@bufbuild/protobuf";
import { statusNameOf, XdsError } from "@xdstp/core";
import { DiscoveryRequestSchema, type DiscoveryResponse } from "@xdstp/protos/discovery";
import type { AnswerFetch } from "./fetch-routes.ts";
import type { FetchMethod } from "./method-table.ts";
import type { FetchRequest, XdsServer } from "./xds-server.ts";

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
    return orThrow(
      typeUrl,
      await answer(method, create(DiscoveryRequestSchema, request satisfies FetchRequest), {
        peer,
        signal,
      }),
    );
  };
}

function orThrow(typeUrl: string, answer: Awaited<ReturnType<AnswerFetch>>): DiscoveryResponse {
  if ("code" in answer)
    throw new XdsError(statusNameOf(answer.code) ?? "UNKNOWN", answer.message, { typeUrl });
  return answer;
}
