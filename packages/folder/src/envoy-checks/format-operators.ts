import { quote } from "../folder-problem.ts";
import { celFault } from "./cel-expression.ts";

/** The form of an operator: its argument in parentheses, and its length after a colon. */
interface OperatorForm {
  /** Returns the problem of an argument, as the predicate of a sentence about it. undefined: it is valid. Default: the operator has no argument. */
  readonly argument?: (text: string) => string | undefined;
  readonly needsArgument?: boolean;
  readonly takesLength?: boolean;
}

const anything = (): undefined => undefined;

/** Allows one of the first texts, followed by a colon and one of the second texts. */
function oneOf(
  first: readonly string[],
  second: readonly string[] = [],
): NonNullable<OperatorForm["argument"]> {
  return (text) => {
    const [option = "", more] = text.split(":");
    if (option !== "" && !first.includes(option)) return `is not one of ${first.join(", ")}`;
    if (more === undefined || more === "" || second.length === 0 || second.includes(more))
      return undefined;
    return `has ${quote(more)} behind the colon, which is not one of ${second.join(", ")}`;
  };
}

/** Allows a header name, followed by a question mark and an alternative header. */
function headers(text: string): string | undefined {
  const names = text.split("?");
  if (names.length > 2) return 'has more than one "?"';
  const bad = names.find((name) => name !== "" && !/^:?[\w!#$%&'*+.^`|~-]+$/.test(name));
  return bad === undefined ? undefined : `has ${quote(bad)}, which is not the name of a header`;
}

function time(text: string): string | undefined {
  return /%[-_0^#]*[1-9]*[EO]?n/.test(text) ? "has a line end, %n" : undefined;
}

const precisions: readonly string[] = ["ms", "us", "ns"];

function duration(text: string): string | undefined {
  const parts = text.split(":");
  const [, , precision] = parts;
  if (parts.length < 2 || parts.length > 3) return "is not START:END or START:END:PRECISION";
  return precision === undefined || precisions.includes(precision)
    ? undefined
    : `has the precision ${quote(precision)}, which is not one of ${precisions.join(", ")}`;
}

function filterState(text: string): string | undefined {
  const [key = "", form, field] = text.split(":");
  if (key === "") return "has no key";
  if ((form === "FIELD") !== (field !== undefined && field !== ""))
    return "is not KEY, KEY:PLAIN, KEY:TYPED or KEY:FIELD:NAME";
  return form === undefined || ["PLAIN", "TYPED", "FIELD"].includes(form)
    ? undefined
    : `has ${quote(form)} behind the colon, which is not one of PLAIN, TYPED, FIELD`;
}

const metadataOwners = [
  "CLUSTER",
  "DYNAMIC",
  "LISTENER",
  "LISTENER_FILTER_CHAIN",
  "ROUTE",
  "UPSTREAM_HOST",
  "VIRTUAL_HOST",
];

function metadata(text: string): string | undefined {
  const [owner = ""] = text.split(":");
  return metadataOwners.includes(owner)
    ? undefined
    : `does not begin with one of ${metadataOwners.join(", ")}`;
}

const elements: readonly string[] = ["by", "hash", "cert", "chain", "subject", "uri", "dns"];

function clientCertificate(text: string): string | undefined {
  return elements.includes(text.toLowerCase()) ? undefined : `is not one of ${elements.join(", ")}`;
}

/** Allows a JSON list of operators. Envoy uses the first one that has a value. */
function alternatives(text: string): string | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return "is not JSON";
  }
  const { operators } = (json ?? {}) as { readonly operators?: unknown };
  if (!Array.isArray(operators)) return "has no list of operators";
  if (operators.length === 0) return "has an empty list of operators";
  for (const one of operators as readonly unknown[]) {
    const {
      command,
      param,
      max_length: length,
    } = (typeof one === "string" ? { command: one } : (one ?? {})) as Readonly<
      Record<string, unknown>
    >;
    if (typeof command !== "string") return "has an operator without command";
    if (length !== undefined && !(typeof length === "number" && length > 0))
      return "has a max_length that is not a number above 0";
    const fault = operatorFault({
      name: command,
      argument: typeof param === "string" ? param : undefined,
      hasLength: false,
    });
    if (fault !== undefined) return `has an operator that ${fault}`;
  }
  return undefined;
}

const withHeaders = { argument: headers, needsArgument: true, takesLength: true };
const withTime = { argument: time };
const withState = { argument: filterState, needsArgument: true, takesLength: true };

/** The operators that take an argument. */
const forms: Readonly<Record<string, OperatorForm>> = {
  CEL: { argument: celFault, needsArgument: true, takesLength: true },
  CLUSTER_METADATA: { argument: anything, needsArgument: true },
  COALESCE: { argument: alternatives, needsArgument: true, takesLength: true },
  COMMON_DURATION: { argument: duration, needsArgument: true },
  DOWNSTREAM_DIRECT_LOCAL_ADDRESS_WITHOUT_PORT: { argument: anything },
  DOWNSTREAM_DIRECT_REMOTE_ADDRESS_WITHOUT_PORT: { argument: anything },
  DOWNSTREAM_LOCAL_ADDRESS_WITHOUT_PORT: { argument: anything },
  DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: { argument: anything },
  DOWNSTREAM_PEER_CERT_V_END: withTime,
  DOWNSTREAM_PEER_CERT_V_START: withTime,
  DYNAMIC_METADATA: { argument: anything, needsArgument: true, takesLength: true },
  EMIT_TIME: withTime,
  EMIT_TIME_LOCAL: withTime,
  ENVIRONMENT: { argument: anything, needsArgument: true, takesLength: true },
  FILTER_STATE: withState,
  GRPC_STATUS: {
    argument: (text) =>
      ["CAMEL_STRING", "SNAKE_STRING", "NUMBER"].includes(text)
        ? undefined
        : "is not one of CAMEL_STRING, SNAKE_STRING, NUMBER",
  },
  METADATA: { argument: metadata, needsArgument: true, takesLength: true },
  PATH: {
    argument: oneOf(["WQ", "NQ"], ["ORIG", "PATH", "ORIG_OR_PATH"]),
    takesLength: true,
  },
  QUERY_PARAM: { argument: anything, needsArgument: true, takesLength: true },
  QUERY_PARAMS: { argument: oneOf(["ORIG", "DECODED"]), takesLength: true },
  REQ: withHeaders,
  REQUEST_HEADER: withHeaders,
  REQUESTED_SERVER_NAME: {
    argument: oneOf(["SNI_ONLY", "SNI_FIRST", "HOST_FIRST"], ["ORIG_OR_HOST", "HOST", "ORIG"]),
  },
  RESP: withHeaders,
  RESPONSE_HEADER: withHeaders,
  RESPONSE_TRAILER: withHeaders,
  RESPONSE_CODE_DETAILS: { argument: anything },
  START_TIME: withTime,
  START_TIME_LOCAL: withTime,
  STREAM_INFO_REQ: withHeaders,
  TRAILER: withHeaders,
  UPSTREAM_FILTER_STATE: withState,
  UPSTREAM_LOCAL_ADDRESS_WITHOUT_PORT: { argument: anything },
  UPSTREAM_REMOTE_ADDRESS_WITHOUT_PORT: { argument: anything },
  UPSTREAM_METADATA: { argument: anything, needsArgument: true },
  UPSTREAM_PEER_CERT_V_END: withTime,
  UPSTREAM_PEER_CERT_V_START: withTime,
  XFCC_VALUE: { argument: clientCertificate, needsArgument: true, takesLength: true },
};

/** The operators of format strings in Envoy 1.40 that have neither argument nor length. Operators of configured formatters are not included. */
const plain: ReadonlySet<string> = new Set([
  "ACCESS_LOG_TYPE",
  "BYTES_RECEIVED",
  "BYTES_RETRANSMITTED",
  "BYTES_SENT",
  "CONNECTION_ID",
  "CONNECTION_TERMINATION_DETAILS",
  "CUSTOM_FLAGS",
  "DOWNSTREAM_CX_RTT",
  "DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED",
  "DOWNSTREAM_DECOMPRESSED_HEADER_BYTES_SENT",
  "DOWNSTREAM_DETECTED_CLOSE_TYPE",
  "DOWNSTREAM_DIRECT_LOCAL_ADDRESS",
  "DOWNSTREAM_DIRECT_LOCAL_ADDRESS_ENDPOINT_ID",
  "DOWNSTREAM_DIRECT_LOCAL_PORT",
  "DOWNSTREAM_DIRECT_REMOTE_ADDRESS",
  "DOWNSTREAM_DIRECT_REMOTE_PORT",
  "DOWNSTREAM_HANDSHAKE_DURATION",
  "DOWNSTREAM_HEADER_BYTES_RECEIVED",
  "DOWNSTREAM_HEADER_BYTES_SENT",
  "DOWNSTREAM_LOCAL_ADDRESS",
  "DOWNSTREAM_LOCAL_ADDRESS_ENDPOINT_ID",
  "DOWNSTREAM_LOCAL_CLOSE_REASON",
  "DOWNSTREAM_LOCAL_DNS_SAN",
  "DOWNSTREAM_LOCAL_EMAIL_SAN",
  "DOWNSTREAM_LOCAL_IP_SAN",
  "DOWNSTREAM_LOCAL_OTHERNAME_SAN",
  "DOWNSTREAM_LOCAL_PORT",
  "DOWNSTREAM_LOCAL_SUBJECT",
  "DOWNSTREAM_LOCAL_URI_SAN",
  "DOWNSTREAM_PEER_CERT",
  "DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_1",
  "DOWNSTREAM_PEER_CHAIN_FINGERPRINTS_256",
  "DOWNSTREAM_PEER_CHAIN_SERIALS",
  "DOWNSTREAM_PEER_DNS_SAN",
  "DOWNSTREAM_PEER_EMAIL_SAN",
  "DOWNSTREAM_PEER_FINGERPRINT_1",
  "DOWNSTREAM_PEER_FINGERPRINT_256",
  "DOWNSTREAM_PEER_IP_SAN",
  "DOWNSTREAM_PEER_ISSUER",
  "DOWNSTREAM_PEER_ISSUER_FINGERPRINT_256",
  "DOWNSTREAM_PEER_ISSUER_SERIAL",
  "DOWNSTREAM_PEER_OTHERNAME_SAN",
  "DOWNSTREAM_PEER_SERIAL",
  "DOWNSTREAM_PEER_SUBJECT",
  "DOWNSTREAM_PEER_URI_SAN",
  "DOWNSTREAM_REMOTE_ADDRESS",
  "DOWNSTREAM_REMOTE_PORT",
  "DOWNSTREAM_TLS_CIPHER",
  "DOWNSTREAM_TLS_GROUP",
  "DOWNSTREAM_TLS_SESSION_ID",
  "DOWNSTREAM_TLS_VERSION",
  "DOWNSTREAM_TRANSPORT_FAILURE_REASON",
  "DOWNSTREAM_WIRE_BYTES_RECEIVED",
  "DOWNSTREAM_WIRE_BYTES_SENT",
  "DURATION",
  "FILTER_CHAIN_NAME",
  "GRPC_STATUS_NUMBER",
  "HOSTNAME",
  "LISTENER_NAME",
  "LOCAL_REPLY_BODY",
  "PACKETS_RETRANSMITTED",
  "PROTOCOL",
  "REQUEST_DURATION",
  "REQUEST_HEADERS_BYTES",
  "REQUEST_TX_DURATION",
  "RESPONSE_CODE",
  "RESPONSE_DURATION",
  "RESPONSE_FLAGS",
  "RESPONSE_FLAGS_LONG",
  "RESPONSE_HEADERS_BYTES",
  "RESPONSE_TRAILERS_BYTES",
  "RESPONSE_TX_DURATION",
  "ROUNDTRIP_DURATION",
  "ROUTE_NAME",
  "ROUTE_RESOLUTION_COUNT",
  "ROUTE_RESOLUTION_TIME_US",
  "SPAN_ID",
  "STREAM_ID",
  "TLS_JA3_FINGERPRINT",
  "TLS_JA4_FINGERPRINT",
  "TRACE_ID",
  "UNIQUE_ID",
  "UPSTREAM_CLUSTER",
  "UPSTREAM_CLUSTER_RAW",
  "UPSTREAM_CONNECTION_ID",
  "UPSTREAM_CONNECTION_IDS_ATTEMPTED",
  "UPSTREAM_CONNECTION_POOL_READY_DURATION",
  "UPSTREAM_DECOMPRESSED_HEADER_BYTES_RECEIVED",
  "UPSTREAM_DECOMPRESSED_HEADER_BYTES_SENT",
  "UPSTREAM_DETECTED_CLOSE_TYPE",
  "UPSTREAM_HEADER_BYTES_RECEIVED",
  "UPSTREAM_HEADER_BYTES_SENT",
  "UPSTREAM_HOST",
  "UPSTREAM_HOSTS_ATTEMPTED",
  "UPSTREAM_HOSTS_ATTEMPTED_WITHOUT_PORT",
  "UPSTREAM_HOST_NAME",
  "UPSTREAM_HOST_NAMES_ATTEMPTED",
  "UPSTREAM_HOST_NAMES_ATTEMPTED_WITHOUT_PORT",
  "UPSTREAM_HOST_NAME_WITHOUT_PORT",
  "UPSTREAM_LOCAL_ADDRESS",
  "UPSTREAM_LOCAL_CLOSE_REASON",
  "UPSTREAM_LOCAL_DNS_SAN",
  "UPSTREAM_LOCAL_IP_SAN",
  "UPSTREAM_LOCAL_PORT",
  "UPSTREAM_LOCAL_URI_SAN",
  "UPSTREAM_PEER_CERT",
  "UPSTREAM_PEER_DNS_SAN",
  "UPSTREAM_PEER_IP_SAN",
  "UPSTREAM_PEER_ISSUER",
  "UPSTREAM_PEER_SUBJECT",
  "UPSTREAM_PEER_URI_SAN",
  "UPSTREAM_PROTOCOL",
  "UPSTREAM_REMOTE_ADDRESS",
  "UPSTREAM_REMOTE_ADDRESS_ENDPOINT_ID",
  "UPSTREAM_REMOTE_PORT",
  "UPSTREAM_REQUEST_ATTEMPT_COUNT",
  "UPSTREAM_SERVER_NAME",
  "UPSTREAM_TLS_CIPHER",
  "UPSTREAM_TLS_GROUP",
  "UPSTREAM_TLS_SESSION_ID",
  "UPSTREAM_TLS_VERSION",
  "UPSTREAM_TRANSPORT_FAILURE_REASON",
  "UPSTREAM_WIRE_BYTES_RECEIVED",
  "UPSTREAM_WIRE_BYTES_SENT",
  "VIRTUAL_CLUSTER_NAME",
]);

/** Operators that exist only in header values. */
const ofHeaders: Readonly<Record<string, OperatorForm>> = {
  PER_REQUEST_STATE: { argument: anything, needsArgument: true, takesLength: true },
};

/** An operator of a format: `%NAME(argument):length%`. */
export interface Operator {
  readonly name: string;
  readonly argument: string | undefined;
  readonly hasLength: boolean;
  /** True if it is in a header value. */
  readonly isOfHeader?: boolean;
}

function formOf(name: string): OperatorForm | undefined {
  return Object.hasOwn(forms, name) ? forms[name] : undefined;
}

/** Returns true if Envoy has an operator without configured formatters. */
export function isOperator(name: string): boolean {
  return plain.has(name) || Object.hasOwn(forms, name);
}

/** Returns the reason why Envoy rejects an operator, as the predicate of a sentence about the format. undefined: Envoy accepts it. */
export function operatorFault({
  name,
  argument = "",
  hasLength,
  isOfHeader = false,
}: Operator): string | undefined {
  if (plain.has(name))
    return argument === "" && !hasLength
      ? undefined
      : `has the operator %${name}% with ${argument === "" ? "a length" : "an argument"}, which it does not take`;
  const form = (isOfHeader ? ofHeaders[name] : undefined) ?? formOf(name);
  if (form === undefined) return `has the operator %${name}%, which Envoy does not know`;
  if (argument === "")
    if (form.needsArgument === true)
      return `has the operator %${name}% without its argument: %${name}(...)%`;
    else if (!hasLength || form.takesLength === true) return undefined;
  if (hasLength && form.takesLength !== true)
    return `has the operator %${name}% with a length, which it does not take`;
  const fault = form.argument?.(argument);
  return fault === undefined
    ? undefined
    : `has the operator %${name}%, whose argument ${quote(argument)} ${fault}`;
}
