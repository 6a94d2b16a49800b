import { missedText, type NotSent } from "@xdstp/protocol/server";

import type {
  ExplainedCause,
  ExplainQuestion,
  Explanation,
  HeldState,
  SourceState,
} from "./explanation.ts";
import type { StreamFacts } from "./explain-stream.ts";

/** Returns the facts of one stream as sentences: what the client has and why, and where that comes from. */
export function streamText(asked: ExplainQuestion, facts: StreamFacts): string {
  return [sentenceOf(asked, facts), ...sourceText(asked, facts.source, facts)].join(" ");
}

/** Puts into words that a node is not connected, and what the source has. */
export function absentText(
  asked: ExplainQuestion,
  { connected, hiddenStreams, source }: Pick<Explanation, "connected" | "hiddenStreams" | "source">,
): string {
  const others =
    connected === 0 ? "no node is" : connected === 1 ? "1 node is" : `${connected} nodes are`;
  const hidden =
    hiddenStreams === 0
      ? []
      : hiddenStreams === 1
        ? ["It may have the one stream that you may not see."]
        : [`It may have one of the ${hiddenStreams} streams that you may not see.`];
  return [
    `${asked.node} is not connected; ${others}.`,
    ...hidden,
    ...sourceText(asked, source, undefined),
  ].join(" ");
}

/** Puts the explanations of several streams into one text. */
export function streamsText(
  { node }: ExplainQuestion,
  streams: readonly { readonly peer: string; readonly text: string }[],
): string {
  const [only, ...more] = streams;
  if (only !== undefined && more.length === 0) return only.text;
  return [
    `${streams.length} streams have the node id ${node}.`,
    ...streams.map(({ peer, text }) => `From ${peer}: ${text}`),
  ].join(" ");
}

function sentenceOf(asked: ExplainQuestion, facts: StreamFacts): string {
  const { node, name } = asked;
  const { held, cause } = facts;
  if (held.what === "newest" && cause.kind === "accepted")
    return `${node} has ${name} in version ${held.version ?? ""}${sinceText(held)}.`;
  return `${haveText(asked, held)}: ${causeText(asked, facts, cause)}.`;
}

function haveText({ node, name }: ExplainQuestion, held: HeldState): string {
  if (held.what === "none") return `${node} does not have ${name}`;
  if (held.what === "unknown") return `${node} may have an earlier version of ${name}`;
  const version = held.version === undefined ? "an earlier version" : `version ${held.version}`;
  return `${node} still has ${version} of ${name}${sinceText(held)}`;
}

function sinceText({ acceptedAt }: HeldState): string {
  return acceptedAt === undefined ? "" : `, since ${timeText(acceptedAt)} or earlier`;
}

function causeText(
  { node, typeUrl }: ExplainQuestion,
  { source }: StreamFacts,
  cause: ExplainedCause,
): string {
  const version = source?.version === undefined ? "its removal" : `version ${source.version}`;
  switch (cause.kind) {
    case "accepted":
      return "the client has accepted the newest version";
    case "not-subscribed":
      return cause.subscriptions === 0
        ? `it has not subscribed to any ${typeText(typeUrl)}`
        : cause.subscriptions === 1
          ? `its one subscription to ${typeText(typeUrl)} does not cover it`
          : `none of its ${cause.subscriptions} subscriptions to ${typeText(typeUrl)} covers it`;
    case "denied":
      return `${cause.rule ?? "its policy"} does not allow it`;
    case "missing":
      return source?.state === "present" ? "it was removed" : "it does not exist";
    case "not-settled":
      return source?.error === undefined
        ? "it is not known yet whether it exists"
        : "it is not known whether it exists";
    case "held-back":
      return heldBackText(node, version, cause);
    case "order":
      return `${version} waits until ${node} has accepted ${listText(cause.behind)}`;
    case "removal-waits":
      return removalText(node, cause);
    case "behind":
      return `${version} waits until ${node} has answered the response with version ${cause.version}, sent ${timeText(cause.sentAt)}`;
    case "in-flight":
      return `${version} was sent ${timeText(cause.sentAt)} and is not answered yet`;
    case "rejected":
      return rejectedText(node, version, cause);
    case "write-queue":
      return `${version} waits until ${node} reads what was sent to it; its connection takes no more bytes`;
    case "unsendable":
      return notSentText(version, cause.notSent);
    case "due":
      return `${version} goes with the next response`;
  }
}

