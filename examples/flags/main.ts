// npm run example:flags: typed configuration that is not Envoy's, with a proto of its own; see README.md.
import { runTour } from "./run-tour.ts";

await runTour((line) => {
  console.log(line);
});
