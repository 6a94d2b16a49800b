// npm run example:files: files of configuration and names of files; see README.md.
import { followResponse } from "./follow-response.ts";
import { runTour } from "./run-tour.ts";

const say = (line: string): void => {
  console.log(line);
};
await followResponse(say);
await runTour(say);
