import type { JsonObject } from "@bufbuild/protobuf";
import { secret, shortTypes, typeUrlOf } from "@xdstp/resource-types";
import type { FolderContext } from "./folder-context.ts";
import { Fault } from "./folder-problem.ts";
import { nodesFolder, placeOf } from "./place.ts";
import { resourceFromCandidate } from "./resource-from-candidate.ts";
import { type FileContent, problemOf } from "./read-file.ts";

/** The PEM files in the directory of a secret, by name. */
const names: ReadonlyMap<string, PemFile> = new Map([
  ["tls.crt", "certificate"],
  ["tls.key", "key"],
  ["ca.crt", "authority"],
]);

/** The kind of a PEM file. `paired-authority`: an authority in the directory of a certificate or key. */
export type PemFile = "certificate" | "key" | "authority" | "paired-authority";

/**
 * Returns the kind of a PEM file in a directory with the layout of a Kubernetes Secret: `_opaque/secrets/NAME/tls.crt`.
 * Returns `undefined` for files in other directories or with other names.
 */
export function pemFileOf(segments: readonly string[]): PemFile | undefined {
  const [authority, type = "", ...path] =
    segments[0] === nodesFolder ? segments.slice(2) : segments;
  const isSecret = (shortTypes.get(type) ?? typeUrlOf(type)) === secret.typeUrl;
  return authority !== undefined && isSecret && path.length > 1
    ? names.get(path.at(-1) ?? "")
    : undefined;
}

/** A file in a listing. */
interface ListedFile {
  readonly segments: readonly string[];
  readonly pem?: PemFile;
}

/** Returns the files that have a resource. A key belongs to the certificate next to it, so it has none of its own. */
export function arrangePemFiles<F extends ListedFile>(files: readonly F[]): readonly F[] {
  const pem = files.filter((file) => file.pem !== undefined);
  if (pem.length === 0) return files;
  const certificates = new Set(pem.filter((file) => file.pem === "certificate").map(directoryOf));
  const keys = new Set(pem.filter((file) => file.pem === "key").map(directoryOf));
  return files.flatMap((file): readonly F[] => {
    const directory = directoryOf(file);
    if (file.pem === "key" && certificates.has(directory)) return [];
    const isPaired = certificates.has(directory) || keys.has(directory);
    return file.pem === "authority" && isPaired ? [{ ...file, pem: "paired-authority" }] : [file];
  });
}

function directoryOf({ segments }: ListedFile): string {
  return segments.slice(0, -1).join("/");
}

/** Returns the secret of a PEM file. Its fields contain the names of the files, whose content is read like that of every file that a secret names. */
export function readPemFile(
  { segments, pem = "certificate" }: ListedFile,
  file: string,
  context: FolderContext,
): FileContent {
  try {
    const json = secretOf[pem];
    if (json === undefined)
      throw new Fault({
        code: "bad-certificate",
        message: "is a private key without a certificate",
        hint: "write its certificate to tls.crt next to it",
      });
    const directory = segments.slice(0, -1);
    const path = pem === "paired-authority" ? [...directory, "ca"] : directory;
    const place = placeOf([...path.slice(0, -1), `${path.at(-1) ?? ""}.yaml`], context);
    const candidate = { type: place.type, content: { json }, alone: true, document: 0, path: [] };
    return {
      puts: [resourceFromCandidate(candidate, place, context)],
      problems: [],
      warnings: [],
      references: [],
    };
  } catch (error) {
    return { puts: [], problems: [problemOf(error, file, "")], warnings: [], references: [] };
  }
}

const authority: JsonObject = { validation_context: { trusted_ca: { filename: "ca.crt" } } };

const secretOf: Readonly<Record<PemFile, JsonObject | undefined>> = {
  certificate: {
    tls_certificate: {
      certificate_chain: { filename: "tls.crt" },
      private_key: { filename: "tls.key" },
    },
  },
  authority,
  "paired-authority": authority,
  key: undefined,
};
