/** A client of REST-JSON without a library: what a script in any language does. */
export class FetchPoller {
  readonly #url: string;
  readonly #node: string;
  /** The version of the newest answer. A poll accepts it. */
  #received = "";
  #accepted = "";

  constructor(origin: string, node: string) {
    this.#url = `${origin}/v3/discovery:clusters`;
    this.#node = node;
  }

  /**
   * Polls once, which also accepts what came before. Returns the status, and the names of the
   * clusters if there are new ones.
   */
  async poll(): Promise<{ readonly status: number; readonly names?: readonly string[] }> {
    this.#accepted = this.#received;
    const response = await this.#send({});
    if (response.status !== 200) return { status: response.status };
    const { versionInfo, resources } = (await response.json()) as {
      readonly versionInfo: string;
      readonly resources: readonly { readonly name: string }[];
    };
    this.#received = versionInfo;
    return { status: 200, names: resources.map(({ name }) => name) };
  }

  /** Rejects what the last poll brought: repeats the version before it, with the reason. */
  async reject(reason: string): Promise<void> {
    await this.#send({ errorDetail: { code: 3, message: reason } });
    this.#received = this.#accepted;
  }

  async #send(more: object): Promise<Response> {
    return fetch(this.#url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ node: { id: this.#node }, versionInfo: this.#accepted, ...more }),
    });
  }
}
