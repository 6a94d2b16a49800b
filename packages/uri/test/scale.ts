const scale = Number(process.env.XDSTP_SCALE ?? 0.01);

/** Whether this run has the sizes that the project promises (XDSTP_SCALE=1). */
export const atFullSize: boolean = scale >= 1;

/** Options of a property that full size runs 100,000 times. The seed is XDSTP_SEED, else a new one; fast-check names it in the message of every failure. */
export const property: { readonly numRuns: number; readonly seed: number } = {
  numRuns: Math.max(1, Math.round(100_000 * scale)),
  seed: Number(process.env.XDSTP_SEED ?? Math.floor(Math.random() * 2 ** 31)),
};
