import { create, toBinary } from "@bufbuild/protobuf";
import { DiscoveryRequestSchema } from "@xdstp/protos/discovery";

import { readResponse } from "../client/ack-of.ts";
import { holdMs, pollPath, restPath } from "./poll-server.ts";
import type { PollScenario, RestProtocol } from "./poll-scenario.ts";
import type { HttpAnswer } from "./read-http-answer.ts";

/** The requests of a protocol. A state is a text, which is empty for a client that has nothing. */
export interface PollWire {
  /** Returns the request of a client with this number in this state. */
  readonly request: (client: number, state: string) => Buffer;
  /** Returns the state of a client that has received an answer. */
  readonly stateOf: (answer: HttpAnswer) => string;
}

/** Returns the requests of a scenario. */
export function wireOf({ protocol, ending }: Pick<PollScenario, "protocol" | "ending">): PollWire {
  return protocol === "native"
    ? nativeWire
    : restWire(protocol, ending === "change-while-waiting" ? `prefer: wait=${holdMs / 1_000}` : "");
}

const nativeWire: PollWire = {
  request: (_, state) =>
    Buffer.from(`GET ${pollPath}?${state}form=protobuf HTTP/1.1\r\nhost: bench\r\n\r\n`),
  stateOf: ({ header }) => `after=${header("xds-version")}&at=${header("xds-position")}&`,
};

function restWire(protocol: RestProtocol, wait: string): PollWire {
  const mediaType = restMediaTypes[protocol];
  return {
    request: (client, versionInfo) => {
      const body = restBody(protocol, `bench-${client}`, versionInfo);
      const head = [
        `POST ${restPath} HTTP/1.1`,
        "host: bench",
        `content-type: ${mediaType}`,
        `content-length: ${body.length}`,
        ...(wait === "" ? [] : [wait]),
      ];
      return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
    },
    stateOf: ({ body }) => restVersion(protocol, body),
  };
}

/** The forms of REST, as headers name them. */
export const restMediaTypes = {
  "rest-json": "application/json",
  "rest-protobuf": "application/x-protobuf",
} as const;

/** Returns the body of a request over REST. */
export function restBody(protocol: RestProtocol, id: string, versionInfo: string): Buffer {
  const request = { node: { id }, versionInfo };
  return Buffer.from(
    protocol === "rest-json"
      ? JSON.stringify(request)
      : toBinary(DiscoveryRequestSchema, create(DiscoveryRequestSchema, request)),
  );
}

function restVersion(protocol: RestProtocol, body: Buffer): string {
  if (protocol === "rest-json")
    return /"versionInfo":"([^"]*)"/.exec(body.toString("latin1"))?.[1] ?? "";
  const [start, end] = readResponse(body).version;
  // The slice begins with the length of the text, which is one byte.
  return body.toString("latin1", start + 1, end);
}
