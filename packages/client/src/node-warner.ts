import { nodeWarning } from "@xdstp/grpc/client";

/** Something that an operator should fix and that does not prevent work. Reported once, as the first stream begins. */
export interface ClientWarning {
  /** Tells it from other events. */
  readonly kind: "warning";
  /** `node-version`: this Node lacks security fixes for HTTP/2. */
  readonly warning: "node-version";
  /** One line with the way out. */
  readonly message: string;
}

/** What tells of known holes of a Node, when it is called for the first time. */
export function createNodeWarner(
  version: string,
  tell: (event: ClientWarning) => void,
): () => void {
  let message = nodeWarning(version);
  return () => {
    if (message === undefined) return;
    const event = { kind: "warning", warning: "node-version", message } as const;
    message = undefined;
    tell(event);
  };
}
