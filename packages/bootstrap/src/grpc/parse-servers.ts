import type { BootstrapServer, JsonObject } from "./bootstrap.ts";
import { parseCredentials } from "./parse-credentials.ts";
import { asObject, itemsIn, required, stringIn, type Placed } from "./place.ts";

/** `xds_servers` of a bootstrap or of an authority; none where it is absent. */
export function parseServers(parent: Placed<JsonObject>): readonly BootstrapServer[] {
  return itemsIn(parent, "xds_servers").map((item) => {
    const server = asObject(item);
    const uri = stringIn(server, "server_uri");
    return {
      uri: required(
        uri === "" ? undefined : uri,
        server,
        "server_uri",
        'a string like "host:port"',
      ),
      credentials: parseCredentials(server),
      features: featuresOf(server),
    };
  });
}

/** What is not a string is a feature of days to come. */
function featuresOf(server: Placed<JsonObject>): ReadonlySet<string> {
  return new Set(
    itemsIn(server, "server_features")
      .map(({ value }) => value)
      .filter((value) => typeof value === "string"),
  );
}
