import { isSameError, type XdsError } from "@xdstp/core";

/** The knowledge of a client about an interest (C-CSDS-3). */
export interface Knowledge {
  /** The newest information. */
  readonly known: Known;
  /**
   * States that were rejected and not corrected since, by key: of the name itself, or of members.
   */
  readonly rejections: ReadonlyMap<string, NotedRejection>;
}

/** The newest information about an interest. */
export type Known =
  | (Learned & {
      readonly kind: "requested" | "cached" | "missing" | "late";
      /** The reason why it does not exist, or why the cached state may be out of date. */
      readonly error: XdsError | undefined;
    })
  | (Learned & {
      readonly kind: "rejected" | "failed";
      /** The reason why it was rejected, or the error that the server has sent. */
      readonly error: XdsError;
    });

/** When something was learned about an interest, and how often its error has changed. */
interface Learned {
  /** When a resource of it last came, in milliseconds since the epoch; 0: never (B-CSDS-2). */
  readonly at: number;
  /**
   * The number of times that `error` had to be reported: a different error, the same error for
   * another version (C-ACK-18), or its end.
   */
  readonly reports: number;
}

/**
 * The state of a subscribed interest (C-CSDS-3). `late`: nothing came in time (C-MISS-4). `failed`:
 * the server has sent an error.
 */
export type WantState = Known["kind"];

/** A state that was rejected. */
export interface NotedRejection {
  /** The name of the resource that was rejected. */
  readonly name: string;
  /** The version that was rejected. Empty: the server gave none. */
  readonly version: string;
  /** Why it was rejected. */
  readonly error: XdsError;
  /** When it was rejected, by `Clock.now()`. */
  readonly moment: number;
}

/**
 * New states that were rejected. At most `limit` of them are kept, by their keys; one without a key
 * is not kept.
 */
export interface Rejections {
  /** The rejections, each with the key of its resource. */
  readonly rejections: readonly (readonly [key: string | undefined, rejection: NotedRejection])[];
  /** The greatest number of rejections of an interest that are kept. */
  readonly limit: number;
}

/** No rejections. */
export const noRejections: ReadonlyMap<string, NotedRejection> = new Map();

/**
 * Returns what is known when a resource is cached: earlier errors and rejections of these keys are
 * over.
 */
export function cached(
  { known, rejections }: Knowledge,
  { keys = [], at }: { readonly keys?: readonly string[]; readonly at: number },
): Knowledge {
  const left = rejections.size === 0 ? rejections : without(rejections, keys);
  return {
    known:
      left.size === 0
        ? { kind: "cached", at, ...over(known) }
        : { kind: "cached", at, error: known.error, reports: known.reports },
    rejections: left,
  };
}

/** Notes rejections. The same error for the same version is reported once (C-ACK-18). */
export function rejected({ known, rejections }: Knowledge, event: Rejections): Knowledge {
  const all = new Map(rejections);
  let { error } = known;
  let isNew = false;
  for (const [key, rejection] of event.rejections) {
    const before = key === undefined ? undefined : all.get(key);
    if (
      error === undefined ||
      before?.version !== rejection.version ||
      !isSameError(before.error, rejection.error)
    ) {
      ({ error } = rejection);
      isNew = true;
    }
    if (key !== undefined && (before !== undefined || all.size < event.limit))
      all.set(key, rejection);
  }
  return error === undefined
    ? { known, rejections }
    : {
        known: {
          kind: "rejected",
          at: known.at,
          error,
          reports: isNew ? known.reports + 1 : known.reports,
        },
        rejections: all,
      };
}

/** Notes an error. The same error again changes nothing. */
export function failed(known: Known, { error }: { readonly error: XdsError }): Known {
  return isSameError(known.error, error)
    ? known
    : { kind: "failed", at: known.at, error, reports: known.reports + 1 };
}

/**
 * Ends the error and the rejections from before `since`, by `Clock.now()`. A rejection since then
 * keeps the error.
 */
export function confirmed(
  { known, rejections }: Knowledge,
  { since }: { readonly since: number },
): Knowledge {
  const left = new Map([...rejections].filter(([, { moment }]) => moment >= since));
  return known.error === undefined || left.size > 0
    ? { known, rejections: left }
    : { known: { kind: "cached", at: known.at, ...over(known) }, rejections: noRejections };
}

/** Returns what is known of an interest that is not subscribed any more. */
export function withoutError(known: Known): Known {
  const { kind, at } = known;
  return {
    kind: kind === "rejected" || kind === "failed" ? "requested" : kind,
    at,
    ...over(known),
  };
}

/** Ends the error, which is reported once. */
export function over({ error, reports }: Known): {
  readonly error: undefined;
  readonly reports: number;
} {
  return { error: undefined, reports: error === undefined ? reports : reports + 1 };
}

/** Returns the rejections of other keys. */
export function without(
  rejections: ReadonlyMap<string, NotedRejection>,
  keys: readonly string[],
): ReadonlyMap<string, NotedRejection> {
  const left = new Map(rejections);
  for (const key of keys) left.delete(key);
  return left;
}
