// npm run example:browser: a page that shows a feature flag, and each change of it; see README.md. With --once, the tour without a browser.
import { flagFolder, startFlagServer } from "./flag-server.ts";
import { startPageServer } from "./page-server.ts";
import { runTour } from "./run-tour.ts";

if (process.argv.includes("--once"))
  await runTour((line) => {
    console.log(line);
  });
else {
  const server = await startFlagServer(flagFolder);
  const pages = await startPageServer();
  console.log(`Open ${pages.url}?server=${server.origin}`);
  console.log(`or   ${pages.url}websocket?server=${server.webSocketUrl}`);
  console.log(`and edit ${flagFolder}/flags.example/flags.v1.Flag/checkout/new-cart.yaml.`);
  console.log("Ctrl-C ends it.");
  process.once("SIGINT", () => {
    void Promise.all([server[Symbol.asyncDispose](), pages[Symbol.asyncDispose]()]);
  });
}
