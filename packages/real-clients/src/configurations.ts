import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTestAuthority } from "@xdstp/testing";
import type { Configuration } from "./make-mistakes.ts";
import { useFolder } from "./use-folder.ts";

const corpus = join(import.meta.dirname, "../corpus");

/** The configurations of `corpus/`. */
export function readConfigurations(): readonly Configuration[] {
  return readdirSync(corpus)
    .filter((name) => /\.(?:yaml|json)$/.test(name))
    .map((name) => ({ name, text: readFileSync(join(corpus, name), "utf8") }));
}

/** Makes a copy of `corpus/` for the time of the test, with the certificates to which it refers, and with the key `other`, which fits none of them. */
export function useConfigurations(): string {
  const dir = useFolder();
  cpSync(corpus, dir, { recursive: true });
  const certificates = join(dir, "certs");
  mkdirSync(certificates);
  const authority = createTestAuthority();
  writeFileSync(join(certificates, "ca.crt"), authority.cert);
  for (const name of ["server", "client", "other"]) {
    const { cert, key } = authority.issue({ dnsNames: ["localhost"] });
    writeFileSync(join(certificates, `${name}.crt`), cert);
    writeFileSync(join(certificates, `${name}.key`), key);
  }
  return dir;
}
