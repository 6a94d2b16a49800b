/**
 * The status codes of gRPC by name. A stream ends with one of them; `google.rpc.Status` in `error_detail` and `resource_errors` carries the same numbers.
 *
 * @see https://grpc.github.io/grpc/core/md_doc_statuscodes.html
 */
export const StatusCode = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

/** The name of a status code, as {@link XdsError.code} carries it. */
export type StatusName = keyof typeof StatusCode;

/** How a call ended. `message` is for people; towards a peer it is a fixed text, never one that a peer or a bug chose (S-STREAM-7). */
export interface Status {
  /** The number, one of {@link StatusCode}. */
  readonly code: number;
  /** A text for people; empty: none. */
  readonly message: string;
}

const names: ReadonlyMap<number, StatusName> = new Map(
  Object.entries(StatusCode).map(([name, code]) => [code, name as StatusName]),
);

/** The name of a code; undefined: it is none. */
export function statusNameOf(code: number): StatusName | undefined {
  return names.get(code);
}
