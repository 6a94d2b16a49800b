/** Waits, turn by turn of the event loop, until a condition holds; the test's own deadline ends it. */
export async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition())
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
}
