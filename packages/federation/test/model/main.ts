// node --conditions=@xdstp/source test/model/main.ts SEED COUNT DEEDS FEDERATIONS
import { runModel } from "./run-model.ts";

const [seed = 1, count = 100, deeds = 150, federations = 1] = process.argv.slice(2).map(Number);
let failed = 0;
for (let n = seed; n < seed + count; n++) {
  const failure = await runModel(n, deeds, { federations });
  if (failure === undefined) continue;
  console.log(failure);
  if (++failed >= 3) break;
}
console.log(`${failed} failed`);
