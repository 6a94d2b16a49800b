import { createServer, type ServerResponse } from "node:http";
import { clusterTemplate } from "../clusters.ts";
import { listen } from "../server/listen.ts";
import type { PollServer } from "./poll-server.ts";

/** Plain `node:http`: one buffer for all, and the headers that xdstp sends. */
export async function startNativeFloor(): Promise<PollServer> {
  const template = clusterTemplate();
  let waiting: ServerResponse[] = [];
  let [version, body] = ["0", template.fill(0, 0)];
  const answer = (response: ServerResponse): void => {
    response.writeHead(200, {
      "cache-control": "public, max-age=60, stale-if-error=86340",
      "xds-position": `aaaaaaaa.${version}`,
      "xds-version": version,
      etag: `"${version}"`,
      "content-type": "application/x-protobuf",
      "content-length": String(body.length),
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "age, etag, location, xds-position, xds-ttl, xds-version",
    });
    response.end(body);
  };
  const server = createServer((request, response) => {
    if (request.url?.includes(`after=${version}&`) === true) waiting.push(response);
    else answer(response);
  });
  return {
    port: await listen(server),
    change(stamp) {
      [version, body] = [String(stamp), template.fill(0, stamp)];
      const all = waiting;
      waiting = [];
      for (const response of all) answer(response);
    },
    waiting: () => waiting.length,
  };
}