function heldBackText(
  node: string,
  version: string,
  { phase, for: lacking, forType, since }: Extract<ExplainedCause, { kind: "held-back" }>,
): string {
  const what = `${typeText(forType)} ${lacking}`;
  switch (phase) {
    case "unaccepted":
      return `${version} has waited since ${timeText(since)} for ${what}, which ${node} has not accepted`;
    case "rejected":
      return `${version} has waited since ${timeText(since)} for ${what}, which ${node} has rejected`;
    case "released":
      return `${version} has waited since ${timeText(since)} for ${what}, and goes with the next response`;
    case "removed":
      return `its removal goes with the next response`;
  }
}

function removalText(
  node: string,
  { behind, whileSubscribed }: Extract<ExplainedCause, { kind: "removal-waits" }>,
): string {
  if (behind.length > 0)
    return `its removal waits until ${node} has accepted ${listText(behind)} without it`;
  return whileSubscribed
    ? `its removal waits for a limited time, as long as ${node} subscribes to it by name`
    : "its removal goes with the next response";
}

function rejectedText(
  node: string,
  version: string,
  {
    version: response,
    message,
    code,
    at,
    missed,
    isCertain,
  }: Extract<ExplainedCause, { kind: "rejected" }>,
): string {
  const said = message === "" ? `with code ${code} and without a text` : JSON.stringify(message);
  const lacking = missed.length === 0 ? "" : `; it ${missedText(missed)}`;
  const later = isCertain
    ? ""
    : `; it has accepted other responses since, which may have had ${version}`;
  return `${version} was rejected ${timeText(at)} by ${node} with its response ${response}: ${said}${lacking}${later}`;
}

function notSentText(version: string, notSent: NotSent): string {
  return notSent.reason === "too-large"
    ? `${version} is not sent, since it has ${notSent.bytes} bytes, more than the limit ${notSent.limit} allows`
    : `${version} is not sent, since the client does not read wrapped resources`;
}

function sourceText(
  asked: ExplainQuestion,
  source: SourceState | undefined,
  facts: StreamFacts | undefined,
): readonly string[] {
  if (source === undefined) return [];
  const { redirect, error, origin } = source;
  return [
    ...versionText(asked, source, facts),
    ...(redirect === undefined ? [] : [`It is a redirect to ${redirect}.`]),
    ...(error === undefined || isTold(error, origin?.problem)
      ? []
      : [`The source reports: ${error}.`]),
    ...(origin?.problem === undefined
      ? []
      : [`The newest state of ${origin.place} is not used: ${origin.problem}.`]),
  ];
}

/** Returns true if an error of a source is also the problem of the origin of the resource. */
function isTold(error: string, problem: string | undefined): boolean {
  return problem !== undefined && error.includes(problem);
}

/** Returns a sentence on the source, if the sentence on the stream does not have it. */
function versionText(
  { typeUrl, name }: ExplainQuestion,
  { state, version = "", origin }: SourceState,
  facts: StreamFacts | undefined,
): readonly string[] {
  const from = origin === undefined ? "" : ` from ${origin.place}`;
  if (facts === undefined || facts.cause.kind === "not-subscribed") {
    if (state === "present") return [`The source has ${name} in version ${version}${from}.`];
    return state === "missing"
      ? [`The source does not have ${typeText(typeUrl)} ${name}.`]
      : [`The source does not know ${typeText(typeUrl)} ${name}: nothing subscribes to it.`];
  }
  return state === "present" && origin !== undefined ? [`Version ${version} is${from}.`] : [];
}

function typeText(typeUrl: string): string {
  return typeUrl.slice(Math.max(typeUrl.lastIndexOf("."), typeUrl.lastIndexOf("/")) + 1);
}

function listText(typeUrls: readonly string[]): string {
  return typeUrls.length === 0 ? "what it follows" : typeUrls.map(typeText).join(" and ");
}

/** `2026-11-26T23:52:50Z`. */
function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}
