const milliseconds: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/**
 * The milliseconds of a `grpc-timeout` header, rounded up to whole ones; undefined if it is none: 1 to 8 digits and one of H M S m u n.
 *
 * The longest, `99999999H`, is 3.6e14: more than a timer takes, see {@link startDeadline}.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
export function parseGrpcTimeout(value: string): number | undefined {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  const factor = unit === undefined ? undefined : milliseconds[unit];
  return factor === undefined ? undefined : Math.ceil(Number(digits) * factor);
}
