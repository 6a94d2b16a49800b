import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { DiscoveryRequestSchema, DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import type { FetchLike } from "@xdstp/transport-rest/client";

import { streamOf } from "../stream-of.ts";

/** Something that is wrong with a world. Absent parts change nothing. */
export interface PollsDefect {
  /** Around the `fetch` of each client. */
  readonly fetch?: (fetch: FetchLike) => FetchLike;
  /** True: a replica that is behind passes for the process that is not. */
  readonly isOneLife?: boolean;
}

type Answer = Awaited<ReturnType<FetchLike>>;

const NOTHING_NEW: Answer = { status: 304, headers: { get: () => null }, body: null };

/** An answer may be older than the one before of the same process. */
export const goBack: PollsDefect = { isOneLife: true };

/** A failure counts as a response without resources. */
export const emptyOnFailure: PollsDefect = {
  fetch: (fetch) => async (url, init) => {
    const answer = await fetch(url, init).catch(() => undefined);
    if (answer !== undefined && answer.status < 500) return answer;
    return {
      status: 200,
      headers: { get: () => "application/x-protobuf" },
      body: emptyOf(init.body),
    };
  },
};

/** The third answer of each client, and all after it, count as those without a change. */
export const loseAnswers: PollsDefect = {
  fetch: (fetch) => {
    let count = 0;
    return async (url, init) => {
      const answer = await fetch(url, init);
      return answer.status === 200 && ++count > 2 ? NOTHING_NEW : answer;
    };
  },
};

/** Returns a response of the requested type without resources. */
function emptyOf(request: Uint8Array): ReadableStream<Uint8Array> {
  const { typeUrl } = fromBinary(DiscoveryRequestSchema, request);
  const response = create(DiscoveryResponseSchema, { typeUrl, versionInfo: "none", nonce: "none" });
  return streamOf(toBinary(DiscoveryResponseSchema, response));
}

/** Each poll is sent twice. */
export const pollTwice: PollsDefect = {
  fetch: (fetch) => async (url, init) => {
    fetch(url, init).catch(() => undefined);
    return fetch(url, init);
  },
};
