import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Clock } from "@xdstp/core";
import { type FolderEvent, type FolderProblem, formatProblem } from "@xdstp/folder";
import type { Health } from "@xdstp/server";
import type { FederationSource } from "@xdstp/federation";
import type { FollowProblem } from "./follow-files.ts";
import { type TlsContents, TlsFileError, type TlsFiles } from "./tls-files.ts";
import type { UpstreamEvent } from "./cli-event.ts";

/** The health of what a command serves and uses: one row for each kind and name. */
interface HealthBook {
  /** Returns the current rows. A kind and name that was never noted has no row. */
  rows(): readonly Health[];
  /** Notes that the newest state is in use. */
  good(kind: Health["kind"], name: string, more?: Pick<Health, "expiresAt">): void;
  /** Notes that the newest state is not used and the last good one stays. `stale.since` keeps the time of the first such call. */
  bad(
    kind: Health["kind"],
    name: string,
    reason: string,
    more?: Pick<NonNullable<Health["stale"]>, "brokenFiles">,
  ): void;
}

/** Creates an empty book. */
export function createHealthBook({ wallTime }: Pick<Clock, "wallTime">): HealthBook {
  const noted = new Map<string, Health>();
  const keyOf = (kind: string, name: string): string => `${kind} ${name}`;
  return {
    rows: () => [...noted.values()],
    good(kind, name, more) {
      noted.set(keyOf(kind, name), { kind, name, loadedAt: wallTime(), ...more });
    },
    bad(kind, name, reason, more) {
      const before = noted.get(keyOf(kind, name));
      noted.set(keyOf(kind, name), {
        ...before,
        kind,
        name,
        stale: { since: before?.stale?.since ?? wallTime(), reason, ...more },
      });
    },
  };
}

/** Notes an event of the folder feed of `dir`. */
export function noteFolder(book: HealthBook, dir: string, event: FolderEvent): void {
  switch (event.kind) {
    case "loaded":
    case "rejected":
      noteProblems(book, dir, event.problems);
      break;
    case "kept":
      book.bad("source", dir, event.message);
      break;
    case "unreadable":
      book.bad("source", dir, formatProblem(event.problem));
      break;
    case "polling":
    case "foreign-reference":
      break;
  }
}

function noteProblems(book: HealthBook, dir: string, problems: readonly FolderProblem[]): void {
  if (problems.length === 0) {
    book.good("source", dir);
    return;
  }
  book.bad("source", dir, reasonOf(problems.map(formatProblem)), {
    brokenFiles: new Set(problems.map(({ file }) => file)).size,
  });
}

function reasonOf([first = "", ...more]: readonly string[]): string {
  return more.length === 0 ? first : `${first}; and ${more.length} more`;
}

/** Notes the certificate of the server, and the authorities that verify client certificates. If one of these expires, new clients cannot connect. */
export function noteCertificates(book: HealthBook, files: TlsFiles, contents: TlsContents): void {
  book.good("certificate", files.cert, expiryOf(contents.cert, "chain"));
  if (files.clientCa !== undefined && contents.clientCa !== undefined)
    book.good("certificate", files.clientCa, expiryOf(contents.clientCa, "authorities"));
}

/**
 * Notes that new files are not used because one of them is broken. Returns the file name of the row that shows this. A broken key is shown in the row of its certificate.
 * All files are applied together, so other files that were already stale now wait for the broken one.
 */
export function noteBrokenCertificate(
  book: HealthBook,
  files: TlsFiles,
  { text, error }: FollowProblem,
): string {
  const { cert, clientCa = cert } = files;
  const broken = error instanceof TlsFileError && error.part === "clientCa" ? clientCa : cert;
  for (const { kind, name, stale } of book.rows())
    if (kind === "certificate" && name !== broken && stale !== undefined)
      book.bad(kind, name, `it is used only together with ${broken}, which is broken`);
  book.bad("certificate", broken, text);
  return broken;
}

/**
 * Returns when the certificates of a PEM text expire, in milliseconds since the epoch. Returns `undefined` if one of them cannot be read.
 * `chain`: the earliest time, since a chain is valid only with all of its certificates. `authorities`: the latest time, since a file has the old and the new authority while it is being renewed.
 */
export function expiryOf(
  pem: Buffer,
  kind: "chain" | "authorities",
): Pick<Health, "expiresAt"> | undefined {
  const blocks =
    pem.toString("latin1").match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ??
    [];
  try {
    const times = blocks.map((block) => Date.parse(new X509Certificate(block).validTo));
    if (times.length === 0) return undefined;
    return { expiresAt: kind === "chain" ? Math.min(...times) : Math.max(...times) };
  } catch {
    return undefined;
  }
}

/** The certificates that a relay shows to the servers upstream. */
interface UpstreamCertificates {
  rows(): readonly Health[];
  /** Notes an event of the relay. */
  observe(event: UpstreamEvent): void;
}

/** Returns the files of the client certificates in the sources of a bootstrap, each once. */
export function certificateFiles(sources: readonly FederationSource[]): readonly string[] {
  const files = sources
    .flatMap(({ servers }) => servers)
    .flatMap(({ config }) =>
      config?.credentials.type === "tls" ? (config.credentials.certificateFile ?? []) : [],
    );
  return [...new Set(files)];
}

/** Keeps the health of these files up to date with the events of the relay that uses them. */
export function followUpstreamCertificates(
  files: readonly string[],
  clock: Pick<Clock, "wallTime">,
): UpstreamCertificates {
  const book = createHealthBook(clock);
  const note = (file: string): void => {
    book.good("certificate", file, expiryOf(read(file), "chain"));
  };
  for (const file of files) note(file);
  return {
    rows: () => book.rows(),
    observe(event) {
      if (event.kind === "credentials-replaced")
        for (const file of event.files) if (files.includes(file)) note(file);
      if (event.kind === "credentials-rejected")
        for (const file of event.files)
          if (files.includes(file)) book.bad("certificate", file, event.error.text);
    },
  };
}

/** Returns an empty buffer for a file that cannot be read, which then has no expiry. The relay reports such a file itself. */
function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
