import { dirname } from "node:path";
import type { JsonObject, Registry } from "@bufbuild/protobuf";
import {
  bootstrapFormat,
  bootstrapText,
  checkBootstrap,
  readBootstrap,
} from "../check-bootstrap.ts";
import { findPosition } from "../find-position.ts";
import { folderContext } from "../folder-context.ts";
import { Fault, fileTrouble, type FolderProblem } from "../folder-problem.ts";
import { problemOf } from "../read-file.ts";
import { failedImport, type ImportConnection, type Imported } from "./imported.ts";
import { keyOf, objectOf, textOf, valueOf } from "./messages-in-json.ts";
import { leadsTo, planImport } from "./plan-import.ts";
import { yamlWithComments } from "./yaml-with-comments.ts";

/** Options of {@link importBootstrap} and {@link mergeBootstrap}. */
export interface BootstrapImportOptions {
  /** A configuration with which Envoy starts: YAML or JSON, by its extension. */
  readonly file: string;
  /** `envoyRegistry()` of `@xdstp/protos/envoy`, or one that has more. */
  readonly registry: Registry;
  /** The connection of Envoy to the server. */
  readonly connection: ImportConnection;
}

/**
 * Divides a configuration with which Envoy starts: static listeners, clusters and secrets become files of a folder, and the rest becomes a bootstrap that takes them from a server. Comments are kept.
 * A resource stays static if other static parts or config sources refer to it. Never rejects: the reasons why the file cannot be read are in `problems`, in the form of `checkBootstrap`.
 */
export function importBootstrap(options: BootstrapImportOptions): Promise<Imported> {
  return divide(options, true);
}

/** Adds the connection to a server to a configuration with which Envoy starts, without other changes. `files` of the result is empty. Never rejects. */
export function mergeBootstrap(options: BootstrapImportOptions): Promise<Imported> {
  return divide(options, false);
}

async function divide(
  { file, registry, connection }: BootstrapImportOptions,
  movesStatic: boolean,
): Promise<Imported> {
  let warnings: Imported["warnings"] = [];
  try {
    const format = bootstrapFormat(file);
    const text = await bootstrapText(file);
    const checked = await checkBootstrap({ file, text, registry, readsFiles: false });
    if (checked.problems.length > 0 && text.includes("/envoy.admin.v3.BootstrapConfigDump"))
      throw new Fault({
        code: "not-a-message",
        message: "is what a running Envoy has, not a configuration with which one starts",
        hint: "import it with: xdstp import config-dump",
      });
    // The node may be an argument of the command that starts Envoy.
    const found = Map.groupBy(checked.problems, ({ code }) => code === "missing-node");
    const problems = found.get(false) ?? [];
    if (problems.length > 0) return failedImport(problems, checked.warnings);
    warnings = [...(found.get(true) ?? []), ...checked.warnings];
    const context = folderContext({ dir: dirname(file), registry });
    // Aliases share objects. The import changes objects, so each place needs its own.
    const read = JSON.stringify(
      readBootstrap({ text, bytes: new Uint8Array(), format }, context).json,
    );
    const bootstrap = JSON.parse(read) as JsonObject;
    const blocking = otherServer(bootstrap, connection);
    if (blocking !== undefined) {
      const path = [keyOf(bootstrap, "dynamic_resources"), blocking];
      return failedImport(
        [{ file, ...findPosition(text, 0, path), ...otherServerText(blocking, movesStatic) }],
        warnings,
      );
    }
    const yaml = yamlWithComments(text, bootstrap, { isJson: format === "json" });
    const plan = planImport({
      bootstrap,
      registry: context.registry,
      yaml,
      connection,
      dynamic: [],
      movesStatic,
    });
    return { ...plan, missing: [], problems: [], warnings };
  } catch (error) {
    const problem =
      error instanceof Fault ? problemOf(error, file, "") : { file, ...fileTrouble(error) };
    return failedImport([problem], warnings);
  }
}

/** The key of another ADS server. Envoy can have only one. */
function otherServer(bootstrap: JsonObject, connection: ImportConnection): string | undefined {
  const dynamic = objectOf(bootstrap, "dynamic_resources");
  if (dynamic === undefined || valueOf(dynamic, "ads_config") === undefined) return undefined;
  return leadsTo(dynamic, textOf(connection.cluster, "name"))
    ? undefined
    : keyOf(dynamic, "ads_config");
}

function otherServerText(
  field: string,
  movesStatic: boolean,
): Pick<FolderProblem, "code" | "message" | "hint"> {
  return {
    code: "oneof-conflict",
    message: `dynamic_resources.${field}: Envoy takes its configuration from another server, and can have one only`,
    hint: movesStatic
      ? "remove dynamic_resources, or import what a running Envoy has: xdstp import config-dump"
      : "remove dynamic_resources",
  };
}
