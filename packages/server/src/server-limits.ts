import { XdsError } from "@xdstp/core";
import { defaultGrpcLimits, type GrpcLimits } from "@xdstp/grpc/server";
import { defaultLimits, type StreamLimits } from "@xdstp/protocol/server";

/** All limits of a server, in groups. Each has a default. None can be switched off. */
export interface ServerLimits {
  /**
   * Limits of each stream: sizes of responses, numbers and lengths of subscriptions, rates, and
   * waiting times.
   */
  readonly stream: StreamLimits;
  /** Limits of the number of streams that begin at once (S-RECON-9). */
  readonly admission: {
    /**
     * The number of streams in their first sync at the same time. Default: 1,000. Further streams
     * wait; they are not ended.
     */
    readonly firstSyncs: number;
    /**
     * Milliseconds after which a first sync makes room for another one, even if its client has not
     * answered. Default: 1,000. A client that needs longer, for example for 50 MB, continues at the
     * same time as the others.
     */
    readonly firstSyncMs: number;
    /**
     * The number of streams that may wait to begin. A further one gets RESOURCE_EXHAUSTED. Default:
     * 20,000, the number of connections that are possible.
     */
    readonly waitingSyncs: number;
    /**
     * Milliseconds that a stream may wait to begin; then it gets RESOURCE_EXHAUSTED. Default:
     * 10,000. At least 10,000 streams begin in this time; the others retry after their back-off.
     */
    readonly admissionMs: number;
  };
  /**
   * Limits of streams that wait until `authorize` and `sourceFor` have decided what they may see.
   */
  readonly access: {
    /**
     * Milliseconds that `authorize` and `sourceFor` may take together; then the client gets
     * UNAVAILABLE. Default: 10,000. The latency of the client does not count.
     */
    readonly authorizeMs: number;
    /**
     * The number of messages of one stream that may wait for the decision, since the wire may
     * deliver messages although it is paused. A further one gets RESOURCE_EXHAUSTED. Default: 64.
     * An Envoy sends one request for each of about 12 types before it has a response.
     */
    readonly waitingMessages: number;
    /**
     * The number of bytes of these messages, without the first one. Default: 16 MiB, enough for the
     * first requests of an Envoy with 100,000 names of endpoints and its cached clusters.
     */
    readonly waitingBytes: number;
  };
  /**
   * Limits of answers to single calls: Fetch and client status (S-LIM-1). Principals are served in
   * turn. A principal is the identity in the certificate, or the IP address without one. Streams
   * are not counted.
   */
  readonly answers: {
    /**
     * The number of status requests that are answered at the same time. Default: 2. Others wait for
     * their turn.
     */
    readonly statusAnswers: number;
    /**
     * The number of Fetches that are answered at the same time, after the requested resources are
     * known. Default: 4. Others wait for their turn.
     */
    readonly fetchAnswers: number;
    /**
     * The number of calls that may wait, for each of these two kinds. Above this number, a call of
     * the principal with the most waiting calls ends with RESOURCE_EXHAUSTED. Default: 1,000,
     * enough for 1,000 pollers with one call each at the same moment.
     */
    readonly waitingAnswers: number;
  };
  /** Limits of connections, calls and messages. */
  readonly wire: GrpcLimits;
}

const LARGEST = 0x7fff_ffff;

/** The defaults of {@link ServerLimits}. */
export const defaultServerLimits: ServerLimits = {
  stream: defaultLimits,
  admission: {
    firstSyncs: 1_000,
    firstSyncMs: 1_000,
    waitingSyncs: 20_000,
    admissionMs: 10_000,
  },
  access: {
    authorizeMs: 10_000,
    waitingMessages: 64,
    waitingBytes: 16 << 20,
  },
  answers: {
    statusAnswers: 2,
    fetchAnswers: 4,
    waitingAnswers: 1_000,
  },
  wire: defaultGrpcLimits,
};

type Group = keyof ServerLimits;

/** The option `limits` of a server. */
export type GivenLimits = { readonly [G in Group]?: Partial<ServerLimits[G]> };

/**
 * Returns the given limits of each group, without those that are undefined.
 * Throws an XdsError that names a group or a limit that does not exist, or a limit that is not an
 * integer from 1 to 2,147,483,647.
 */
export function checkLimits(limits: GivenLimits = {}): Required<GivenLimits> {
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
