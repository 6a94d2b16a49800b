// node --conditions=@xdstp/source src/simulation/fingerprint-main.ts [SEEDS] [STEPS] [FIRST]: a line for each seed (40 seeds of 20,000 steps from seed 1 on), and one for all of them.
// Run it on two commits and compare the lines: where they are equal, both sent the same frames.
import { fingerprintOf } from "./fingerprint.ts";

Error.stackTraceLimit = 0;
const [seeds = "40", steps = "20000", first = "1"] = process.argv.slice(2);
for (let seed = Number(first); seed < Number(first) + Number(seeds); seed++) {
  const { hash, connections, frames } = await fingerprintOf(seed, Number(steps));
  console.log(`seed ${seed}: ${hash}, ${frames} frames on ${connections} connections`);
}
