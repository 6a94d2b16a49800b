/** Resolves when the work that was begun in this turn is done. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Resolves when the work that is begun in the next turn is done too. */
export async function settle(): Promise<void> {
  await turn();
  await turn();
}
