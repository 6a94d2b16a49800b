import { fromBinary, type Registry, toBinary } from "@bufbuild/protobuf";
import { reflect, type ReflectMessage } from "@bufbuild/protobuf/reflect";
import type { Reference } from "@xdstp/core";
import { referencesOf, typeUrlOf } from "@xdstp/resource-types";
import { isSetIn, staticReferencesIn } from "./bootstrap-references.ts";
import {
  bootstrapFormat,
  encodeBootstrap,
  readBootstrap,
  staticLists,
  staticResourcesOf,
} from "./check-bootstrap.ts";
import type { NamedResource } from "./check-folder.ts";
import { visitMessages } from "./envoy-checks/visit-messages.ts";
import { type FolderContext, folderContext } from "./folder-context.ts";

/** The names in a configuration with which Envoy starts. */
export interface BootstrapNames {
  /** Its static resources, and last the bootstrap itself, which has an empty name, with what its other parts refer to. Empty where the text cannot be read. */
  readonly names: readonly NamedResource[];
  /** True if Envoy gets resources from a server too. */
  readonly isDynamic: boolean;
}

/** Reads the names of a bootstrap in YAML or JSON out of a text, again and again, for an editor. Never throws. */
export type BootstrapReader = (file: string, text: string) => BootstrapNames;

/** Makes a {@link BootstrapReader}. `registry`: the messages that bootstraps may hold, such as `envoyRegistry()` of `@xdstp/protos/envoy`. */
export function createBootstrapReader(registry: Registry): BootstrapReader {
  const context = folderContext({ dir: "", registry });
  return (file, text) => {
    try {
      return namesOf(file, messageOf(file, text, context), context);
    } catch {
      return { names: [], isDynamic: false }; // The check says what is wrong.
    }
  };
}

function messageOf(file: string, text: string, context: FolderContext): ReflectMessage {
  const source = { text, bytes: new Uint8Array(), format: bootstrapFormat(file) };
  const { json, desc } = readBootstrap(source, context);
  return reflect(desc, fromBinary(desc, encodeBootstrap(json, context)));
}

function namesOf(file: string, bootstrap: ReflectMessage, context: FolderContext): BootstrapNames {
  const fixed = staticLists.flatMap(({ type }) =>
    staticResourcesOf(bootstrap, type).map(({ name, message }): NamedResource => ({
      file,
      typeUrl: type.typeUrl,
      name,
      aliases: [],
      references: type.references?.(toBinary(message.desc, message.message)) ?? [],
    })),
  );
  const own: NamedResource = {
    file,
    typeUrl: typeUrlOf(bootstrap.desc.typeName),
    name: "",
    aliases: [],
    references: [...staticReferencesIn(bootstrap, context.registry), ...outerReferences()].map(
      ({ typeUrl, name }) => ({ typeUrl, name }),
    ),
  };
  const names = [...fixed, own];
  const hasSource = names.some(({ references }) =>
    references.some(({ source }) => source !== undefined),
  );
  return { names, isDynamic: hasSource || isSetIn(bootstrap, "dynamic_resources") };

  /** The references of the parts around the static resources, such as a stats sink. */
  function outerReferences(): readonly Reference[] {
    const visited = visitMessages(
      { message: bootstrap, path: [], above: undefined },
      context.registry,
    );
    return Array.from(visited).flatMap(({ message: { desc, message }, path: [first] }) =>
      first?.kind === "field" && first.name !== "static_resources"
        ? referencesOf(typeUrlOf(desc.typeName), toBinary(desc, message))
        : [],
    );
  }
}
