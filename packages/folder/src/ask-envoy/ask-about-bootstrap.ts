import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fromBinary, type JsonObject, type JsonValue, type Registry } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import { anyFromJson } from "@xdstp/protos/envoy";
import { typeUrlOf } from "@xdstp/resource-types";
import { bootstrapName, type ReadBootstrap, readBootstrap, readWhole } from "../check-bootstrap.ts";
import { isObject } from "../documents-of.ts";
import { findPosition } from "../find-position.ts";
import { folderContext } from "../folder-context.ts";
import type { FolderProblem, JsonPath } from "../folder-problem.ts";
import { shownField } from "../json-path-of.ts";
import { emptyCluster } from "./bootstrap-of-resources.ts";
import { failureText, type PathAnswer, type Progress, rejectionText } from "./envoy-answer.ts";
import { type EnvoyReason, readReason } from "./envoy-reason.ts";
import { placesOf, stepsOf, valueAt } from "./place-in-json.ts";
import type { EnvoyVerdict, RunningEnvoy } from "./run-envoy.ts";
import { createRedaction } from "./redaction.ts";

interface AskedBootstrap {
  readonly file: string;
  readonly registry: Registry;
  readonly cwd: string;
}

/** Checks a configuration that Envoy starts with. */
export async function askAboutBootstrap(
  { file, registry, cwd }: AskedBootstrap,
  envoy: RunningEnvoy,
  progress: Progress,
): Promise<PathAnswer> {
  const source = await readWhole(file);
  const read = readBootstrap(source, folderContext({ dir: dirname(file), registry }));
  progress.add(1);
  const copy = withoutNewLogs(read.json, cwd);
  const verdict = await (copy === read.json ? envoy.readFile(file) : envoy.readJson(copy));
  progress.done(1);
  if (verdict.kind === "accepted") return { asked: 1, notAsked: 0, problems: [] };
  const message = decoded(read, registry);
  const found = await placed(verdict, { json: copy, message, registry, envoy, text: source.text });
  const show = createRedaction(message, registry);
  const problem = {
    ...found,
    file,
    code: "rejected-by-envoy",
    message: show(found.message),
  } as const;
  return { asked: 1, notAsked: 0, problems: [problem] };
}

function decoded({ json, desc }: ReadBootstrap, registry: Registry): ReflectMessage {
  const { value } = anyFromJson({ ...json, "@type": typeUrlOf(bootstrapName) }, registry);
  return reflect(desc, fromBinary(desc, value));
}

interface Scene {
  readonly json: JsonObject;
  readonly message: ReflectMessage;
  readonly registry: Registry;
  readonly envoy: RunningEnvoy;
  readonly text: string;
}

type Found = Pick<FolderProblem, "message" | "line" | "column">;

async function placed(
  verdict: Exclude<EnvoyVerdict, { readonly kind: "accepted" }>,
  scene: Scene,
): Promise<Found> {
  const { envoy, text } = scene;
  if (verdict.kind === "failed") return { message: failureText(envoy, verdict.text) };
  const reason = readReason(verdict.text);
  const message = rejectionText(envoy, reason);
  if (reason.where.kind === "position") {
    const { line, column } = reason.where;
    return { message, line, column };
  }
  const places = placesOf(reason, scene);
  const [only, ...others] = places;
  const isClear = only !== undefined && others.length === 0;
  const path = isClear ? only : await narrowed(places, reason, scene);
  const subject = path.length === 0 ? "" : `${shownField(stepsOf(path))}: `;
  return { message: `${subject}${message}`, ...findPosition(text, 0, path) };
}

