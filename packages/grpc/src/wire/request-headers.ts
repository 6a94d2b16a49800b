const milliseconds: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/**
 * Returns the milliseconds of a `grpc-timeout` header, rounded up to an integer, or `undefined` if
 * it is invalid. Valid are 1 to 8 digits and one of H M S m u n.
 *
 * The longest, `99999999H`, is 3.6e14 ms: more than the maximum of a timer, see
 * {@link startDeadline}.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export function parseGrpcTimeout(value: string): number | undefined {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  const factor = unit === undefined ? undefined : milliseconds[unit];
  return factor === undefined ? undefined : Math.ceil(Number(digits) * factor);
}

/** Bytes that each header counts in addition to its name and value (RFC 9113 section 6.5.2). */
const headerOverhead = 32;

/**
 * Returns the size of a header list as HTTP/2 counts it, uncompressed. `rawHeaders` has names and
 * values in turn, with one byte per character.
 */
export function headerListSize(rawHeaders: readonly string[]): number {
  const overhead = (rawHeaders.length / 2) * headerOverhead;
  return rawHeaders.reduce((size, text) => size + text.length, overhead);
}

/**
 * Returns true if the raw path reads a body of this type: `application/grpc` or
 * `application/grpc+proto`, in any case, without regard to parameters.
 */
export function isGrpcContentType(value: string | undefined): boolean {
  return value !== undefined && /^application\/grpc(?:\+proto)?[ \t]*(?:;|$)/i.test(value);
}

/** Returns true if the peer uses gRPC, and so reads a status from trailers. */
export function speaksGrpc(value: string | undefined): boolean {
  return value !== undefined && /^application\/grpc(?:[+;]|$)/i.test(value);
}
