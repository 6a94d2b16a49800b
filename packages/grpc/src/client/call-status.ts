import { constants, type IncomingHttpHeaders } from "node:http2";
import { codeFromHttpStatus } from "@connectrpc/connect/protocol-grpc";
import { StatusCode, type Status } from "@xdstp/core";
import { isGrpcContentType } from "../wire/request-headers.ts";
import { http2ErrorName } from "./describe-failure.ts";

const longestMessage = 2048;

/**
 * The status that headers or trailers carry; undefined: none. Its text is what the server says, in one line and cut at 2,048 characters.
 * Connect's reader is not used: it throws at a broken percent sign, and lets `grpc-status-details-bin` overrule the status.
 */
export function statusIn(headers: IncomingHttpHeaders): Status | undefined {
  const { "grpc-status": status, "grpc-message": message } = headers;
  if (status === undefined) return undefined;
  const code = /^\d{1,2}$/.test(String(status)) ? Number(status) : -1;
  if (code === StatusCode.OK) return { code, message: "" };
  const text = oneLine(decodeGrpcMessage(String(message ?? "")));
  return code > 0 && code <= StatusCode.UNAUTHENTICATED
    ? { code, message: text }
    : {
        code: StatusCode.UNKNOWN,
        message: `the server ended the call with the unknown grpc-status ${oneLine(String(status)).slice(0, 16)}: ${text}`,
      };
}

/** What is wrong with the head of an answer that carries no status; undefined: messages follow. */
export function headProblem(headers: IncomingHttpHeaders): Status | undefined {
  const http = Number(headers[":status"]);
  if (http !== 200)
    return {
      code: codeFromHttpStatus(http),
      message: `the server answered with HTTP ${http}: ${hintOf(http)}`,
    };
  const type = headers["content-type"];
  if (isGrpcContentType(type)) return undefined;
  return {
    code: StatusCode.UNKNOWN,
    message: `the server answered with the content type ${oneLine(type ?? "none").slice(0, 64)}, not application/grpc`,
  };
}

function hintOf(http: number): string {
  if (http === 404) return "is the service served at this address?";
  if (http === 401 || http === 403) return "does it want credentials?";
  if (http === 429 || http >= 502) return "try again later";
  return "is it a gRPC server?";
}

/** How a call ended that was reset, or ended without a status. */
export function statusOfReset(code: number): Status {
  if (code === constants.NGHTTP2_NO_ERROR)
    return { code: StatusCode.INTERNAL, message: "the server ended the call without a status" };
  return {
    code: resetCodes.get(code) ?? StatusCode.INTERNAL,
    message: `the server reset the call (${http2ErrorName(code)})`,
  };
}

/** As gRPC maps them; all others are INTERNAL. */
const resetCodes = new Map<number, number>([
  [constants.NGHTTP2_REFUSED_STREAM, StatusCode.UNAVAILABLE],
  [constants.NGHTTP2_CANCEL, StatusCode.CANCELLED],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, StatusCode.RESOURCE_EXHAUSTED],
  [constants.NGHTTP2_INADEQUATE_SECURITY, StatusCode.PERMISSION_DENIED],
]);

/** What a broken percent sign begins stays as it is. */
function decodeGrpcMessage(text: string): string {
  return text
    .slice(0, 3 * longestMessage)
    .replace(/(?:%[0-9a-f]{2})+/gi, (escaped) =>
      Buffer.from(escaped.replaceAll("%", ""), "hex").toString(),
    );
}

/** Control characters are removed, so that a text cannot control a terminal. */
const controls = /[\p{Cc}\u2028\u2029]+/gu;

function oneLine(text: string): string {
  return text.replace(controls, " ").slice(0, longestMessage);
}
