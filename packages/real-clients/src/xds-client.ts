import { fromBinary, type DescMessage } from "@bufbuild/protobuf";
import {
  createChannels,
  createClient,
  parseBootstrap,
  type Client,
  type ClientNotice,
  type ClientOptions,
  type WatchedType,
} from "@xdstp/client";
import { envoyRegistry } from "@xdstp/protos/envoy";
import { cluster, clusterLoadAssignment } from "@xdstp/resource-types";
import { onTestFinished } from "vitest";
import type { TestResource } from "./resources.ts";

/** Our client of one server, and the events that it reported. */
export interface XdsClient {
  readonly client: Client;
  readonly events: readonly ClientNotice[];
}

/** Makes a client for the time of the test. It reconnects soon after its server has closed. */
export function useXdsClient(uri: string, options: ClientOptions): XdsClient {
  const events: ClientNotice[] = [];
  const bootstrap = parseBootstrap({
    xds_servers: [{ server_uri: uri, channel_creds: [{ type: "insecure" }] }],
    node: { id: "real-xdstp", cluster: "suites" },
  });
  const onEvent = (event: unknown): void => {
    if (typeof event === "object" && event !== null && "server" in event)
      events.push(event as ClientNotice);
  };
  const client = createClient({
    bootstrap,
    channels: createChannels(),
    backoff: { initialMs: 100, maxMs: 1_000 },
    onEvent,
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, events };
}

/** A resource that says one word, and how that is read: of a type of full state, or of one without. */
export interface WordType {
  readonly title: string;
  readonly watched: WatchedType<string>;
  of(name: string, word: string): TestResource;
}

/** The word of clusters is another name of theirs, that of assignments the zone of their endpoints. */
export const wordTypes = {
  clusters: wordType(
    cluster.typeUrl,
    (name, word) => ({ name, alt_stat_name: word }),
    ({ altStatName }) => altStatName as string,
  ),
  endpoints: wordType(
    clusterLoadAssignment.typeUrl,
    (name, word) => ({ cluster_name: name, endpoints: [{ locality: { zone: word } }] }),
    ({ endpoints }) => (endpoints as { locality: { zone: string } }[])[0]?.locality.zone ?? "",
  ),
};

function wordType(
  typeUrl: string,
  body: (name: string, word: string) => TestResource["body"],
  read: (message: Record<string, unknown>) => string,
): WordType {
  const schema = schemaOf(typeUrl);
  const watched = { typeUrl, decode: (payload: Uint8Array) => read(fromBinary(schema, payload)) };
  return {
    title: schema.name,
    watched,
    of: (name, word) => ({ typeUrl, name, body: body(name, word) }),
  };
}

function schemaOf(typeUrl: string): DescMessage {
  const schema = envoyRegistry().getMessage(typeUrl.replace(/^.*\//, ""));
  if (schema === undefined) throw new Error(`the registry has no ${typeUrl}`);
  return schema;
}
