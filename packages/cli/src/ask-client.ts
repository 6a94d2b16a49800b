import { createChannels, createClient, type Channels, type Client, type ClientNotice, type WatchedType } from "@xdstp/client";
import { fromBinary, type Registry } from "@bufbuild/protobuf";
import { type Status, StatusCode } from "@xdstp/core";
import { observeStream, type StreamObserver } from "@xdstp/testing";
import type { AskFlags } from "./ask-flags.ts";
import { askedBootstrap } from "./asked-bootstrap.ts";
import { askFailure, streamFailure } from "./ask-failure.ts";
import type { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { answering, authorityIn, shownHops, type ShownHop } from "./shown-hop.ts";

/** A client of the command, open. */
export interface AskClient {
  readonly client: Client;
  /** The id of the node. */
  readonly node: string;
  /** The servers, in the order in which they are asked. */
  readonly servers: readonly string[];
  /** The server that has answered for a name, else one that is asked for it, and how it calls itself. */
  server(name: string): { readonly server: string; readonly controlPlane: string };
  /** The way from each name of a type to what is had of it, as it is now; empty: it leads nowhere else. */
  hops(typeUrl: string): (name: string) => readonly ShownHop[];
  /** Nobody is known to answer for a name. */
  isUnknown(name: string): boolean;
  /** What is known of the servers, in one line, for who has waited in vain. `some`: part of what was waited for has come. */
  heard(some?: boolean): string;
  /** An error of the client in words of the command. */
  failure(error: unknown): CliError;
  close(): Promise<void>;
}

/** What a command wants of its client. */
export interface AskClientOptions {
  /** Told what happens on the streams. */
  readonly onEvent?: (event: ClientNotice) => void;
  /** Milliseconds after which what has not come does not exist. Default: as every client. 0: never. */
  readonly fetchMs?: number;
  /** Sees each stream. */
  readonly observe?: (server: string) => StreamObserver;
}

/** Opens a client. Throws a CliError where there is no server to ask. */
export async function openAskClient(flags: AskFlags, io: CliIo, { onEvent, fetchMs, observe }: AskClientOptions = {}): Promise<AskClient> {
  const bootstrap = await askedBootstrap(flags, io.env);
  const channels = createChannels({ clock: io.clock });
  const client = createClient({
    bootstrap, variant: flags.variant, clock: io.clock,
    channels: observe === undefined ? channels : observed(channels, observe),
    nodeContextParams: flags.nodeContextParams ?? [],
    ...(flags.altOn !== undefined && { altOn: flags.altOn }),
    ...(flags.maxHops !== undefined && { maxHops: flags.maxHops }),
    onEvent: (event) => { if ("server" in event) onEvent?.(event); },
    ...(fetchMs !== undefined && { fetchMs }),
  });
  // Nothing else keeps the process between two attempts: timers do not.
  const alive = setInterval(() => undefined, 0x7fff_ffff);
  const failures = (authority?: string | null): readonly string[] => client.status(authority).flatMap(({ name, status }) => (status?.lastEnd === undefined || status.connected ? [] : [streamFailure(name, status.lastEnd, flags.variant)]));
  const heard = (rows: ReturnType<Client["status"]>, some: boolean): string => rows.flatMap(({ name, status }) => (status === undefined ? [] : [heardOf(name, status, flags.variant, some)])).join("; ");
  return {
    client, node: bootstrap.node.id, servers: bootstrap.servers.map(({ uri }) => uri),
    server(name) {
      const row = answering(client.status(authorityIn(name))) ?? answering(client.status());
      return { server: row?.name ?? "", controlPlane: row?.status?.controlPlane ?? "" };
    },
    hops: (typeUrl) => shownHops({ client, failures, heard: (authority) => heard(client.status(authority), false) }, typeUrl),
    isUnknown: (name) => client.status(authorityIn(name)).length === 0,
    heard: (some = false) => heard(client.status(), some),
    failure: (error) => askFailure(error, failures()),
    async close() {
      clearInterval(alive);
      await client.close();
    },
  };
}

interface ServerState { readonly connected: boolean; readonly lastEnd?: Status; readonly counts: { readonly responses: number } }

function heardOf(name: string, { connected, lastEnd, counts: { responses } }: ServerState, variant: AskFlags["variant"], some: boolean): string {
  if (!connected && lastEnd !== undefined && lastEnd.code !== StatusCode.OK) return streamFailure(name, lastEnd, variant);
  if (!connected) return `${name} has not been reached`;
  if (some) return `${name} is connected`;
  if (responses === 0) return `${name} is connected and has not answered`;
  const silent = variant === "sotw" ? ", and by SotW a server is silent about what it does not have" : "";
  return `${name} has answered ${responses === 1 ? "once" : `${responses} times`}, but not of this${silent}`;
}

function observed(channels: Channels, observe: (server: string) => StreamObserver): Channels {
  return {
    acquire(server) {
      const channel = channels.acquire(server);
      return { open: (call, handler) => observeStream((own) => channel.open(call, own), () => observe(server.uri))(handler), release: () => { channel.release(); } };
    },
  };
}

/** A type as it is shown: its bytes. Where the registry knows it they must be such a message. */
export function shownType(typeUrl: string, registry: Registry): WatchedType<Uint8Array> {
  const schema = registry.getMessage(typeUrl.slice(typeUrl.lastIndexOf("/") + 1));
  return {
    typeUrl,
    decode(payload) {
      if (schema !== undefined) fromBinary(schema, payload);
      return Uint8Array.from(payload);
    },
  };
}
