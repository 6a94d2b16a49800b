import { XdsError } from "@xdstp/core";
import { defaultGrpcLimits, type GrpcLimits } from "@xdstp/grpc/server";
import { defaultLimits, type StreamLimits } from "@xdstp/protocol/server";

import { type AdmissionLimits, defaultAdmissionLimits } from "./admission.ts";
import { type AnswerLimits, defaultAnswerLimits } from "./answer-line.ts";

/** All limits of a server, in groups. Each has a default; none can be switched off. */
export interface ServerLimits {
  /** Of each stream: sizes of responses, numbers and lengths of subscriptions, rates, waits. */
  readonly stream: StreamLimits;
  /** How many streams may begin at the same time. */
  readonly admission: AdmissionLimits;
  /** While `authorize` and `sourceFor` decide. */
  readonly access: AccessLimits;
  /** Of single calls: Fetch and client status. */
  readonly answers: AnswerLimits;
  /** Of connections, calls and messages. */
  readonly wire: GrpcLimits;
}

/** Limits that replace defaults: `{ stream: { subscriptions: 5_000 } }`. */
export type ServerLimitOptions = {
  readonly [Group in keyof ServerLimits]?: Partial<ServerLimits[Group]>;
};

const LARGEST = 0x7fff_ffff;

/** How long and how much streams wait until it is decided what they may see. */
export interface AccessLimits {
  /** Milliseconds that `authorize` and `sourceFor` have together; then the client gets UNAVAILABLE. Default: 10,000. The latency of the client does not count. */
  readonly authorizeMs: number;
  /** Messages of one stream that may wait for it, since the wire delivers them although it is paused. One more gets RESOURCE_EXHAUSTED. Default: 64. Room: an Envoy sends one request for each of about a dozen types before it has an answer. */
  readonly waitingMessages: number;
  /** Bytes of these messages behind the first one. Default: 16 MiB. Room: the first requests of an Envoy with 100,000 names of endpoints, and of the clusters that it still holds. */
  readonly waitingBytes: number;
}

/** The defaults of {@link AccessLimits}. */
export const defaultAccessLimits: AccessLimits = {
  authorizeMs: 10_000,
  waitingMessages: 64,
  waitingBytes: 16 << 20,
};

/** The defaults of {@link ServerLimits}. */
export const defaultServerLimits: ServerLimits = {
  stream: defaultLimits,
  admission: defaultAdmissionLimits,
  access: defaultAccessLimits,
  answers: defaultAnswerLimits,
  wire: defaultGrpcLimits,
};

type Group = keyof ServerLimits;

/**
 * Returns the given limits of each group, without those that are undefined.
 * Throws an XdsError that names a group or a limit that does not exist, or a limit that is not a whole number from 1 to 2,147,483,647.
 */
export function checkLimits(limits: ServerLimitOptions = {}): Required<ServerLimitOptions> {
  for (const name of Object.keys(limits)) checkGroup(name);
  const given = <G extends Group>(group: G): Partial<ServerLimits[G]> => {
    const entries: readonly (readonly [string, unknown])[] = Object.entries(limits[group] ?? {});
    const present = entries.filter(([, value]) => value !== undefined);
    for (const [name, value] of present) checkLimit(group, name, value);
    return Object.fromEntries(present) as Partial<ServerLimits[G]>;
  };
  return {
    stream: given("stream"),
    admission: given("admission"),
    access: given("access"),
    answers: given("answers"),
    wire: given("wire"),
  };
}

function checkGroup(name: string): void {
  if (Object.hasOwn(defaultServerLimits, name)) return;
  const groups = Object.keys(defaultServerLimits) as readonly Group[];
  const group = groups.find((one) => Object.hasOwn(defaultServerLimits[one], name));
  throw invalid(
    group === undefined
      ? `limits.${name} does not exist; the groups of limits are ${groups.join(", ")}`
      : `limits.${name} is limits.${group}.${name}: limits are in groups`,
  );
}

function checkLimit(group: Group, name: string, value: unknown): void {
  const known = defaultServerLimits[group];
  if (!Object.hasOwn(known, name))
    throw invalid(
      `limits.${group}.${name} does not exist; the limits are ${Object.keys(known).join(", ")}`,
    );
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= LARGEST)
    return;
  throw invalid(
    `limits.${group}.${name} is ${String(value)}; give a whole number from 1 to ${LARGEST}`,
  );
}

function invalid(text: string): XdsError {
  return new XdsError("INVALID_ARGUMENT", text);
}
