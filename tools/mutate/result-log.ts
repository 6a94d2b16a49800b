import { appendFileSync } from "node:fs";
import type { TestedMutant } from "./summary.ts";

/** The file of the folder that Stryker runs in which takes the results, one JSON object a line. */
export const resultLog = "mutation-results.jsonl";

/** A reporter for Stryker that writes down each mutant as soon as it has been tested, so that a run that is stopped has a figure too. */
class ResultLog {
  onMutantTested({ fileName, mutatorName, replacement, status, location }: TestedMutant): void {
    appendFileSync(
      resultLog,
      `${JSON.stringify({ fileName, mutatorName, replacement, status, location })}\n`,
    );
  }
}

/** Read by Stryker. */
export const strykerPlugins = [
  { kind: "Reporter", name: "result-log", injectableClass: ResultLog },
];
