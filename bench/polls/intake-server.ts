import { createServer } from "node:http";
import { serveParent } from "../run/serve-parent.ts";
import { listen } from "../server/listen.ts";
import type { RestProtocol } from "./poll-scenario.ts";
import { restMediaTypes } from "./poll-wire.ts";
import { restAnswers } from "./rest-answers.ts";

/** The command of the parent to a server that answers each poll at once, with a new state. */
export interface IntakeServerCommand {
  readonly op: "start";
  readonly protocol: RestProtocol;
  readonly resources: number;
}

/** The answers, by question. */
export interface IntakeServerAnswers {
  readonly start: { readonly port: number };
}

serveParent(async (given) => {
  const { protocol, resources } = given as IntakeServerCommand;
  const answers = restAnswers(protocol, resources);
  let stamp = 0;
  const server = createServer((request, response) => {
    request.resume();
    const body = answers.fill(0, ++stamp);
    response.writeHead(200, {
      "content-type": restMediaTypes[protocol],
      "content-length": String(body.length),
    });
    response.end(body);
  });
  return { port: await listen(server) };
});
