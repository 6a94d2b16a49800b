import { cpSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";

import { startPageServer } from "../../../examples/browser/page-server.ts";
import { describeProgram } from "../src/describe-program.ts";
import { startNginx } from "../src/http-cache.ts";
import { findProgram } from "../src/programs.ts";
import { until } from "../src/until.ts";
import { type ServeProcess, startServe } from "../src/use-cli.ts";
import { useFolder } from "../src/use-folder.ts";
import { type OpenPage, usePage } from "../src/use-page.ts";

const flags = resolve(import.meta.dirname, "../../../examples/flags");

interface World {
  /** Starts `xdstp serve --http` of the flags, on the same port each time. */
  readonly serve: (port?: number) => Promise<ServeProcess>;
  readonly edit: (percent: number) => void;
  /** Opens the page; it reads the flags from this port. */
  readonly open: (command: string, port: number) => Promise<OpenPage>;
}

async function useWorld(): Promise<World> {
  const dir = useFolder();
  cpSync(join(flags, "config"), dir, { recursive: true });
  const pages = await startPageServer();
  onTestFinished(() => pages[Symbol.asyncDispose]());
  return {
    serve: (port = 0) =>
      startServe(dir, port, [
        "--descriptors",
        join(flags, "gen/flags.binpb"),
        "--http",
        "--http-authority",
        "flags.example",
        "--http-origin",
        new URL(pages.url).origin,
      ]),
    edit(percent) {
      const file = join(dir, "flags.example/flags.v1.Flag/checkout/new-cart.yaml");
      writeFileSync(`${file}.tmp`, `"on": true\npercent: ${percent}\n`);
      renameSync(`${file}.tmp`, file);
    },
    open: (command, port) => usePage(command, `${pages.url}?server=http://127.0.0.1:${port}`),
  };
}

async function untilShown(page: OpenPage, text: string): Promise<void> {
  let seen = "";
  await until(
    `the page shows ${text}`,
    async () => (seen = await page.shown()) === text,
    () => seen,
  );
}

describeProgram("chromium", "a page with @xdstp/web", (command) => {
  it("shows a change, the last state while the server is away and the page is opened again, and the next one [C-HTTP-11] [C-HTTP-7]", async () => {
    const { serve, edit, open } = await useWorld();
    const server = await serve();
    const page = await open(command, server.port);
    await untilShown(page, "current: on for 10 %");
    const took: number[] = [];
    for (const percent of [25, 30, 35]) {
      const began = performance.now();
      edit(percent);
      await untilShown(page, `current: on for ${percent} %`);
      took.push(Math.round(performance.now() - began));
    }
    console.log(`milliseconds from an edit to the page: ${took.join(", ")}`);
    await server.stop("SIGKILL");
    await page.reload();
    await untilShown(page, "stored: on for 35 %");
    edit(50);
    await serve(server.port);
    await untilShown(page, "current: on for 50 %");
  });

  it("shows a change behind nginx, and the last state while the server is away [S-HTTP-13]", async () => {
    const nginx = findProgram("nginx");
    if (!nginx.found) throw new Error(nginx.reason);
    const { serve, edit, open } = await useWorld();
    const server = await serve();
    const cache = await startNginx(nginx.command, server.port);
    const page = await open(command, cache.port);
    await untilShown(page, "current: on for 10 %");
    edit(25);
    await untilShown(page, "current: on for 25 %");
    await server.stop("SIGKILL");
    await page.reload();
    // nginx has the last state, so the page takes it as the present one.
    await until("the page shows 25 %", async () => (await page.shown()).endsWith("on for 25 %"));
    edit(50);
    await serve(server.port);
    await untilShown(page, "current: on for 50 %");
    expect(cache.process.ended).toBeUndefined();
  });
});
