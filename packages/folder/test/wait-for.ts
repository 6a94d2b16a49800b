/** Waits until a condition holds, and checks it in each turn of the event loop. The time limit of the test ends it. */
export async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition())
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}
