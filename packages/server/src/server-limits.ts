import { XdsError } from "@xdstp/core";
import { defaultLimits, type StreamLimits } from "@xdstp/protocol/server";
import { defaultGrpcLimits, type GrpcLimits } from "@xdstp/grpc/server";
import { defaultAdmissionLimits, type AdmissionLimits } from "./admission.ts";
import { defaultAnswerLimits, type AnswerLimits } from "./answer-limits.ts";
import { defaultAccessLimits, type AccessLimits } from "./policy/access-limits.ts";

/** All limits of a server: those of the streams, of their beginning, of single calls, and of the wire. Each has a default; none can be switched off. */
export type ServerLimits = StreamLimits &
  AdmissionLimits &
  AccessLimits &
  AnswerLimits &
  GrpcLimits;

/** Overrides, each with whom they concern. */
export interface SplitLimits {
  readonly stream: Partial<StreamLimits>;
  readonly admission: Partial<AdmissionLimits>;
  readonly access: Partial<AccessLimits>;
  readonly answers: Partial<AnswerLimits>;
  readonly wire: Partial<GrpcLimits>;
}

const LARGEST = 0x7fff_ffff;

/** The defaults of {@link ServerLimits}, by name. */
export const defaultServerLimits: ServerLimits = {
  ...defaultLimits,
  ...defaultAdmissionLimits,
  ...defaultAccessLimits,
  ...defaultAnswerLimits,
  ...defaultGrpcLimits,
};

/** Parts overrides. Throws an XdsError that names a limit which does not exist, or is not a whole number from 1 to 2,147,483,647. */
export function splitLimits(limits: Partial<ServerLimits> = {}): SplitLimits {
  const given = Object.entries(limits).filter(
    (entry) => (entry[1] as number | undefined) !== undefined,
  );
  for (const [name, value] of given) check(name, value);
  return {
    stream: Object.fromEntries(given.filter(([name]) => Object.hasOwn(defaultLimits, name))),
    admission: Object.fromEntries(
      given.filter(([name]) => Object.hasOwn(defaultAdmissionLimits, name)),
    ),
    access: Object.fromEntries(given.filter(([name]) => Object.hasOwn(defaultAccessLimits, name))),
    answers: Object.fromEntries(given.filter(([name]) => Object.hasOwn(defaultAnswerLimits, name))),
    wire: Object.fromEntries(given.filter(([name]) => Object.hasOwn(defaultGrpcLimits, name))),
  };
}

function check(name: string, value: number): void {
  const known = Object.keys(defaultServerLimits);
  if (!known.includes(name))
    throw new XdsError(
      "INVALID_ARGUMENT",
      `limits.${name} does not exist; the limits are ${known.join(", ")}`,
    );
  if (Number.isInteger(value) && value >= 1 && value <= LARGEST) return;
  throw new XdsError(
    "INVALID_ARGUMENT",
    `limits.${name} is ${String(value)}; give a whole number from 1 to ${LARGEST}`,
  );
}
