import { parentPort, workerData } from "node:worker_threads";
import type { Put } from "@xdstp/core";
import { folderContext } from "./folder-context.ts";
import type { ParsedPuts, ParserSetup, ParseRequest, ParseSummary } from "./parse-messages.ts";
import { readFile } from "./read-file.ts";
import { registryOfParts } from "./registry-parts.ts";

/** One answer has this many resources and bytes of payload at most, and one resource at least. */
const most = { puts: 500, bytes: 1 << 20 };

/** The program of a worker thread that parses large files, one after the other: see `parse-messages.ts`. */
const { dir, registry, types } = workerData as ParserSetup;
const context = folderContext({ dir, registry: registryOfParts(registry), ...(types && { types }) });
let puts: readonly Put[] = [];
let sent = 0;

parentPort?.on("message", (request: ParseRequest) => {
  if (request.kind === "parse") parse(request);
  else sendPuts();
});

function answer(message: ParseSummary | ParsedPuts, transfer: readonly ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer);
}

function parse({ segments, bytes }: Extract<ParseRequest, { kind: "parse" }>): void {
  const { problems, references, ...content } = readFile(segments, bytes, context);
  puts = content.puts;
  sent = 0;
  answer({ count: puts.length, problems, references });
}

function sendPuts(): void {
  const chunk: Put[] = [];
  let size = 0;
  for (const put of puts.slice(sent, sent + most.puts)) {
    const { length } = put.resource.payload.value;
    if (chunk.length > 0 && size + length > most.bytes) break;
    chunk.push(put);
    size += length;
  }
  sent += chunk.length;
  const buffer = new ArrayBuffer(size);
  answer({ puts: inOneBuffer(chunk, buffer) }, [buffer]);
  if (sent === puts.length) puts = [];
}

function inOneBuffer(chunk: readonly Put[], buffer: ArrayBuffer): readonly Put[] {
  let offset = 0;
  return chunk.map(({ typeUrl, resource }) => {
    const { payload } = resource;
    const value = new Uint8Array(buffer, offset, payload.value.length);
    value.set(payload.value);
    offset += value.length;
    return { typeUrl, resource: { ...resource, payload: { ...payload, value } } };
  });
}
