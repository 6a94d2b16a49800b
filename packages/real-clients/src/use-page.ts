import { type Browser, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";

/** A page in a real browser. */
export interface OpenPage {
  /** Opens the page again, as a visitor who comes back so late that the browser has no stored answers. */
  reload(): Promise<void>;
  /** Returns what the page shows: the phase and the text of its `output`. */
  shown(): Promise<string>;
  /** Returns the error that the page shows; empty: none. */
  error(): Promise<string>;
  /** Closes the page, as a visitor who leaves. */
  close(): Promise<void>;
}

/** Opens a URL in Chromium for the time of the test, with a profile of its own. */
export async function usePage(command: string, url: string): Promise<OpenPage> {
  const browser: Browser = await chromium.launch({
    executablePath: command,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  onTestFinished(() => browser.close());
  const page: Page = await (await browser.newContext()).newPage();
  await page.goto(url);
  return {
    async reload() {
      const devtools = await page.context().newCDPSession(page);
      await devtools.send("Network.enable");
      await devtools.send("Network.clearBrowserCache");
      await page.reload();
    },
    async shown() {
      const output = page.locator("output");
      return `${(await output.getAttribute("data-phase")) ?? ""}: ${(await output.textContent()) ?? ""}`;
    },
    error: async () => (await page.locator("small").textContent()) ?? "",
    close: () => page.close(),
  };
}
