// npm run example:relay: an origin, a relay and two clients; then the origin is gone and the relay starts again; see README.md.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { runOutage } from "./run-outage.ts";

const dir = await mkdtemp(join(tmpdir(), "xdstp-relay-"));
try {
  await runOutage(dir, (line) => {
    console.log(line);
  });
} finally {
  await rm(dir, { recursive: true });
}
