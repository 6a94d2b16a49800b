import type { Registry } from "@bufbuild/protobuf";
import { folderContext } from "../../folder-context.ts";
import { Fault } from "../../folder-problem.ts";
import { problemOf } from "../../read-file.ts";
import { failedImport, type ImportConnection, type Imported } from "../imported.ts";
import { without } from "../messages-in-json.ts";
import { planImport } from "../plan-import.ts";
import { plainYaml } from "../yaml-with-comments.ts";
import { followSources } from "./config-sources.ts";
import { dropFormerServer } from "./former-server.ts";
import { readDump } from "./read-dump.ts";
import { redactedFields } from "./redacted-fields.ts";
import { usableResources } from "./usable-resources.ts";

/** Options of {@link importConfigDump}. */
export interface ConfigDumpOptions {
  /** The answer of `/config_dump?include_eds` of the admin page of an Envoy. */
  readonly text: string;
  /** The name of the dump in problems. */
  readonly file: string;
  /** `envoyRegistry()` of `@xdstp/protos/envoy`, or one that has more. */
  readonly registry: Registry;
  /** The connection of Envoy to the server. */
  readonly connection: ImportConnection;
}

/**
 * Divides the configuration of a running Envoy: its listeners, clusters, routes, endpoints and secrets, static or from a server, become files of a folder, and the rest becomes a bootstrap that takes them from a server.
 * Private keys and passwords are redacted in a dump, so resources with them are not imported. Never rejects: the faults of the dump are in `problems`.
 */
export function importConfigDump({
  text,
  file,
  registry,
  connection,
}: ConfigDumpOptions): Imported {
  try {
    const context = folderContext({ dir: ".", registry });
    const dump = readDump(text.replace(/^\uFEFF/, ""), context.registry);
    const { bootstrap } = dump;
    const { dynamic, missing, toFill } = usableResources(dump, context.registry);
    followSources(bootstrap, dynamic, missing, context.registry);
    const notes = dropFormerServer(bootstrap, dynamic, context.registry);
    const rest = without(bootstrap, "static_resources");
    notes.push(...[...redactedFields(rest), ...toFill].map(toFillIn));
    const plan = planImport({
      bootstrap,
      registry: context.registry,
      yaml: plainYaml,
      connection,
      dynamic,
      movesStatic: true,
    });
    return { ...plan, notes: [...notes, ...plan.notes], missing, problems: [], warnings: [] };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return failedImport([problemOf(error, file, text)]);
  }
}

const toFillIn = (field: string): string =>
  `Fill in before Envoy starts with the bootstrap, since the dump does not show it: ${field}`;
