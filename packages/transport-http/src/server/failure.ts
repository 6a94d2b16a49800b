import { type StatusName, XdsError } from "@xdstp/core";

import type { HttpAnswer } from "./http-request.ts";

/** The status of HTTP for the code of an error; 500 for others. */
const statusOfCode: Readonly<Partial<Record<StatusName, number>>> = {
  INVALID_ARGUMENT: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  UNIMPLEMENTED: 406,
  RESOURCE_EXHAUSTED: 503,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 503,
  CANCELLED: 503,
};

/** Returns the answer for an error: a status, and a body `{ "code", "message" }`. */
export function failureOf(thrown: unknown): HttpAnswer {
  if (!(thrown instanceof XdsError)) return failure(500, "INTERNAL", "internal error");
  return failure(statusOfCode[thrown.code] ?? 500, thrown.code, thrown.text);
}

/** Returns an answer without a resource. Caches do not store it unless `headers` say so. */
export function failure(
  status: number,
  code: StatusName,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpAnswer {
  const body = new TextEncoder().encode(JSON.stringify({ code, message }));
  return {
    status,
    headers: {
      "content-type": "application/json",
      "content-length": String(body.length),
      "cache-control": "no-store",
      ...(status === 503 && { "retry-after": "1" }),
      ...headers,
    },
    body,
  };
}
