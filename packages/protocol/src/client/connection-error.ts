import { type Status, statusNameOf, XdsError } from "@xdstp/core";
import { errorText } from "../text/error-text.ts";

/** Why nothing can be had from a server for now (C-GRPC-4). The code is always UNAVAILABLE: that of the control plane is never handed on as one of the application, it stands in the text (C-GRPC-5). */
export function connectionError({ code, message }: Status, atMost: number): XdsError {
  const text = message === "" ? "" : `: ${errorText(message, atMost)}`;
  return new XdsError(
    "UNAVAILABLE",
    `the management server has answered nothing on this stream [${statusNameOf(code) ?? `code ${code}`}]${text}`,
  );
}
