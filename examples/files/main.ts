// npm run example:files: resources by names of files; see README.md.
import { runTour } from "./run-tour.ts";

await runTour((line) => {
  console.log(line);
});
