import { createServer, type ServerResponse } from "node:http";
import { listen } from "../server/listen.ts";
import { stampText } from "../template.ts";
import type { PollServer } from "./poll-server.ts";
import { restMediaTypes } from "./poll-wire.ts";
import type { RestProtocol } from "./poll-scenario.ts";
import { restAnswers } from "./rest-answers.ts";

/** Plain `node:http`: one buffer for all. Requests are not decoded: a client has the newest state if the text of its request has the version. */
export async function startRestFloor(
  protocol: RestProtocol,
  resources: number,
): Promise<PollServer> {
  const answers = restAnswers(protocol, resources);
  let waiting: ServerResponse[] = [];
  let [version, body] = [stampText(0), answers.fill(0, 0)];
  const answer = (response: ServerResponse): void => {
    response.writeHead(200, {
      "content-type": restMediaTypes[protocol],
      "content-length": String(body.length),
    });
    response.end(body);
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      if (!Buffer.concat(parts).includes(version)) answer(response);
      else if (request.headers.prefer !== undefined) waiting.push(response);
      else response.writeHead(304).end();
    });
  });
  return {
    port: await listen(server),
    change(stamp) {
      [version, body] = [stampText(stamp), answers.fill(0, stamp)];
      const all = waiting;
      waiting = [];
      for (const response of all) answer(response);
    },
    waiting: () => waiting.length,
  };
}
