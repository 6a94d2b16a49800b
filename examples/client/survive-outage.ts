// node --conditions=@xdstp/source survive-outage.ts HOST:PORT DIR: a program that starts while its control plane is down; see README.md.
import { createClient } from "@xdstp/client";
import { openSnapshot } from "@xdstp/snapshot";

const [server = "127.0.0.1:18000", dir = "example-state"] = process.argv.slice(2);

/** A flag is a text: any bytes are one. */
const flag = {
  typeUrl: "type.googleapis.com/acme.v1.Flag",
  decode: (payload: Uint8Array): string => new TextDecoder().decode(payload),
};

const snapshot = openSnapshot({ dir });
await using client = createClient({
  snapshot,
  bootstrap: {
    json: {
      xds_servers: [{ server_uri: server, channel_creds: [{ type: "insecure" }] }],
      node: { id: "example-client" },
    },
  },
});

// The last known value comes before the default, and the answer of the control plane before both.
const theme = client.watch(flag, "theme", { default: "light" });
for await (const { value, isDefault, restoredAt } of theme) {
  const origin =
    isDefault === true ? "default" : restoredAt === undefined ? "current" : "last known";
  console.log(`theme ${value} (${origin})`);
  await snapshot.flush();
  console.log("stored");
}
