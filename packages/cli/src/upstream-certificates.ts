import { readFileSync } from "node:fs";
import type { Clock } from "@xdstp/core";
import type { FederationSource } from "@xdstp/federation";
import type { Health } from "@xdstp/server";
import type { UpstreamEvent } from "./cli-event.ts";
import { createHealthBook } from "./health-book.ts";
import { expiryOf } from "./note-certificates.ts";

/** The certificates that a relay shows to the servers upstream. */
export interface UpstreamCertificates {
  rows(): readonly Health[];
  /** Notes an event of the relay. */
  observe(event: UpstreamEvent): void;
}

/** The files of the certificates that a client shows to the servers of a bootstrap. */
export function certificateFiles(sources: readonly FederationSource[]): readonly string[] {
  const files = sources
    .flatMap(({ servers }) => servers)
    .flatMap(({ config }) =>
      config?.credentials.type === "tls" ? (config.credentials.certificateFile ?? []) : [],
    );
  return [...new Set(files)];
}

/** Follows these files by the events of the relay that uses them. */
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

/** A file that cannot be read has no expiry; the relay reports it itself. */
function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
