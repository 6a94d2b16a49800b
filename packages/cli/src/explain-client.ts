import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { ClientStatusResponse } from "@xdstp/protos/status";
import type { ClientTlsFiles } from "./asked-server.ts";
import type { CliIo } from "./cli-io.ts";
import { clientRows } from "./client-types.ts";
import { closest } from "./command-line.ts";
import { type Endpoint, formatEndpoint } from "./endpoint.ts";
import { jsonText } from "./json-text.ts";
import { plainExplanation } from "./plain-explanation.ts";
import { escapeText, someNames } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import { readClientTls } from "./status.ts";
import { openStatusClient, type StatusClientOptions } from "./status-client.ts";
import { objectOf, textOf, type ToldExplanation, toldExplanation } from "./told-explanation.ts";

/** The options of `xdstp explain`. */
export interface ExplainClientOptions {
  readonly server: Endpoint;
  /** The certificate files of the client, PEM. Absent: no TLS. */
  readonly tls?: ClientTlsFiles | undefined;
  readonly json: boolean;
  /** Milliseconds to wait for one answer. */
  readonly timeoutMs: number;
  readonly question: NonNullable<StatusClientOptions["explain"]>;
}

/** Asks a server why a client has a resource, or does not have it, and prints the answer. Returns the exit code: 0 if every stream of the client has the newest version, else 1. Throws a CliError if the server does not answer. */
export async function explainClient(options: ExplainClientOptions, io: CliIo): Promise<number> {
  const { server, tls, timeoutMs, question } = options;
  const base = {
    server,
    clock: io.clock,
    timeoutMs,
    tls: tls && (await readClientTls(tls)),
    byType: true,
  };
  const ask = async (more: Partial<StatusClientOptions>): Promise<ClientStatusResponse> => {
    const client = openStatusClient({ ...base, ...more });
    try {
      return await client.ask();
    } finally {
      client.close();
    }
  };
  const response = await ask({ explain: question });
  const told = toldExplanation(response);
  if (told !== undefined) return showTold(told, options, io);
  const rows = clientRows(response).filter(({ id }) => id === question.node);
  const others = rows.length > 0 ? [] : clientRows(await ask({})).map(({ id }) => id);
  const plain = plainExplanation(rows, question, formatEndpoint(server));
  return showTold({ ...plain, nodes: others }, options, io);
}

/** Prints the answer as sentences, then the facts of each stream as a table. */
function showTold(told: ToldExplanation, options: ExplainClientOptions, io: CliIo): number {
  const { json, question } = options;
  const isHeld =
    told.streams.length > 0 &&
    told.streams.every(({ held }) => textOf(objectOf(held).what) === "newest");
  if (json) io.stdout.write(`${jsonText(told.json)}\n`);
  else {
    const lines = [
      escapeText([told.text, ...hintsOf(told, question)].join(" ")),
      ...told.streams.flatMap((stream) => ["", ...tableOf(stream)]),
    ];
    io.stdout.write(`${lines.join("\n")}\n`);
  }
  return isHeld ? 0 : 1;
}

function hintsOf(
  { nodes, names, streams }: ToldExplanation,
  { node, name }: ExplainClientOptions["question"],
): readonly string[] {
  const meant = streams.length > 0 ? undefined : closest(node, nodes);
  const similar = closest(name, names);
  return [
    ...(streams.length > 0 || nodes.length === 0
      ? []
      : [
          meant === undefined
            ? `Connected are ${someNames(nodes)}.`
            : `Did you mean the node ${meant}?`,
        ]),
    ...(similar === undefined ? [] : [`Did you mean the name ${similar}?`]),
  ];
}

/** One row of the table of a stream: the name of a fact, and its value. */
type Fact = readonly [fact: string, value: string];

function tableOf(stream: JsonObject): readonly string[] {
  const { peer, variant, connectedAt, subscription, source, held, cause } = stream;
  const { by, subscribed } = objectOf(subscription);
  const { origin } = objectOf(source);
  const facts: readonly Fact[] = [
    ["stream", joined(textOf(peer), textOf(variant), sinceText(connectedAt))],
    [
      "subscription",
      subscription === undefined ? "none" : `by ${textOf(by)} ${textOf(subscribed)}`,
    ],
    ["source", source === undefined ? "hidden" : sourceText(objectOf(source))],
    ["from", textOf(objectOf(origin).place)],
    ["held", heldText(objectOf(held))],
    ["cause", causeText(objectOf(cause))],
  ];
  return facts
    .filter(([, value]) => value !== "")
    .map(([fact, value]) => `${fact.padEnd(13)} ${escapeText(value)}`);
}

function sourceText({ state, version }: JsonObject): string {
  return joined(textOf(state), versionText(version));
}

function heldText({ what, version, acceptedAt }: JsonObject): string {
  return joined(textOf(what), versionText(version), sinceText(acceptedAt));
}

/** Returns the kind of a cause and its members: `held-back, for=bad, forType=clusters`. */
function causeText({ kind, ...members }: JsonObject): string {
  const shown = Object.entries(members).flatMap(([key, value]) =>
    isShort(value) ? [`${key}=${memberText(key, value)}`] : [],
  );
  return joined(textOf(kind), ...shown);
}

/** Returns false for objects and empty lists, which are not shown. */
function isShort(value: JsonValue): boolean {
  return Array.isArray(value) ? value.length > 0 : typeof value !== "object";
}

function memberText(key: string, value: JsonValue): string {
  if (Array.isArray(value))
    return value
      .map((one) => (typeof one === "string" ? shortType(one) : textOf(objectOf(one).name)))
      .join("+");
  if (typeof value === "number" && /At$|^at$|^since$/.test(key)) return timeText(value);
  if (key === "forType") return shortType(textOf(value));
  return typeof value === "string" ? value : JSON.stringify(value);
}

function versionText(version: JsonValue | undefined): string {
  return version === undefined ? "" : `version ${textOf(version)}`;
}

function sinceText(at: JsonValue | undefined): string {
  return typeof at === "number" ? `since ${timeText(at)}` : "";
}

/** Returns a time as ISO 8601. A server may send any number; one that is not a time is returned as it is. */
function timeText(ms: number): string {
  const time = new Date(ms);
  return Number.isNaN(time.getTime()) ? String(ms) : time.toISOString().replace(/\.\d+Z$/, "Z");
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(", ");
}
