import { type Interest, type Status, statusNameOf, XdsError } from "@xdstp/core";
import { cutText } from "../text/cut-text.ts";
import type { ClientContext } from "./client-context.ts";
import type { RejectedName } from "./client-event.ts";

/**
 * Returns the error of a name that has not come in time (C-MISS-4). `leftOut`: a full state has
 * come without it.
 */
export function lateError(
  { fetchMs }: Pick<ClientContext, "fetchMs">,
  typeUrl: string,
  { name }: Interest,
  code: "NOT_FOUND" | "UNAVAILABLE",
  leftOut: boolean,
): XdsError {
  return new XdsError(
    code,
    `the server has not sent ${JSON.stringify(name)} within ${fetchMs / 1_000} s`,
    { typeUrl, resource: name, reason: leftOut ? "left-out" : "late" },
  );
}

/**
 * Returns the error of a server that is unavailable for now (C-GRPC-4). The code is always
 * UNAVAILABLE: the status code of the control plane is not passed on as the status of a request of
 * the application; it is in the text (C-GRPC-5).
 */
export function connectionError({ code, message }: Status): XdsError {
  const text = message === "" ? "" : `: ${message}`;
  return new XdsError(
    "UNAVAILABLE",
    `the management server has answered nothing on this stream [${statusNameOf(code) ?? `code ${code}`}]${text}`,
  );
}

/**
 * Returns the text of a NACK: every rejected name with its reason (C-ACK-5), up to `atMost` UTF-16
 * units.
 */
export function rejectionText(rejected: readonly RejectedName[], atMost: number): string {
  let text = rejected.length === 1 ? "" : `${rejected.length} resources rejected: `;
  for (const [index, { name, error }] of rejected.entries()) {
    if (text.length >= atMost) break;
    text += `${index === 0 ? "" : "; "}${JSON.stringify(name)}: ${error.text}`;
  }
  return text.length <= atMost ? text : `${cutText(text, atMost - 3)}...`;
}
