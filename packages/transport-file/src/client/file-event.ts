import type { FolderProblem } from "@xdstp/folder/files";

/** An event of a {@link FileChannel}. Files have no other way to report a rejection to their author (C-FILE-3). */
export type FileEvent =
  | {
      /** A client has accepted all resources of the file. */
      readonly kind: "accepted";
      /** The path of the file. */
      readonly path: string;
      /** The type URL of the resources. */
      readonly typeUrl: string;
      /** The accepted version. */
      readonly version: string;
      /** The number of resources in the file. */
      readonly resources: number;
    }
  | {
      /** A client has rejected resources of the file; their previous state stays in force. */
      readonly kind: "rejected";
      /** The path of the file. */
      readonly path: string;
      /** The type URL of the resources. */
      readonly typeUrl: string;
      /** The rejected version. */
      readonly version: string;
      /** One line: file, line of the first rejected resource if the format has lines, and the reason of the client. */
      readonly message: string;
    }
  | {
      /** The file cannot be read, or does not hold a response; the last valid state stays in force. */
      readonly kind: "invalid";
      /** The path of the file. */
      readonly path: string;
      /** The reason, for programs. */
      readonly problem: FolderProblem;
      /** The problem as one line. */
      readonly message: string;
    }
  | {
      /** The file does not exist, from the start or since it was deleted; the last valid state stays in force (C-FILE-5). */
      readonly kind: "missing";
      /** The path of the file. */
      readonly path: string;
      /** One line for people. */
      readonly message: string;
    };
