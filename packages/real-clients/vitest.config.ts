// The helpers only; the suites with real programs are `test:real`.
export { default } from "../../vitest.shared.ts";
