// npm run measure -- --calls: how often one drain, one intake of a client and one change through a relay cross from one package into another, and go back to where they came from, as lists of calls.
import { notes } from "./hooks.ts";
import { printCrossings } from "./crossings.ts";

const { scenarios } = await import("../../../bench/calls/scenarios.ts");
for (const { title, run } of scenarios) {
  const crossings = await notes.of(await run());
  const back = crossings.filter(({ isBack }) => isBack).length;
  console.log(
    `${title}: ${String(crossings.length)} calls into another package, ${String(back)} of them back to where they came from`,
  );
  console.log(`${printCrossings(crossings).replace(/^/gmu, "  ")}\n`);
}
process.exit();
