import { createHash } from "node:crypto";
import { join } from "node:path";
import { type JsonObject, type Registry, toJson } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import type { StoredResource } from "@xdstp/core";
import {
  cluster,
  clusterLoadAssignment,
  listener,
  routeConfiguration,
  secret,
  typedExtensionConfig,
} from "@xdstp/resource-types";

import { fileNameOf } from "./file-name.ts";
import { type NamedFile, rewire } from "./path-source.ts";
import type { FileMode } from "./replace-file.ts";

/** A file of an export. */
export interface ExportedFile {
  /** The path below the directory of the export, with slashes: `cds.json`, `eds/web.json`. */
  readonly path: string;
  /** The type URL of its resources. */
  readonly typeUrl: string;
  /** The number of its resources. 0: the server does not have the resource that is referred to. */
  readonly resources: number;
}

/** Something that a reader of the files does not get as a client of the server would. */
export interface ExportNote {
  /** The file that the note is about. */
  readonly path: string;
  /** The path and the reason, in one line. */
  readonly message: string;
}

/** All files of an export. */
export interface ExportState {
  /** In the order in which they are written: a file is written before the files that refer to it. */
  readonly files: readonly ExportedFile[];
  /** The resources that a reader of the files does not get. */
  readonly notes: readonly ExportNote[];
  /** The number of files that were written or removed to get from the state before to this one. */
  readonly changed: number;
}

/** A file with its content. */
export interface PlannedFile extends ExportedFile {
  readonly text: string;
  readonly mode: FileMode;
}

/** The files of all resources of a type, in the order in which they are written. */
interface Layout {
  readonly typeUrl: string;
  /** One file for all resources, or a directory with one file for each, as Envoy expects a single route configuration or assignment in a file. */
  readonly form: "file" | "directory";
  readonly name: string;
}

/** Endpoints, secrets and extensions come before the clusters and listeners that refer to them: Envoy rejects a reference to a file that does not exist. */
export const layouts: readonly Layout[] = [
  { typeUrl: secret.typeUrl, form: "directory", name: "sds" },
  { typeUrl: typedExtensionConfig.typeUrl, form: "directory", name: "ecds" },
  { typeUrl: clusterLoadAssignment.typeUrl, form: "directory", name: "eds" },
  { typeUrl: cluster.typeUrl, form: "file", name: "cds" },
  { typeUrl: routeConfiguration.typeUrl, form: "directory", name: "rds" },
  { typeUrl: listener.typeUrl, form: "file", name: "lds" },
];

/** Returns the path of the file with a named resource, below the directory of the export. */
export function pathOfNamed({ typeUrl, name }: NamedFile): string {
  const layout = layouts.find((one) => one.typeUrl === typeUrl);
  return `${layout?.name ?? "other"}/${fileNameOf(name)}.json`;
}

/** The state of a source: the resource of a name, and all resources of a type. */
export interface ReadState {
  /** Returns all resources of a type. */
  readonly all: (typeUrl: string) => readonly StoredResource[];
  /** Returns a resource by name. `undefined`: it does not exist. */
  readonly one: (file: NamedFile) => StoredResource | undefined;
}

/** Options of {@link planFiles}. */
export interface PlanFilesOptions {
  /** The directory of the export, as the reader of the files sees it. */
  readonly readDir: string;
  readonly registry: Registry;
}

/** The files for a state of a source. */
export interface FilePlan {
  readonly files: readonly PlannedFile[];
  readonly notes: readonly ExportNote[];
  /** All names that are referred to. */
  readonly named: readonly NamedFile[];
}

/**
 * Returns the files for a state: all listeners and clusters, and what these refer to by name, directly or through other resources.
 * Throws for a resource that is not a message of the registry.
 */
export function planFiles(state: ReadState, { readDir, registry }: PlanFilesOptions): FilePlan {
  const notes: ExportNote[] = [];
  const named = new Map<string, NamedFile>();
  const pathOf = (file: NamedFile): string => {
    const path = pathOfNamed(file);
    named.set(path, file);
    return join(readDir, path);
  };
  const fileOf = (path: string, typeUrl: string, resources: readonly StoredResource[]) => {
    const members = resources.map(({ payload }): JsonObject => {
      const any = toJson(
        AnySchema,
        { $typeName: AnySchema.typeName, typeUrl: payload.typeUrl, value: payload.value },
        { registry, useProtoFieldName: true },
      ) as JsonObject;
      const { json, left } = rewire(any, pathOf);
      for (const field of left)
        notes.push({
          path,
          message: `${path}: ${nameIn(any)}: ${field} stays a ConfigSource of the server, which has no form as a file; a client without the server cannot use it`,
        });
      return json;
    });
    return plannedFile(path, typeUrl, members);
  };
  const files = new Map<string, PlannedFile>();
  for (const { form, name, typeUrl } of layouts)
    if (form === "file") {
      const path = `${name}.json`;
      files.set(path, fileOf(path, typeUrl, byName(state.all(typeUrl))));
    }
  // A Map is read to its end, also the names that are added meanwhile.
  for (const [path, file] of named) {
    const resource = state.one(file);
    if (resource === undefined)
      notes.push({
        path,
        message: `${path}: the server does not have ${JSON.stringify(file.name)}, so the file has no resources`,
      });
    files.set(path, fileOf(path, file.typeUrl, resource === undefined ? [] : [resource]));
  }
  const order = new Map(layouts.map(({ typeUrl }, index) => [typeUrl, index]));
  const rank = ({ typeUrl }: PlannedFile): number => order.get(typeUrl) ?? 0;
  return {
    files: [...files.values()].sort((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : 1)),
    notes,
    named: [...named.values()],
  };
}

function plannedFile(path: string, typeUrl: string, resources: readonly JsonObject[]): PlannedFile {
  const content = JSON.stringify(resources, undefined, 2);
  const version = createHash("sha256").update(content).digest("hex").slice(0, 32);
  return {
    path,
    typeUrl,
    resources: resources.length,
    text: `${JSON.stringify({ version_info: version, type_url: typeUrl, resources }, undefined, 2)}\n`,
    mode: typeUrl === secret.typeUrl ? "private" : "shared",
  };
}

function byName(resources: readonly StoredResource[]): readonly StoredResource[] {
  return [...resources].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function nameIn({ name, cluster_name: clusterName }: JsonObject): string {
  return JSON.stringify(name ?? clusterName ?? "");
}
