// npm run example:per-node: two tiers of clients get other content under the same name; see README.md.
import { runTiers } from "./run-tiers.ts";

await runTiers((line) => {
  console.log(line);
});
