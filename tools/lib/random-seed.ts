import fc from "fast-check";

/** XDSTP_SEED: the random cases of a run, to have them again. Absent: new ones in each run. */
const seed = process.env.XDSTP_SEED;

if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) });
