import type { LinkKind } from "./use-slow-link.ts";

/** A state and the link that it has to cross. */
export interface SizeCase {
  readonly megabytes: number;
  readonly resources: number;
  readonly link: LinkKind;
}

const MB = 1_000_000;

function link(delayMs: number): LinkKind {
  return {
    title: delayMs === 0 ? "no delay" : `${delayMs} ms each way`,
    delayMs,
    windowBytes: 16 * MB,
    stallMs: 0,
  };
}

/** Windows of 64 KiB, and one chunk of a hundred stops. */
function poor(delayMs: number): LinkKind {
  return {
    title: `${delayMs} ms each way, 64 KiB on the way, 1 % stalls`,
    delayMs,
    windowBytes: 64 * 1024,
    stallMs: 200,
  };
}

/** The cases of CI: one state of each kind, large enough for many DATA frames and many parts. */
const small: readonly SizeCase[] = [
  { megabytes: 4, resources: 1_000, link: link(50) },
  { megabytes: 1, resources: 10_000, link: poor(5) },
];

/** All of them: `XDSTP_REAL_SIZE=full`, about half an hour. */
const full: readonly SizeCase[] = [
  ...[0, 50, 200].flatMap((delayMs) =>
    [1, 10, 50].map((megabytes) => ({
      megabytes,
      resources: 100 * megabytes,
      link: link(delayMs),
    })),
  ),
  { megabytes: 5, resources: 10_000, link: link(50) },
  { megabytes: 25, resources: 50_000, link: link(50) },
  { megabytes: 10, resources: 1_000, link: poor(20) },
];

/** The states that this run tries. */
export const sizeCases: readonly SizeCase[] = process.env.XDSTP_REAL_SIZE === "full" ? full : small;

/** A title for reports. */
export function titleOf({ megabytes, resources, link: { title } }: SizeCase): string {
  return `${megabytes} MB in ${resources} resources, ${title}`;
}
