import { XdsError } from "@xdstp/core";
import type { ClientContext } from "./client-context.ts";
import type { Want } from "./want.ts";

/** Why there is nothing of what has not come in time (C-MISS-4); `leftOut`: a full state has come without it. */
export function lateError(
  { fetchMs }: Pick<ClientContext, "fetchMs">,
  typeUrl: string,
  want: Want,
  code: "NOT_FOUND" | "UNAVAILABLE",
  leftOut: boolean = want.leftOut,
): XdsError {
  const { name } = want.interest;
  return new XdsError(
    code,
    `the server has not sent ${JSON.stringify(name)} within ${fetchMs / 1_000} s`,
    { typeUrl, resource: name, timedOut: true, ...(leftOut && { leftOut }) },
  );
}
