import type { Registry } from "@bufbuild/protobuf";
import type { ResourceType } from "@xdstp/core";

/** What {@link readFolder} and {@link createFolderFeed} have in common. */
export interface FolderOptions {
  /** The folder. Problems name files below it as it is given here. */
  readonly dir: string;
  /** The messages that files may hold, for instance `envoyRegistry()` of `@xdstp/protos/envoy`. */
  readonly registry: Registry;
  /** Says which field of a payload holds its name. Absent: Envoy's types. A type that is not among them has no such field. */
  readonly types?: readonly ResourceType[];
  /** The authorities that are served, in this folder and next to it: a reference to an xdstp name of another one is reported (S-AUTH-10). Absent: those that the folder has. */
  readonly authorities?: readonly string[];
}
