// npm run example:client -- [HOST:PORT]: a program that reads its configuration from a control plane; see README.md.
import { createClient } from "@xdstp/client";

import { followMesh } from "./follow-mesh.ts";

const [server = "127.0.0.1:18000"] = process.argv.slice(2);
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"])
  process.on(signal, () => {
    stop.abort();
  });

await using client = createClient({
  bootstrap: {
    json: {
      xds_servers: [{ server_uri: server, channel_creds: [{ type: "insecure" }] }],
      node: { id: "example-client" },
    },
  },
});
console.log(`listening to ${server}; Ctrl-C ends it`);
try {
  await followMesh(
    client,
    (line) => {
      console.log(line);
    },
    stop.signal,
  );
} catch (error) {
  if (!stop.signal.aborted) throw error;
}
