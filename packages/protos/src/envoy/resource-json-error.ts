/** A step down in JSON: the key of an object or the index of a list. */
export type JsonStep = string | number;

/** Why JSON is not the resource it says it is, and where. The message begins with the path, where there is one. */
export class ResourceJsonError extends Error {
  /** Always `ResourceJsonError`. */
  override readonly name: string = "ResourceJsonError";
  /** The way to the bad value from the outermost object; empty where no single value is to blame. */
  readonly path: readonly JsonStep[];
  /** The message without the path. */
  readonly reason: string;

  constructor(path: readonly JsonStep[], reason: string, options?: ErrorOptions) {
    super(path.length === 0 ? reason : `${printed(path)}: ${reason}`, options);
    this.path = path;
    this.reason = reason;
  }
}

function printed(path: readonly JsonStep[]): string {
  const steps = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
  const shown = steps.length > 20 ? [...steps.slice(0, 10), " ... ", ...steps.slice(-5)] : steps;
  return shown.join("").replace(/^\./, "");
}
