import type { Put, ResourceType } from "@xdstp/core";
import type { FolderProblem } from "./folder-problem.ts";
import type { FileReference } from "./references-in.ts";
import type { RegistryPart } from "./registry-parts.ts";

/** What the process that parses large files has to know of the folder. */
export interface ParserSetup {
  readonly dir: string;
  readonly registry: readonly RegistryPart[];
  /** Absent: Envoy's types. Functions cannot be sent, so the references of other types are read from the payloads afterwards. */
  readonly types?: readonly Pick<ResourceType, "typeUrl" | "nameField">[];
}

/** Sent to the process. It answers each but the first with one message. */
export type ParseRequest =
  | { readonly kind: "setup"; readonly setup: ParserSetup }
  /** Reads and parses a file. Answered with a {@link ParseSummary}. */
  | { readonly kind: "parse"; readonly segments: readonly string[] }
  /** Answered with the next resources, a {@link ParsedPuts}: as many as the event loop of the receiver can process without a long pause. */
  | { readonly kind: "puts" };

/** What a file holds, without its resources. */
export interface ParseSummary {
  /** The SHA-256 of the bytes that were read, in base64. */
  readonly hash: string;
  /** The number of resources that follow. */
  readonly count: number;
  readonly problems: readonly FolderProblem[];
  readonly references: readonly FileReference[];
}

/** Some resources. */
export interface ParsedPuts {
  readonly puts: readonly Put[];
}
