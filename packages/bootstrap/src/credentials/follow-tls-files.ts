import { statSync } from "node:fs";
import { systemClock, XdsError, type Clock, type Timer } from "@xdstp/core";
import type { ChannelTls } from "@xdstp/grpc/client";
import type { TlsCredentials } from "../grpc/bootstrap.ts";
import { readTlsFiles, tlsFilesOf } from "./read-tls-files.ts";

/** What becomes of files that have changed. */
export type CredentialsEvent =
  /** They are in use for connections to come. */
  | { readonly kind: "credentials-replaced"; readonly files: readonly string[] }
  /** They cannot be used, `error` says why; what was before stays in use. Told once for each reason. */
  | {
      readonly kind: "credentials-rejected";
      readonly files: readonly string[];
      readonly error: XdsError;
    };

/** What {@link followTlsFiles} needs. */
export interface FollowTlsOptions {
  readonly credentials: TlsCredentials;
  /** What is in use. */
  readonly first: ChannelTls;
  /** Puts others to use, as `replaceTls` of a channel does; throws if they are broken. */
  readonly apply: (tls: ChannelTls) => void;
  /** Default: the clock of the machine. */
  readonly clock?: Clock;
  /** Told what has changed. What it throws goes no further. */
  readonly onEvent?: (event: CredentialsEvent) => void;
}

/** A look at the times of the files costs nothing, so a change need not wait for the interval. */
const lookMs = 10_000;

/**
 * Puts certificates to use as their files change. They are read again every `refreshIntervalMs` (A65), and within ten seconds of a change of their times.
 * What is broken, half written or does not belong together is never used: it is read again with each look, until it can be.
 */
export function followTlsFiles({
  credentials,
  first,
  apply,
  clock = systemClock,
  onEvent,
}: FollowTlsOptions): { close(): void } {
  const files = tlsFilesOf(credentials);
  const everyMs = Math.min(lookMs, credentials.refreshIntervalMs);
  let used = fingerprint(first);
  let times = timesOf(files);
  let readAt = clock.now();
  let problem: string | undefined;
  const read = (): CredentialsEvent | undefined => {
    readAt = clock.now();
    try {
      const next = readTlsFiles(credentials);
      const changed = fingerprint(next) !== used;
      if (changed) apply(next);
      used = fingerprint(next);
      problem = undefined;
      return changed ? { kind: "credentials-replaced", files } : undefined;
    } catch (cause) {
      const error = XdsError.from(cause);
      const known = problem === error.message;
      problem = error.message;
      return known ? undefined : { kind: "credentials-rejected", files, error };
    }
  };
  const look = (): void => {
    timer = clock.after(everyMs, look);
    const before = times;
    times = timesOf(files);
    if (
      times === before &&
      problem === undefined &&
      clock.now() - readAt < credentials.refreshIntervalMs
    )
      return;
    const event = read();
    if (event !== undefined) tell(onEvent, event);
  };
  let timer: Timer = clock.after(everyMs, look);
  return {
    close: () => {
      timer.cancel();
    },
  };
}

function tell(onEvent: FollowTlsOptions["onEvent"], event: CredentialsEvent): void {
  try {
    onEvent?.(event);
  } catch {
    /* certificates go on being followed */
  }
}

/** Equal for equal contents. */
function fingerprint({ ca, cert, key }: ChannelTls): string {
  return [ca, cert, key].map((pem) => Buffer.from(pem ?? "").toString("base64")).join(" ");
}

/** When the files were last changed; a renewed link shows by the inode behind it. */
function timesOf(files: readonly string[]): string {
  return files
    .map((file) => {
      try {
        const { mtimeNs, ino } = statSync(file, { bigint: true });
        return `${mtimeNs} ${ino}`;
      } catch {
        return "none";
      }
    })
    .join(" ");
}
