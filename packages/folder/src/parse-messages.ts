import type { Put, ResourceType } from "@xdstp/core";
import type { FolderProblem } from "./folder-problem.ts";
import type { FileReference } from "./references-in.ts";
import type { RegistryPart } from "./registry-parts.ts";

/** What a worker that parses files has to know of the folder. */
export interface ParserSetup {
  readonly dir: string;
  readonly registry: readonly RegistryPart[];
  /** Absent: Envoy's types. Functions cannot be sent, so the references of other types are read from the payloads afterwards. */
  readonly types?: readonly Pick<ResourceType, "typeUrl" | "nameField">[];
}

/** Sent to the worker. It answers each with one message. */
export type ParseRequest =
  /** Parses a file, whose bytes are transferred. Answered with a {@link ParseSummary}. */
  | { readonly kind: "parse"; readonly segments: readonly string[]; readonly bytes: Uint8Array }
  /** Answered with the next resources, a {@link ParsedPuts}: as many as the event loop of the receiver takes in a moment. */
  | { readonly kind: "puts" };

/** What a file holds, without its resources. */
export interface ParseSummary {
  /** The number of resources that follow. */
  readonly count: number;
  readonly problems: readonly FolderProblem[];
  readonly references: readonly FileReference[];
}

/** Some resources; their payloads are transferred in one buffer. */
export interface ParsedPuts {
  readonly puts: readonly Put[];
}
