import type { DiscoveryRequest } from "@xdstp/protos/discovery";

/**
 * The version that the polls of a client bear. A server answers 304 to its current version
 * (S-REST-3), so a client must not bear a version of which it lacks a part: a name that it has left
 * and subscribed to again, or what a response had before the client took a part of it and rejected
 * the rest. Its polls then bear none until it accepts a response (C-REST-6). Those with an error
 * bear the version, as a rejection does (S-REST-4).
 */
export interface PolledVersion {
  /**
   * Reads a request of the client.
   * @param isAnswer - true if it is the answer to a response
   */
  read(request: DiscoveryRequest, isAnswer: boolean): void;
  /** Returns a request as it is polled with. */
  apply(request: DiscoveryRequest): DiscoveryRequest;
}

/** Creates the version of a client that has sent no request. */
export function createPolledVersion(): PolledVersion {
  let names: ReadonlySet<string> = new Set();
  /** Names that were left since a response was accepted. */
  const left = new Set<string>();
  let isComplete = true;
  return {
    read({ resourceNames, errorDetail }, isAnswer) {
      const before = names;
      names = new Set(resourceNames);
      if (isAnswer) {
        isComplete = errorDetail === undefined;
        left.clear();
      }
      for (const name of before) if (!names.has(name)) left.add(name);
      if (resourceNames.some((name) => left.has(name))) isComplete = false;
    },
    apply: (request) =>
      isComplete || request.errorDetail !== undefined ? request : { ...request, versionInfo: "" },
  };
}
