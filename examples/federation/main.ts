// npm run example:federation: two control planes for two authorities, a program that reads of both, and an outage; see README.md.
import { startPlane } from "./plane.ts";
import { runTour } from "./run-tour.ts";

await using cloud = await startPlane("cloud");
await using premises = await startPlane("premises");
await runTour({ cloud, premises }, (line) => {
  console.log(line);
});