/** Finds the place that Envoy means if it may be several places, or any. Envoy reads parts of the static resources for this. */
async function narrowed(
  places: readonly JsonPath[],
  reason: EnvoyReason,
  scene: Scene,
): Promise<JsonPath> {
  const items = itemsOf(scene.json);
  const isIn = async (some: readonly JsonPath[]): Promise<boolean> => {
    const verdict = await scene.envoy.readJson(withItems(scene.json, some));
    return verdict.kind === "rejected" && readReason(verdict.text).message === reason.message;
  };
  const isInOther = await isIn([]);
  const item = isInOther ? undefined : await firstOf(items, isIn);
  const isBelow = (path: JsonPath, above: JsonPath): boolean =>
    above.every((step, at) => path[at] === step);
  const inItem = places.find((path) =>
    item === undefined ? isInOther && path[0] !== "static_resources" : isBelow(path, item),
  );
  return inItem ?? item ?? places[0] ?? [];
}

/** Returns the one item that results in the same answer on its own, or `undefined` if several are needed. */
async function firstOf(
  items: readonly JsonPath[],
  isIn: (some: readonly JsonPath[]) => Promise<boolean>,
): Promise<JsonPath | undefined> {
  let left = items;
  while (left.length > 1) {
    const half = left.slice(0, Math.ceil(left.length / 2));
    left = (await isIn(half)) ? half : left.slice(half.length);
  }
  return left.length === 1 && (items.length === 1 || (await isIn(left))) ? left[0] : undefined;
}

const lists = ["clusters", "listeners", "secrets"] as const;

function itemsOf(json: JsonObject): readonly JsonPath[] {
  return lists.flatMap((list) => {
    const items = valueAt(json, ["static_resources", list]);
    return Array.isArray(items) ? items.map((_, index) => ["static_resources", list, index]) : [];
  });
}

/** Returns a configuration with only these of the static resources. All other clusters are replaced by empty ones of the same names. */
function withItems(json: JsonObject, items: readonly JsonPath[]): JsonObject {
  const kept = new Set(items.map((path) => path.join(".")));
  const { static_resources: all } = json;
  if (!isObject(all)) return json;
  const part: Record<string, JsonValue> = {};
  for (const list of lists) {
    const inList = all[list];
    if (!Array.isArray(inList)) continue;
    part[list] = inList.flatMap((item, index) => {
      if (kept.has(`static_resources.${list}.${index}`)) return [item];
      const name = isObject(item) ? item.name : undefined;
      const isNamed = list === "clusters" && typeof name === "string" && name !== "";
      return isNamed ? [emptyCluster(name)] : [];
    });
  }
  return { ...json, static_resources: { ...all, ...part } };
}

/** Fields with the path of a log that Envoy creates when it reads the configuration. */
const logFields: ReadonlySet<string> = new Set([
  "access_log_path",
  "accessLogPath",
  "event_log_path",
  "eventLogPath",
]);
const fileLogs = /\.(?:FileAccessLog|HealthCheckEventFileSink)$/;

/** Returns the same configuration with `/dev/null` in place of each log that Envoy would create. */
function withoutNewLogs(json: JsonObject, cwd: string): JsonObject {
  return changed(json) as JsonObject;

  function changed(value: JsonValue): JsonValue {
    if (Array.isArray(value)) {
      const items = value.map(changed);
      return items.every((item, index) => item === value[index]) ? value : items;
    }
    if (!isObject(value)) return value;
    const isLog = typeof value["@type"] === "string" && fileLogs.test(value["@type"]);
    const entries = Object.entries(value).map(([key, inner]): [string, JsonValue] => {
      const names = logFields.has(key) || (isLog && key === "path");
      return [key, names && isNew(inner, cwd) ? "/dev/null" : changed(inner)];
    });
    return entries.every(([key, inner]) => inner === value[key])
      ? value
      : Object.fromEntries(entries);
  }
}

/** Returns true if Envoy would create the file: it does not exist, but its directory does. */
function isNew(path: JsonValue, cwd: string): boolean {
  if (typeof path !== "string") return false;
  const file = resolve(cwd, path);
  return (
    !existsSync(file) && statSync(dirname(file), { throwIfNoEntry: false })?.isDirectory() === true
  );
}
