// npm run example:rest: xDS over HTTP polls, for clients without gRPC; see README.md.
import { runTour } from "./run-tour.ts";

await runTour((line) => {
  console.log(line);
});
