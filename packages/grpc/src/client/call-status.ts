import { constants, type IncomingHttpHeaders } from "node:http2";
import { codeFromHttpStatus } from "@connectrpc/connect/protocol-grpc";
import { type Status, StatusCode } from "@xdstp/core";

import { isGrpcContentType } from "../wire/request-headers.ts";
import type { Target } from "./parse-target.ts";

const longestMessage = 2048;

/**
 * Returns the status in headers or trailers, or `undefined` if there is none. Its text is the
 * message of the server, in one line and cut at 2,048 characters.
 * Does not use the reader of Connect, which throws on an invalid percent sign, and lets
 * `grpc-status-details-bin` override the status.
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

/**
 * Returns the status for response headers that are not those of a gRPC response, or `undefined` if
 * messages follow.
 */
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

/** Returns the status of a call that was reset, or that ended without a status. */
export function statusOfReset(code: number): Status {
  if (code === constants.NGHTTP2_NO_ERROR)
    return { code: StatusCode.INTERNAL, message: "the server ended the call without a status" };
  return {
    code: resetCodes.get(code) ?? StatusCode.INTERNAL,
    message: `the server reset the call (${http2ErrorName(code)})`,
  };
}

/** The mapping of gRPC. All other codes become INTERNAL. */
const resetCodes = new Map<number, number>([
  [constants.NGHTTP2_REFUSED_STREAM, StatusCode.UNAVAILABLE],
  [constants.NGHTTP2_CANCEL, StatusCode.CANCELLED],
  [constants.NGHTTP2_ENHANCE_YOUR_CALM, StatusCode.RESOURCE_EXHAUSTED],
  [constants.NGHTTP2_INADEQUATE_SECURITY, StatusCode.PERMISSION_DENIED],
]);

/** Decodes percent encoding. An invalid percent sign stays unchanged. */
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

/** A failed connection, and how far it had come. */
interface ConnectionFailure {
  readonly target: Target;
  readonly tls: boolean;
  /** True if the server has answered over HTTP/2. */
  readonly ready: boolean;
  /** True if a call was answered. */
  readonly answered: boolean;
  /** The error of Node or Connect. Absent: the server closed the connection without an error. */
  readonly error?: unknown;
}

/**
 * Returns one line about why there is no connection (any more): the target, the reason with its
 * code, and how to fix it.
 */
export function describeFailure(failure: ConnectionFailure): string {
  const { target, ready, error } = failure;
  const cause = rootOf(error);
  const why =
    wordsFor(codeOf(cause), cause, failure) ??
    (ready ? ended(cause, failure) : notHttp2(cause, failure));
  return `${ready ? "lost the connection to" : "cannot connect to"} ${target.text}: ${why}`
    .replace(/\s+/g, " ")
    .slice(0, 400);
}

/** An error of Node with its additional fields. */
interface NodeError extends Error {
  readonly code?: string | number;
  readonly cert?: { readonly subjectaltname?: string };
}

/** Returns the innermost cause of an error. */
function rootOf(error: unknown): NodeError {
  let root = error;
  for (let depth = 0; depth < 8 && root instanceof Error && root.cause instanceof Error; depth++)
    root = root.cause;
  return root instanceof Error ? root : new Error("the server closed it");
}

function wordsFor(
  code: string,
  error: NodeError,
  { target, tls, ready }: ConnectionFailure,
): string | undefined {
  const host = "host" in target.address ? target.address.host : target.address.path;
  switch (code) {
    case "EAI_AGAIN":
      return `DNS does not answer for ${host} (EAI_AGAIN); check the name servers of this machine`;
    case "ENOTFOUND":
    case "EAI_NODATA":
      return `DNS does not know ${host} (${code}); check the name`;
    case "ECONNREFUSED":
      return "nothing listens there (ECONNREFUSED); check the port, and that the server runs";
    case "ENOENT":
      return "the socket does not exist (ENOENT); check the path, and that the server runs";
    case "EACCES":
    case "EPERM":
      return `this user may not open it (${code})`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `it cannot be reached (${code}); check the address and the network`;
    case "ETIMEDOUT":
      return ready
        ? "it went silent (ETIMEDOUT)"
        : `${plainly(error)}; check the address and the firewall`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `its certificate is for ${error.cert?.subjectaltname ?? "no name"} (${code}); check the name, or set tls.servername`;
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return `its certificate is not valid now (${code}); renew it, or set the clock`;
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "CERT_SIGNATURE_FAILURE":
      return `the authority that signed its certificate is not trusted here (${code}); give it as tls.ca`;
    default:
      return tls ? tlsWords(code) : undefined;
  }
}

function tlsWords(code: string): string | undefined {
  if (code.includes("CERTIFICATE_REQUIRED")) return certificateWanted(code);
  if (/_ALERT_|_ALERT$/.test(code))
    return `it rejected the TLS of this client (${code}); does it want another certificate?`;
  return code.startsWith("ERR_SSL_") || code === "EPROTO"
    ? `it does not speak TLS (${code}); connect without tls, or to its TLS port`
    : undefined;
}

/** Describes a connection that was established, but over which the server did not send HTTP/2. */
function notHttp2(error: NodeError, { tls }: ConnectionFailure): string {
  const hint = tls
    ? "does it speak gRPC over TLS, and want a certificate?"
    : "does it speak gRPC, and want TLS?";
  return `no HTTP/2 came of it (${codeOf(error) || plainly(error)}); ${hint}`;
}

/**
 * Describes a connection that ended. Over TLS 1.3 a server checks the certificate of its client
 * after the client counts as connected, so a missing certificate may be the reason.
 */
function ended(error: NodeError, { tls, answered }: ConnectionFailure): string {
  if (tls && !answered && goawayOf(error) === "INADEQUATE_SECURITY")
    return certificateWanted("INADEQUATE_SECURITY");
  return `${plainly(error)}${tls && !answered ? "; does it want a certificate of this client, or another one?" : ""}`;
}

function plainly(error: NodeError): string {
  const goaway = goawayOf(error);
  if (goaway !== undefined) return `the server ended it (${goaway})`;
  const text = error.message.replace(/^\[\w+\] /, "");
  const code = codeOf(error);
  return code === "" || text.includes(code) ? text : `${text} (${code})`;
}

/** Returns the HTTP/2 error with which the server has closed the connection. */
function goawayOf({ message }: NodeError): string | undefined {
  const code = /^Session closed with error code (\d+)$/.exec(message)?.[1];
  return code === undefined ? undefined : http2ErrorName(Number(code));
}

function certificateWanted(code: string): string {
  return `the server wants a client certificate that it trusts (${code}); give one as tls.cert and tls.key`;
}

/**
 * Returns the code of an error of Node. The codes of Connect are numbers, and less precise than its
 * texts.
 */
function codeOf({ code }: NodeError): string {
  return typeof code === "string" ? code : "";
}

/** HTTP/2 error names by number (RFC 9113). */
const names = [
  "NO_ERROR",
  "PROTOCOL_ERROR",
  "INTERNAL_ERROR",
  "FLOW_CONTROL_ERROR",
  "SETTINGS_TIMEOUT",
  "STREAM_CLOSED",
  "FRAME_SIZE_ERROR",
  "REFUSED_STREAM",
  "CANCEL",
  "COMPRESSION_ERROR",
  "CONNECT_ERROR",
  "ENHANCE_YOUR_CALM",
  "INADEQUATE_SECURITY",
  "HTTP_1_1_REQUIRED",
];

/** Returns the name of an HTTP/2 error code. */
function http2ErrorName(code: number): string {
  return names[code] ?? `code ${code}`;
}
