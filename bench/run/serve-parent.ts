/** A question of the parent process, numbered. */
export interface Question {
  readonly id: number;
  readonly command: unknown;
}

/** The answer of a child; `error` if it failed. */
export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** The child's side: answers each question of the parent, and ends with it. */
export function serveParent(answer: (command: unknown) => Promise<unknown>): void {
  const reply = (message: Answer): void => {
    process.send?.(message);
  };
  process.on("message", ({ id, command }: Question) => {
    answer(command).then(
      (value) => {
        reply({ id, value });
      },
      (error: unknown) => {
        reply({
          id,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        });
      },
    );
  });
  process.on("disconnect", () => {
    process.exit(0);
  });
}
