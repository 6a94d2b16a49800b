/** When what was begun in this turn is done. */
export async function turn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** When what is begun in the next turn is done, too. */
export async function settle(): Promise<void> {
  await turn();
  await turn();
}
