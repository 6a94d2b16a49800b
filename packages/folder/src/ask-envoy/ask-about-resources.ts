import { readFile as readBytes } from "node:fs/promises";
import { relative, sep } from "node:path";
import { type JsonObject, type Registry, toJson } from "@bufbuild/protobuf";
import type { ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { Put } from "@xdstp/core";
import { readResourcesOfFile } from "../check-file.ts";
import { createResourceCheck } from "../check-resource.ts";
import { isObject } from "../documents-of.ts";
import { unpackAny } from "../envoy-checks/visit-messages.ts";
import {
  type FolderContext,
  folderContext,
  type FolderOptions,
  type ResourceCheck,
  type ResourceFault,
} from "../folder-context.ts";
import { fileTrouble, type FolderProblem, type JsonPath } from "../folder-problem.ts";
import { shownField } from "../json-path-of.ts";
import { mapLimit } from "../pacing.ts";
import { severityOf } from "../problem-codes.ts";
import { readFile } from "../read-file.ts";
import { readEntries } from "../read-folder.ts";
import { bootstrapOf, type PlacedSlot, type Slot, slotOf } from "./bootstrap-of-resources.ts";
import { failureText, type PathAnswer, type Progress, rejectionText } from "./envoy-answer.ts";
import { readReason } from "./envoy-reason.ts";
import { followIn, placesOf, stepsOf } from "./place-in-json.ts";
import { createRedaction } from "./redaction.ts";
import { type EnvoyVerdict, parallel, type RunningEnvoy } from "./run-envoy.ts";

/** The folder, or one file in it, whose resources are checked. */
interface AskedResources extends Pick<FolderOptions, "dir" | "registry" | "types"> {
  readonly file?: string;
}

/** The number of resources that Envoy reads in one configuration. */
const mostTogether = 250;

/** Checks the resources of a folder or of a file. */
export async function askAboutResources(
  asked: AskedResources,
  envoy: RunningEnvoy,
  progress: Progress,
): Promise<PathAnswer> {
  const context = folderContext(asked);
  const held = await resourcesIn(asked, context);
  const check = await createResourceCheck(context);
  const items = held.flatMap((one, index) =>
    check(one.put).some(isError) ? [] : itemOf(one, index, context.registry),
  );
  progress.add(items.length);
  const rejections = (
    await mapLimit(groupsOf(items), parallel, async (group) => {
      const found = await rejectedIn(group, envoy);
      progress.done(group.length);
      return found;
    })
  ).flat();
  const unread = rejections.filter(({ verdict }) => isForeignFile(verdict));
  const problems = await problemsOf(
    rejections.filter(({ verdict }) => !isForeignFile(verdict)),
    { asked, context, envoy },
  );
  return {
    asked: items.length - unread.length,
    notAsked: held.length - items.length + unread.length,
    problems,
  };
}

function isError({ code }: Pick<ResourceFault, "code">): boolean {
  return severityOf(code) === "error";
}

/** A resource, with its file and its node key. */
interface HeldResource {
  readonly file: string;
  readonly node?: string | undefined;
  readonly put: Put;
}

async function resourcesIn(
  asked: AskedResources,
  context: FolderContext,
): Promise<readonly HeldResource[]> {
  const { file } = asked;
  if (file !== undefined) {
    const puts: Put[] = [];
    await readResourcesOfFile(file, context, (put) => {
      puts.push(put);
      return [];
    });
    return puts.map((put) => ({ file, put }));
  }
  const { entries } = await readEntries(asked, context);
  return entries.flatMap(({ file: path, node, put }) =>
    put === undefined ? [] : [{ file: path, node, put }],
  );
}

/** A resource that Envoy reads when it starts. */
interface Item extends HeldResource {
  readonly json: JsonObject;
  readonly message: ReflectMessage;
  readonly slot: Slot;
}

function itemOf(held: HeldResource, index: number, registry: Registry): readonly Item[] {
  const { payload } = held.put.resource;
  if (payload.typeUrl !== held.put.typeUrl) return []; // A redirect.
  const message = unpackAny(payload, registry);
  if (message === undefined) return [];
  const json = toJson(message.desc, message.message, { registry, useProtoFieldName: true });
  const slot = isObject(json) ? slotOf(payload.typeUrl, json, index + 1) : undefined;
  return slot === undefined || !isObject(json) ? [] : [{ ...held, json, message, slot }];
}

/** Returns groups of resources that can be in one configuration: each name occurs once in a group, and all of its resources are for the same nodes. */
function groupsOf(items: readonly Item[]): readonly (readonly Item[])[] {
  const seen = new Map<string, number>();
  const rounds = Map.groupBy(items, ({ node, put }) => {
    const key = JSON.stringify([node, put.typeUrl, put.resource.name]);
    const round = seen.get(key) ?? 0;
    seen.set(key, round + 1);
    return JSON.stringify([node, round]);
  });
  return [...rounds.values()].flatMap((round) =>
    Array.from({ length: Math.ceil(round.length / mostTogether) }, (_, index) =>
      round.slice(index * mostTogether, (index + 1) * mostTogether),
    ),
  );
}

type Refusal = Exclude<EnvoyVerdict, { readonly kind: "accepted" }>;

/** A resource that Envoy rejects when it reads it without the others. */
interface Rejection {
  readonly item: Item;
  readonly verdict: Refusal;
  readonly placed: PlacedSlot;
}

/** Returns the resources that Envoy rejects. Envoy reports only the first problem, so the configuration is read again without the resource that it named, or in halves if it named none. */
async function rejectedIn(
  items: readonly Item[],
  envoy: RunningEnvoy,
): Promise<readonly Rejection[]> {
  if (items.length === 0) return [];
  const { json, placed } = bootstrapOf(items.map(({ slot }) => slot));
  const verdict = await envoy.readJson(json);
  if (verdict.kind === "accepted") return [];
  const slots = new Map(placed.map((one) => [one.slot, one]));
  const [first, ...others] = items;
  const alone = first === undefined ? undefined : slots.get(first.slot);
  if (first !== undefined && alone !== undefined && others.length === 0)
    return [{ item: first, verdict, placed: alone }];
  const meant = items.find(({ slot }) => {
    const one = slots.get(slot);
    return one !== undefined && isMeant(verdict, one, json);
  });
  const parts =
    meant === undefined
      ? [items.slice(0, items.length >> 1), items.slice(items.length >> 1)]
      : [[meant], items.filter((one) => one !== meant)];
  const found: Rejection[] = [];
  for (const part of parts) found.push(...(await rejectedIn(part, envoy)));
  return found;
}

/** Returns true if the answer of Envoy names the item of a slot. */
function isMeant(verdict: Refusal, { slot }: PlacedSlot, json: JsonObject): boolean {
  if (verdict.kind === "failed") return false;
  const { where } = readReason(verdict.text);
  if (where.kind !== "path") return false;
  const path = followIn(json, where.path);
  const { list } = slot;
  if (list.some((step, at) => path[at] !== step)) return false;
  const items = list.reduce<unknown>(
    (at, step) => (at as Readonly<Record<string | number, unknown>>)[step],
    json,
  );
  return Array.isArray(items) && items[Number(path[list.length])] === slot.item;
}

/** Returns true if Envoy needs a file of the machine that it will run on. */
function isForeignFile(verdict: Refusal): boolean {
  return verdict.kind === "rejected" && foreignFile.test(verdict.text);
}

const foreignFile =
  /^Invalid path: |[Uu]nable to (?:read|open) file|No such file or directory|^Failed to load (?:incomplete )?(?:certificate|private key|trusted CA certificates|CRL).* from (?!<inline>)/;

async function problemsOf(
  rejections: readonly Rejection[],
  scene: {
    readonly asked: AskedResources;
    readonly context: FolderContext;
    readonly envoy: RunningEnvoy;
  },
): Promise<readonly FolderProblem[]> {
  const { asked, context, envoy } = scene;
  const problems: FolderProblem[] = [];
  for (const [file, inFile] of Map.groupBy(rejections, ({ item }) => item.file)) {
    const faults = inFile.map((rejection) => ({
      put: rejection.item.put,
      fault: faultOf(rejection, context.registry, envoy),
    }));
    problems.push(...(await withLines(file, faults, asked, context)));
  }
  return problems;
}

function faultOf(
  { item, verdict, placed }: Rejection,
  registry: Registry,
  envoy: RunningEnvoy,
): ResourceFault {
  const code = "rejected-by-envoy";
  const show = createRedaction(item.message, registry);
  if (verdict.kind === "failed")
    return { code, path: [], message: show(failureText(envoy, verdict.text)) };
  const reason = readReason(verdict.text);
  const [at = []] = placesIn(item, reason, placed, registry);
  const path = stepsOf(at);
  const subject = path.length === 0 ? "" : `${shownField(path)}: `;
  return { code, path, message: show(`${subject}${rejectionText(envoy, reason)}`) };
}

/** Returns the places in the resource that Envoy may mean. */
function placesIn(
  { json, message, slot }: Item,
  reason: ReturnType<typeof readReason>,
  { path: way }: PlacedSlot,
  registry: Registry,
): readonly JsonPath[] {
  const { where } = reason;
  if (where.kind !== "path") return placesOf(reason, { json, message, registry });
  if (way.some((step, at) => where.path[at] !== step)) return [];
  const below = [...slot.from, ...where.path.slice(way.length)];
  return [followIn(json, below)];
}

interface FaultOfPut {
  readonly put: Put;
  readonly fault: ResourceFault;
}

/** Reads a file again with the faults as the result of its check, so that the problems get lines. */
async function withLines(
  file: string,
  faults: readonly FaultOfPut[],
  { file: single }: AskedResources,
  context: FolderContext,
): Promise<readonly FolderProblem[]> {
  const left = new Set(faults);
  const check: ResourceCheck = (put) => {
    const found = [...left].find((one) => isSame(one.put, put));
    if (found === undefined) return [];
    left.delete(found);
    return [found.fault];
  };
  const problems = await readAgain(file, { ...context, check }, single !== undefined);
  // A resource that is not written in the text, such as a secret made of PEM files, has no line.
  const unplaced = [...left].map(({ fault: { code, message } }) => ({ file, code, message }));
  return [...problems.filter(({ code }) => code === "rejected-by-envoy"), ...unplaced];
}

function isSame(a: Put, b: Put): boolean {
  return (
    a.typeUrl === b.typeUrl &&
    a.resource.name === b.resource.name &&
    Buffer.compare(a.resource.payload.value, b.resource.payload.value) === 0
  );
}

async function readAgain(
  file: string,
  context: FolderContext,
  isAlone: boolean,
): Promise<readonly FolderProblem[]> {
  if (isAlone)
    return (await readResourcesOfFile(file, context, context.check ?? (() => []))).problems;
  try {
    const segments = relative(context.dir, file).split(sep);
    return readFile(segments, await readBytes(file), context).problems;
  } catch (error) {
    return [{ file, ...fileTrouble(error) }];
  }
}
