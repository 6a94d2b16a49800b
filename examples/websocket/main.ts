// npm run example:websocket: a transport of one's own, for both ends; see README.md.
import { runTour } from "./run-tour.ts";

await runTour((line) => {
  console.log(line);
});
