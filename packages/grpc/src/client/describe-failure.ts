import type { Target } from "./parse-target.ts";

/** What failed, and how far it had come. */
interface ConnectionFailure {
  readonly target: Target;
  readonly tls: boolean;
  /** HTTP/2 was spoken before. */
  readonly ready: boolean;
  /** A call was answered before. */
  readonly answered: boolean;
  /** What Node or Connect threw; absent: the server closed the connection without a word. */
  readonly error?: unknown;
}

/** Why there is no connection (any more), in one line: what was tried, what came of it, the code to look for, and what to do. */
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

/** Node's error with what it says next to its text. */
interface NodeError extends Error {
  readonly code?: string | number;
  readonly cert?: { readonly subjectaltname?: string };
}

/** The error below those that wrap it. */
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
      return "there is no such socket (ENOENT); check the path, and that the server runs";
    case "EACCES":
    case "EPERM":
      return `this user may not open it (${code})`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `there is no way to it (${code}); check the address and the network`;
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

/** The connection stood, and what came over it was not HTTP/2. */
function notHttp2(error: NodeError, { tls }: ConnectionFailure): string {
  const hint = tls
    ? "does it speak gRPC over TLS, and want a certificate?"
    : "does it speak gRPC, and want TLS?";
  return `no HTTP/2 came of it (${codeOf(error) || plainly(error)}); ${hint}`;
}

/** Over TLS 1.3 a server looks at the certificate of its client when that believes to be connected. */
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

/** The HTTP/2 error with which the server has closed the connection. */
function goawayOf({ message }: NodeError): string | undefined {
  const code = /^Session closed with error code (\d+)$/.exec(message)?.[1];
  return code === undefined ? undefined : http2ErrorName(Number(code));
}

function certificateWanted(code: string): string {
  return `the server wants a client certificate that it trusts (${code}); give one as tls.cert and tls.key`;
}

/** Connect's codes are numbers, and say less than its texts. */
function codeOf({ code }: NodeError): string {
  return typeof code === "string" ? code : "";
}

/** By their numbers in RFC 9113. */
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

/** The name of an error code of HTTP/2. */
export function http2ErrorName(code: number): string {
  return names[code] ?? `code ${code}`;
}
