import { readFileSync, statSync } from "node:fs";
import type { ChannelTls, GrpcChannel } from "@xdstp/grpc/client";
import { type Clock, systemClock, type Timer, XdsError } from "@xdstp/core";
import type { BootstrapCredentials, TlsCredentials } from "./grpc/bootstrap.ts";

/** The credentials of a server, ready for a channel. */
interface LoadedCredentials {
  /** The option `tls` of the channel; absent: without TLS. */
  readonly tls?: ChannelTls;
  /** Keeps the certificates of a channel as new as their files, until closed. Does nothing where there are none. */
  follow(
    channel: Pick<GrpcChannel, "replaceTls">,
    options?: Pick<FollowTlsOptions, "clock" | "onEvent">,
  ): { close(): void };
}

/** Reads the files of credentials. Throws an XdsError, NOT_FOUND, that names the one that cannot be read; whether they fit together the channel says. */
export function loadCredentials(credentials: BootstrapCredentials): LoadedCredentials {
  if (credentials.type === "insecure") return { follow: () => ({ close: () => undefined }) };
  const first = readTlsFiles(credentials);
  return {
    tls: first,
    follow: (channel, options = {}) =>
      followTlsFiles({
        ...options,
        credentials,
        first,
        apply: (tls) => {
          channel.replaceTls(tls);
        },
      }),
  };
}

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
interface FollowTlsOptions {
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
function followTlsFiles({
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

/** The certificates that credentials name, for a channel. Throws an XdsError, NOT_FOUND, that names the file that cannot be read. */
function readTlsFiles({
  caCertificateFile,
  certificateFile,
  privateKeyFile,
  servername,
}: TlsCredentials): ChannelTls {
  return {
    ...(caCertificateFile !== undefined && { ca: pem("ca_certificate_file", caCertificateFile) }),
    ...(certificateFile !== undefined && { cert: pem("certificate_file", certificateFile) }),
    ...(privateKeyFile !== undefined && { key: pem("private_key_file", privateKeyFile) }),
    ...(servername !== undefined && { servername }),
  };
}

/** The files that credentials name. */
function tlsFilesOf({
  caCertificateFile,
  certificateFile,
  privateKeyFile,
}: TlsCredentials): readonly string[] {
  return [caCertificateFile, certificateFile, privateKeyFile].filter((file) => file !== undefined);
}

function pem(option: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new XdsError(
      "NOT_FOUND",
      `${option} ${file}: ${code === "ENOENT" ? "the file does not exist" : `it cannot be read (${code})`}; give a PEM file`,
      { cause },
    );
  }
}
