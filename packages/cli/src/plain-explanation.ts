import type { StatusClientRow } from "./client-types.ts";
import { counted } from "./short-text.ts";
import { shortType } from "./short-type.ts";
import type { StatusClientOptions } from "./status-client.ts";
import type { ToldExplanation } from "./told-explanation.ts";

/** Explains a name from plain client status: the server is not of this stack, or is an older version of it. */
export function plainExplanation(
  rows: readonly StatusClientRow[],
  question: NonNullable<StatusClientOptions["explain"]>,
  server: string,
): ToldExplanation {
  const { node, typeUrl, name } = question;
  const limits = `${server} does not explain more: it is not a server of xdstp, or an older one, so whether ${name} is subscribed, allowed, or waits for another name is not known.`;
  if (rows.length === 0)
    return told(`${node} is not connected to ${server}, as far as you may see.`, question, []);
  const several =
    rows.length === 1 ? [] : [`${counted(rows.length, "stream")} have the node id ${node}.`];
  const streams = rows.map((row) => {
    const resource = row.types
      .find((type) => type.typeUrl === typeUrl)
      ?.resources.find((one) => one.name === name);
    const state = resource?.state ?? "unknown";
    return {
      peer: row.scope,
      held: { what: resource?.state === "SYNCED" ? "newest" : "unknown" },
      cause: { kind: state },
      text: sentenceOf(question, resource),
    };
  });
  return told(
    [...several, ...streams.map(({ text }) => text), limits].join(" "),
    question,
    streams.map(({ text, ...stream }) => ({ ...stream, text })),
  );
}

function told(
  text: string,
  { node, typeUrl, name }: NonNullable<StatusClientOptions["explain"]>,
  streams: ToldExplanation["streams"],
): ToldExplanation {
  const json = { node, typeUrl, name, text, streams: [...streams] };
  return { json, text, streams, nodes: [], names: [] };
}

function sentenceOf(
  { node, typeUrl, name }: NonNullable<StatusClientOptions["explain"]>,
  resource: StatusClientRow["types"][number]["resources"][number] | undefined,
): string {
  if (resource === undefined)
    return `Client status of ${node} has no row for ${name} of ${shortType(typeUrl)}.`;
  const { state, version, error } = resource;
  const accepted = version === "" ? "" : `, after the response with version ${version}`;
  switch (state) {
    case "SYNCED":
      return `${node} has the newest version of ${name}${accepted}.`;
    case "STALE":
      return `${node} has not accepted the newest version of ${name}${accepted === "" ? "" : `; it accepted something last${accepted}`}.`;
    case "NACKED":
      return `${node} has rejected ${name}: ${JSON.stringify(error?.message ?? "")}.`;
    case "NOT_SENT":
    case "REQUESTED":
    case "MISSING":
      return `${node} does not have ${name}: client status says ${state}.`;
    default:
      return `Client status says ${state} of ${name}.`;
  }
}
