import { createHash } from "node:crypto";
import { basename } from "node:path";
import { fromBinary, type JsonValue, type Registry, toBinary } from "@bufbuild/protobuf";
import { fromText } from "@bufbuild/protobuf/txtpb";
import { type DiscoveryResponse, DiscoveryResponseSchema } from "@xdstp/protos/discovery";
import { canonicalJson, isObject, shownReason } from "./documents-of.ts";
import { parseEnvoyYaml } from "./envoy-yaml.ts";
import { findPosition } from "./find-position.ts";
import { Fault, type FolderProblem, quote, reasonOf } from "./folder-problem.ts";
import { messageFrom } from "./json-reason.ts";
import { parseJson } from "./parse-document.ts";
import { type FileFormat, splitFileName } from "./place.ts";
import { problemOf, textOf } from "./read-file.ts";

/** The content of a file with one `DiscoveryResponse`. */
export interface ResponseFile {
  /** The response. `version_info` is that of the file, or a hash of the content if the file has none (C-FILE-4). `type_url` is empty if the file has none. */
  readonly response: DiscoveryResponse;
  /** Returns the line, from 1, at which a member of `resources` begins. `undefined`: the member does not exist, or the format of the file does not have lines. */
  readonly lineOf: (index: number) => number | undefined;
}

/**
 * Reads a file with one `DiscoveryResponse`, as Envoy reads the file of a `path_config_source`: binary, text format, YAML or JSON, by its extension (C-FILE-1). A file with another extension is JSON, as in Envoy.
 * Never throws an error for any content: a file that cannot be read is a problem, with file, line and reason. An empty file is a problem too, because programs empty a file before they fill it.
 *
 * @param file - The path, for the format and for the problem
 * @param registry - The types of the resources; binary files need none
 */
export function readResponseFile(
  file: string,
  bytes: Uint8Array,
  registry: Registry,
): ResponseFile | { readonly problem: FolderProblem } {
  const format = splitFileName(basename(file))?.format ?? "json";
  const source = { text: "" };
  try {
    if (format !== "binary") source.text = textOf(bytes);
    const response = responseIn({ bytes, text: source.text, format }, registry);
    const hasLines = format === "yaml" || format === "json";
    return {
      response: withVersion(response),
      lineOf: (index) =>
        hasLines && index in response.resources
          ? findPosition(source.text, 0, ["resources", index])?.line
          : undefined,
    };
  } catch (error) {
    return { problem: problemOf(error, file, source.text) };
  }
}

interface Content {
  readonly bytes: Uint8Array;
  /** The content as text. Empty for the binary format. */
  readonly text: string;
  readonly format: FileFormat;
}

function responseIn({ bytes, text, format }: Content, registry: Registry): DiscoveryResponse {
  if (format === "binary" ? bytes.length === 0 : text.trim() === "") throw empty();
  if (format === "binary") return fromBytes(bytes);
  if (format === "text") return fromProtoText(text, registry);
  const value = format === "json" ? parseJson(text) : parseEnvoyYaml(text).value;
  if (value === undefined) throw empty();
  const json: JsonValue = canonicalJson(value, 100_000 + 4 * text.length);
  if (!isObject(json))
    throw new Fault({
      code: "not-a-message",
      message: "does not hold a DiscoveryResponse",
      hint: "write version_info and resources as keys",
      path: [],
    });
  const { "@type": stated, ...fields } = json;
  if (stated !== undefined && !isOfResponse(stated))
    throw new Fault({
      code: "wrong-type",
      message: `the @type is ${quote(typeof stated === "string" ? stated : JSON.stringify(stated))}, but a path_config_source holds a ${DiscoveryResponseSchema.typeName}`,
      hint: "write the resource below the key resources, as a member of a list",
      path: ["@type"],
    });
  return messageFrom(DiscoveryResponseSchema, fields, [], { registry });
}

function isOfResponse(stated: JsonValue): boolean {
  return (
    typeof stated === "string" &&
    stated.slice(stated.lastIndexOf("/") + 1) === DiscoveryResponseSchema.typeName
  );
}

function fromBytes(bytes: Uint8Array): DiscoveryResponse {
  try {
    return fromBinary(DiscoveryResponseSchema, bytes);
  } catch (error) {
    throw invalid("binary", reasonOf(error));
  }
}

function fromProtoText(text: string, registry: Registry): DiscoveryResponse {
  try {
    return fromText(DiscoveryResponseSchema, text, { registry });
  } catch (error) {
    throw invalid("text format", shownReason(error));
  }
}

function invalid(form: string, reason: string): Fault {
  return new Fault({
    code: "syntax",
    message: `is not a valid ${DiscoveryResponseSchema.typeName} in ${form}: ${reason}`,
  });
}

function empty(): Fault {
  return new Fault({
    code: "empty-file",
    message: "is empty",
    hint: "write version_info and resources; a list without members is resources: []",
  });
}

function withVersion(response: DiscoveryResponse): DiscoveryResponse {
  if (response.versionInfo !== "") return response;
  const digest = createHash("sha256").update(toBinary(DiscoveryResponseSchema, response));
  return { ...response, versionInfo: digest.digest("hex").slice(0, 32) };
}
