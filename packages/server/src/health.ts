/** How things stand with something that a server serves or uses: a folder, a policy file, a certificate, a server above it. */
export interface Health {
  /** What it is. A kind that is not known is shown as it is. */
  readonly kind: "source" | "policy" | "certificate" | "upstream" | (string & {});
  /** Which one, for people: a directory, a file, an address. */
  readonly name: string;
  /** When its last good state was loaded, in milliseconds since the epoch. Absent: never. */
  readonly loadedAt?: number;
  /** The newest state is not used, since when (milliseconds since the epoch), why, and the number of files that are broken, where that is known. Absent: the last good state is the newest one. */
  readonly stale?: {
    readonly since: number;
    readonly reason: string;
    readonly brokenFiles?: number;
  };
  /** When it expires, in milliseconds since the epoch. Absent: never. */
  readonly expiresAt?: number;
}
