import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { createResourceCheck } from "./check-resource.ts";
import { Fault, reasonOf } from "./folder-problem.ts";
import { type FolderContext, folderContext } from "./folder-context.ts";
import {
  type ParsedPuts,
  type ParseRequest,
  type ParserSetup,
  type ParseSummary,
  registryOfParts,
} from "./parse-messages.ts";
import { type FileContent, type FilePut, readFile } from "./read-file.ts";

/** The largest number of resources, and of bytes of their payloads, in one answer. An answer has at least one resource. */
const most = { puts: 500, bytes: 1 << 20 };

/** The program of a process that parses large files one after the other. `parse-messages.ts` describes its messages. */
let context: Promise<FolderContext> | undefined;
let puts: readonly FilePut[] = [];
let sent = 0;

process.on("message", (request: ParseRequest) => {
  switch (request.kind) {
    case "setup":
      context = contextOf(request.setup);
      break;
    case "parse":
      void parse(request.segments).then(answer);
      break;
    case "puts":
      answer({ puts: nextPuts() });
  }
});

// The parent process decides when this one ends. A Ctrl-C is sent to both.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => undefined);
process.on("disconnect", () => process.exit());

// This process has a low priority, since serving clients is more important. If memory is exhausted, the system ends it before its parent.
setPriority(constants.priority.PRIORITY_LOW);
try {
  writeFileSync("/proc/self/oom_score_adj", "1000");
} catch {
  // Other systems do not have this file.
}

async function contextOf(setup: ParserSetup): Promise<FolderContext> {
  const { dir, registry, isChecked, allow, clients, types } = setup;
  const base = folderContext({
    dir,
    registry: registryOfParts(registry),
    allow,
    clients,
    ...(types && { types }),
  });
  return isChecked ? { ...base, check: await createResourceCheck(base) } : base;
}

function answer(message: ParseSummary | ParsedPuts): void {
  process.send?.(message);
}

async function parse(segments: readonly string[]): Promise<ParseSummary> {
  const { hash, problems, warnings, references, ...content } = await read(segments);
  puts = content.puts;
  sent = 0;
  return { hash, count: puts.length, problems, warnings, references };
}

async function read(
  segments: readonly string[],
): Promise<FileContent & Pick<ParseSummary, "hash">> {
  const file = { dir: "" };
  try {
    if (context === undefined)
      throw new Fault({ code: "unreadable-file", message: "was requested before the setup" });
    const known = await context;
    file.dir = known.dir;
    const bytes = readFileSync(join(known.dir, ...segments));
    return {
      hash: createHash("sha256").update(bytes).digest("base64"),
      ...readFile(segments, bytes, known),
    };
  } catch (error) {
    return {
      hash: "",
      puts: [],
      problems: [
        {
          file: join(file.dir, ...segments),
          code: "unreadable-file",
          message: `cannot be read: ${reasonOf(error)}`,
        },
      ],
      warnings: [],
      references: [],
    };
  }
}

function nextPuts(): readonly FilePut[] {
  const from = sent;
  let size = 0;
  while (sent < puts.length && sent - from < most.puts && (size === 0 || size < most.bytes))
    size += puts[sent++]?.resource.payload.value.length ?? 0;
  const next = puts.slice(from, sent);
  if (sent === puts.length) puts = [];
  return next;
}
