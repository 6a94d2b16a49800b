import fc from "fast-check";

/** XDSTP_SEED chooses the random cases of a run. Absent: new cases in each run. */
const seed = process.env.XDSTP_SEED;

if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
