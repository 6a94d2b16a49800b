import { runFederation } from "./run-federation.ts";
const [seed = 1, count = 20, deeds = 150] = process.argv.slice(2).map(Number);
let failed = 0;
for (let n = seed; n < seed + count; n++) {
  const failure = await runFederation(n, undefined, deeds);
  if (failure === undefined) continue;
  console.log(failure);
  if (++failed >= 3) break;
}
console.log(`${failed} failed`);
