import { expect, it } from "vitest";
import { fileOf } from "./file-of-uri.ts";

it.each([
  ["file:///a/b.yaml", false, "/a/b.yaml"],
  ["file:///a/%C3%A4%20%F0%9F%99%82%23.yaml", false, "/a/ä 🙂#.yaml"],
  ["file:///c%3A/a/b.yaml", true, "C:\\a\\b.yaml"],
  ["file:///c:/a/b.yaml", true, "C:\\a\\b.yaml"],
  ["file:///C:/a/b.yaml", true, "C:\\a\\b.yaml"],
  ["file://host/share/b.yaml", true, "\\\\host\\share\\b.yaml"],
  ["file://host/share/b.yaml", false, "file://host/share/b.yaml"],
  ["file:///a%2Fb.yaml", false, "file:///a%2Fb.yaml"],
  ["untitled:Untitled-1.yaml", false, "untitled:Untitled-1.yaml"],
])("the file of %s, on Windows: %s", (uri, windows, file) => {
  expect(fileOf(uri, windows)).toBe(file);
});
