const scale = Number(process.env.XDSTP_SCALE ?? 0.01);

/** True if this run has the size of CI (XDSTP_SCALE=0.25) or more. */
export const isLargeRun: boolean = scale >= 0.25;

/**
 * The options of a property that runs 100,000 times at full size. The seed is XDSTP_SEED, or a new
 * one; the message of every failure names it.
 */
export const property: { readonly numRuns: number; readonly seed: number } = {
  numRuns: Math.max(1, Math.round(100_000 * scale)),
  seed: Number(process.env.XDSTP_SEED ?? Math.floor(Math.random() * 2 ** 31)),
};
