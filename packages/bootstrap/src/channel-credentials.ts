import { readFileSync, statSync } from "node:fs";
import type { ChannelTls, GrpcChannel } from "@xdstp/grpc/client";
import { type Clock, systemClock, type Timer, XdsError } from "@xdstp/core";
import type { BootstrapCredentials, TlsCredentials } from "./grpc/bootstrap.ts";

/** The credentials of a server, ready for a channel. */
interface LoadedCredentials {
  /** The option `tls` of the channel. Absent: without TLS. */
  readonly tls?: ChannelTls;
  /**
   * Updates the certificates of a channel when their files change, until closed. Does nothing if
   * there are no files.
   */
  follow(
    channel: Pick<GrpcChannel, "replaceTls">,
    options?: Pick<FollowTlsOptions, "clock" | "onEvent">,
  ): { close(): void };
}

/**
 * Reads the files of credentials. Throws an XdsError, NOT_FOUND, that names an unreadable file. The
 * channel checks whether the files match each other.
 */
export function loadCredentials(credentials: BootstrapCredentials): LoadedCredentials {
  if (credentials.type !== "tls") return { follow: () => ({ close: () => undefined }) };
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

/** The result of a change of certificate files. */
export type CredentialsEvent =
  /** The new files are used for new connections. */
  | { readonly kind: "credentials-replaced"; readonly files: readonly string[] }
  /**
   * The new files cannot be used, and `error` has the reason; the previous ones stay in use.
   * Reported once for each reason.
   */
  | {
      readonly kind: "credentials-rejected";
      readonly files: readonly string[];
      readonly error: XdsError;
    };

/** Options of {@link followTlsFiles}. */
interface FollowTlsOptions {
  readonly credentials: TlsCredentials;
  /** The certificates that are in use. */
  readonly first: ChannelTls;
  /** Uses other certificates, as `replaceTls` of a channel does. Throws if they are invalid. */
  readonly apply: (tls: ChannelTls) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Receives events. Exceptions are ignored. */
  readonly onEvent?: (event: CredentialsEvent) => void;
}

/**
 * The modification times are checked at least this often, in milliseconds. A check costs little, so
 * a change need not wait for the refresh interval.
 */
const lookMs = 10_000;

/**
 * Updates certificates when their files change. The files are read again every `refreshIntervalMs`
 * (A65), and within 10 s of a change of their modification times.
 * Files that are invalid, half written or do not match each other are not used: they are read again
 * at each check until they can be used.
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
    /** the certificates are still followed */
  }
}

/** Returns a text that is equal for equal contents. */
function fingerprint({ ca, cert, key }: ChannelTls): string {
  return [ca, cert, key].map((pem) => Buffer.from(pem ?? "").toString("base64")).join(" ");
}

/**
 * Returns the modification times of the files. It includes the inode, so that a replaced link is
 * noticed.
 */
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

/**
 * Reads the certificates of credentials, for a channel. Throws an XdsError, NOT_FOUND, that names
 * an unreadable file.
 */
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

/** Returns the file names in credentials. */
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
